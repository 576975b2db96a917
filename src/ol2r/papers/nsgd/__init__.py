"""Efficient exploration of gradient space for online learning to rank (Wang et al., 2018): NSGD."""
