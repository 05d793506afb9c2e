"""Find out which strategy agrees best with a human-made directory, and how sure that is (2002, sections 2 and 5).

`evaluate_strategies` judges strategies by a `Directory`, which the room `clusters` reads: Γ and Somers' D by region, with
intervals over classes, as the paper's figures and as a report. `tune_strategy` searches for a better one, `explain_source` shows
the judgement of one page, `store_evaluation` puts a summary into the collection that was judged.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
