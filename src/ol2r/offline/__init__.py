"""Rankers trained on true labels, which online learners are compared with and never see."""

from ol2r.offline.labelled import LabelledQueries, mean_ndcg
from ol2r.offline.lambdarank import fit_lambdarank, lambda_gradient
from ol2r.offline.ranknet import fit_ranknet, ranknet_loss

__all__ = ["LabelledQueries", "fit_lambdarank", "fit_ranknet", "lambda_gradient", "mean_ndcg", "ranknet_loss"]
