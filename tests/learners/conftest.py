import sys
from pathlib import Path

# the plain references and the small data set, by the names that every test uses
sys.path.insert(0, str(Path(__file__).parent))
