"""Content labels by the three abstraction functions (hypursuit-1996).

`build` makes the label of a collection within budgets and `merge` that of a router from its children's, both by `fitting`;
`model` is its form and checks what comes from outside, `membership` its filters over all terms, `parts` what travels and
when, `keep` what a collection publishes, `sexpr` the form of the paper's Figure 5.
"""

from pagekin.labels.fitting import Budget
from pagekin.labels.model import Added, ContentLabel, LabelError, LabelLimits, SubCluster, from_json, to_json

__all__ = ["Added", "Budget", "ContentLabel", "LabelError", "LabelLimits", "SubCluster", "from_json", "to_json"]
