import sys
from pathlib import Path

# the plain bandits by name, and the plain random words of the learners' reference
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "learners"))
