"""Online learning to rank: five papers, made to run."""

__version__ = "0.1.0"
