"""P²NeurRank and P²LinRank: scalable exploration for neural online learning to rank (Jia and Wang, 2022)."""
