"""Content-link similarities, clusters and hierarchies (hypursuit-1996), and a default method that agrees better with people.

`make_trees` puts a collection's pages into clusters, `Tree` is one hierarchy of them, `read_trees` reads those of a collection;
`count_terms`, `link_similarity` and `complete_link` are the paper's method, `cluster_pages` the default. `Directory` is a
hierarchy made by people, which `compare_methods` and the evaluation compare with. `PageThesaurus` suggests
terms.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
