"""Content labels by the three abstraction functions (hypursuit-1996).

`build` makes the label of a collection within budgets, `model` is its form and checks what comes from outside,
`membership` its filters over all terms, `sexpr` the form of the paper's Figure 5.
"""

from pagekin.labels.model import ContentLabel, LabelError, LabelLimits, SubCluster, from_json, to_json

__all__ = ["ContentLabel", "LabelError", "LabelLimits", "SubCluster", "from_json", "to_json"]
