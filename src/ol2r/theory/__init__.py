"""Every bound, threshold and constant the papers rest on, written once: learners, bandits and audits call them here.

This room sees arrays and a random generator. It knows nothing of rankings, clicks, data sets or learners.
"""
