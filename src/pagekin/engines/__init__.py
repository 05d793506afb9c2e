"""From a build plan to a collection: read, index, put into clusters, label, commit, on this machine.

`build_collection` does all in one commit; `index_collection`, `cluster_collection` and `label_collection` make one part anew.
"""

from pagekin.engines.local import (
    BuildReport,
    build_collection,
    cluster_collection,
    index_collection,
    label_collection,
)

__all__ = ["BuildReport", "build_collection", "cluster_collection", "index_collection", "label_collection"]
