"""What a collection takes on disk, part by part."""

from pagekin.clusters.hierarchy import ARRAYS as TREES
from pagekin.clusters.thesaurus import ARRAYS as THESAURUS
from pagekin.hypertext import READABLE_TEXT
from pagekin.labels.keep import ARRAYS as LABEL
from pagekin.similarity.check import ARRAYS as INDEX
from pagekin.store import Kin
from pagekin.text import ARRAYS as SEARCH


def parts_on_disk(kin: Kin) -> dict[str, int]:
    """The bytes of each part of a collection; together all that it takes: what is of no other part is of the streams."""
    parts = dict.fromkeys(("streams", "text", "index", "search", "clusters"), 0)
    for name, size in kin.bytes_on_disk.items():
        parts[_part(name)] += size
    return parts


def _part(name: str) -> str:
    if name in READABLE_TEXT:
        return "text"
    if name.startswith(INDEX):
        return "index"
    if name.startswith(SEARCH):
        return "search"
    return "clusters" if name.startswith((TREES, LABEL, THESAURUS)) else "streams"
