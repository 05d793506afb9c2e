"""From a build plan to a collection: read, index, cluster, label, commit, on this machine.

`build_collection` does all in one commit; `index_collection`, `cluster_collection` and `label_collection` renew one part;
`init_network` builds a collection for each site of an archive, and the network file.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
