import sys
from pathlib import Path

# the plain references and the small data set that the learners' tests share
sys.path.insert(0, str(Path(__file__).parents[1] / "learners"))
