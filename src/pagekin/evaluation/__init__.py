"""Directory, familial distance, Γ, experiments (2002, sections 2 and 5): which strategy is best, and how sure that is.

`load_directory` reads a human-made tree, or takes the collection's own; `evaluate_strategies` judges strategies by it:
Γ and Somers' D by region (`gamma`), with intervals over classes, as the paper's figures (`figures`) and as a report.
"""

from pagekin.evaluation.directory import Directory, DirectoryError, familial_distance, load_directory
from pagekin.evaluation.evaluate import Evaluation, evaluate_strategies, figure_strategies, read_strategies
from pagekin.evaluation.gamma import REGIONS, Agreement

__all__ = [
    "REGIONS",
    "Agreement",
    "Directory",
    "DirectoryError",
    "Evaluation",
    "evaluate_strategies",
    "familial_distance",
    "figure_strategies",
    "load_directory",
    "read_strategies",
]
