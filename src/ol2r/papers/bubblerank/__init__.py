"""BubbleRank: safe online learning to re-rank via implicit click feedback (Li et al., 2019)."""
