"""Content-link similarities, clusters, hierarchies (hypursuit-1996), and a default that serves people better.

`make` puts a collection's pages into clusters, a `Tree` beside others; `terms`, `links` and
`complete` are the paper's method, `neighbour_graph` and `communities` the default, `agreement` compares with a human
classification.
"""

from pagekin.clusters.hierarchy import Described, Tree, read_trees

__all__ = ["Described", "Tree", "read_trees"]
