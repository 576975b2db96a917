"""What the experiments of all papers share: cells and their kinds, runner and store, provenance, claims and verdicts.

This room must not know any paper.
"""
