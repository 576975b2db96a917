"""The papers' bounds, thresholds and constants, each written once, for learners, bandits and audits.

This room sees arrays and a random generator. It knows nothing of rankings, clicks, data sets or learners.
"""
