"""Build collections: read, index, cluster, label and commit, on this machine or on Spark.

`build_collection` does all in one commit; `index_collection`, `cluster_collection` and `label_collection` renew one part;
`LeafBuilder` divides archives by host and builds a collection for each site of a network.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
