"""Rankers trained on true labels, which online learners are compared with and never see."""

from ol2r.offline.lambdarank import fit_lambdarank, lambda_gradient, mean_ndcg

__all__ = ["fit_lambdarank", "lambda_gradient", "mean_ndcg"]
