"""From a build plan to a collection: read, index, commit, on this machine.

`build_collection` reads sources and indexes them in one commit; `index_collection` indexes what has been read.
"""

from pagekin.engines.local import BuildReport, build_collection, index_collection

__all__ = ["BuildReport", "build_collection", "index_collection"]
