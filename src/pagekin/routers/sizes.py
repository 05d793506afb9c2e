"""What a collection takes on disk, part by part."""

from pagekin.clusters import THESAURUS_ARRAYS, TREE_ARRAYS
from pagekin.hypertext import READABLE_TEXT
from pagekin.labels import LABEL_ARRAYS
from pagekin.similarity import INDEX_ARRAYS
from pagekin.store import Kin
from pagekin.text import TEXT_ARRAYS


def parts_on_disk(kin: Kin) -> dict[str, int]:
    """Return the bytes of each part of a collection; they add up to all that it takes.

    Files that belong to no other part are counted as streams.
    """
    parts = dict.fromkeys(("streams", "text", "index", "search", "clusters"), 0)
    for name, size in kin.bytes_on_disk.items():
        parts[_part(name)] += size
    return parts


def _part(name: str) -> str:
    if name in READABLE_TEXT:
        return "text"
    if name.startswith(INDEX_ARRAYS):
        return "index"
    if name.startswith(TEXT_ARRAYS):
        return "search"
    return "clusters" if name.startswith((TREE_ARRAYS, LABEL_ARRAYS, THESAURUS_ARRAYS)) else "streams"
