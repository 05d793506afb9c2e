"""Content labels by the three abstraction functions (hypursuit-1996).

`leaf_label` makes the label of a collection within a `LabelBudget`, `router_label` that of a router from its children's.
`label_from_json` checks what comes from outside, `TermFilter` says whether a term may occur, `label_parts` divides a label into
what refinement, routing and browsing need, `put_label` and `read_label` store it in a collection, `label_to_sexpr` shows it in
the form of the paper's Figure 5.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
