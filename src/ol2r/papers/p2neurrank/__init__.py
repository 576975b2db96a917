"""P²NeurRank: scalable exploration for neural online learning to rank with perturbed feedback (Jia and Wang, 2022)."""
