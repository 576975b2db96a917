"""Results in, figure or table out: what a chapter shows of its results and of the verdicts on the paper's claims.

This room knows data frames and printed numbers; it must not know learners, nor compute a result.
"""
