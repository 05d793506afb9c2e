"""The size of a collection on disk, part by part."""

from pagekin.clusters import THESAURUS_ARRAYS, TREE_ARRAYS
from pagekin.hypertext import READABLE_TEXT
from pagekin.labels import LABEL_ARRAYS
from pagekin.similarity import INDEX_ARRAYS
from pagekin.store import Kin
from pagekin.text import TEXT_ARRAYS

_BEGINNINGS = {
    "text": READABLE_TEXT, "index": INDEX_ARRAYS, "search": TEXT_ARRAYS,
    "clusters": (TREE_ARRAYS, LABEL_ARRAYS, THESAURUS_ARRAYS),
}  # fmt: skip
"""How the names of each part's arrays begin."""


def parts_on_disk(*kins: Kin) -> dict[str, int]:
    """Return the bytes of each part of a collection, or of all its shards; they add up to all that it takes.

    Files that belong to no other part are counted as streams.
    """
    parts = dict.fromkeys(("streams", *_BEGINNINGS), 0)
    for name, size in (pair for kin in kins for pair in kin.bytes_on_disk.items()):
        parts[next((part for part, begins in _BEGINNINGS.items() if name.startswith(begins)), "streams")] += size
    return parts
