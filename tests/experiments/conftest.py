import sys
from pathlib import Path

# worker processes import the fake cells by name, from this same path
sys.path.insert(0, str(Path(__file__).parent))
