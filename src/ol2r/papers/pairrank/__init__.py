"""PairRank: online pairwise learning to rank by divide-and-conquer (Jia et al., 2021)."""
