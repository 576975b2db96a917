"""The kinds of cells: what an experiment can compute, one module a kind."""
