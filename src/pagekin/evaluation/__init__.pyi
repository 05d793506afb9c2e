"""What other rooms may import of this one; each name is loaded when it is first used."""

from .baselines import BASELINES
from .compare import LEAST_EFFECT, Gain, Verdict, explain_overall, finite_or_none, summarise_comparisons
from .evaluate import Evaluation, directory_pages, evaluate_strategies, without_own_pages
from .experiments import Bench, Experiment, make_bench
from .fit import SignalTuning, tune_kin
from .gamma import REGIONS, Agreement
from .hidden import tune_see_also
from .keep import store_evaluation, summarise_evaluation, summarise_tuning
from .source import (
    SourceAgreement,
    SourceExplanation,
    SourceJudgement,
    SourcePageError,
    classes_of_document,
    default_strategies,
    distinct_strategies,
    explain_source,
    find_source,
    path_text,
    relation_name,
)
from .strategies import GivenStrategies, as_strategies, figure_strategies, own_strategies, read_strategies
from .tune import Tuning, tune_strategy

__all__ = [
    "BASELINES",
    "LEAST_EFFECT",
    "REGIONS",
    "Agreement",
    "Bench",
    "Evaluation",
    "Experiment",
    "Gain",
    "GivenStrategies",
    "SignalTuning",
    "SourceAgreement",
    "SourceExplanation",
    "SourceJudgement",
    "SourcePageError",
    "Tuning",
    "Verdict",
    "as_strategies",
    "classes_of_document",
    "default_strategies",
    "directory_pages",
    "distinct_strategies",
    "evaluate_strategies",
    "explain_overall",
    "explain_source",
    "figure_strategies",
    "find_source",
    "finite_or_none",
    "make_bench",
    "own_strategies",
    "path_text",
    "read_strategies",
    "relation_name",
    "store_evaluation",
    "summarise_comparisons",
    "summarise_evaluation",
    "summarise_tuning",
    "tune_kin",
    "tune_see_also",
    "tune_strategy",
    "without_own_pages",
]
