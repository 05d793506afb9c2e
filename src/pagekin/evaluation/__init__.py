"""Directory, familial distance, Γ, experiments (2002, sections 2 and 5): which strategy is best, and how sure that is.

`evaluate_strategies` judges strategies by a `Directory`, which the room `clusters` reads:
Γ and Somers' D by region (`gamma`), with intervals over classes, as the paper's figures (`figures`) and as a report.
"""

from pagekin.evaluation.evaluate import Evaluation, evaluate_strategies, figure_strategies, read_strategies
from pagekin.evaluation.gamma import REGIONS, Agreement

__all__ = [
    "REGIONS",
    "Agreement",
    "Evaluation",
    "evaluate_strategies",
    "figure_strategies",
    "read_strategies",
]
