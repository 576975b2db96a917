"""olRankNet: learning neural ranking models online from implicit user feedback (Jia and Wang, 2022)."""
