"""Turns results and verdicts into the figures, tables and strips that chapters show.

This room knows data frames and printed numbers; it must not know learners, nor compute a result.
"""
