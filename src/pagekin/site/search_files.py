"""Make the files of the static search: shards of words with scores, groups of pages, a dictionary of common words.

`static/search.js` reads them and scores as docs/search.md says, from values that are rounded to 4 bits each. docs/sites.md
describes the format.
"""

import gzip
import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from pagekin.site.pages import SitePages
from pagekin.store import Array, Progress
from pagekin.text import IRREGULAR, TextIndex

FORMAT = 1
MOST_SHARDS = 192
"""Files of words, and of pages, at most."""
_SHARD_BYTES = 40_000
"""Bytes of a shard of words before packing, if that makes no more than MOST_SHARDS."""
_GROUP_PAGES = 24
"""Pages of a group at least."""
MOST_POSTINGS = 4_000
"""Pages that are listed for a word at most, those with the highest scores."""
DICTIONARY_WORDS = 20_000
_SNIPPET = 160
_BODY, _CALLED = 2.2, 12.0
"""The most that a text and a title can add to a score, in units of inverse frequency."""
_LEVELS = 15


class SearchFiles(NamedTuple):
    """The files of a site's search."""

    meta: bytes
    files: dict[str, bytes]
    """By their names below the folder that is named by the id in `meta`."""
    id: str


def make_search(pages: SitePages, index: TextIndex, progress: Progress) -> SearchFiles:
    """Return the files of the search in the pages of a site."""
    number = np.full(len(pages.corpus), -1, np.int64)
    number[pages.order] = np.arange(len(pages.order))
    entries = list(_entries(index, number, progress))
    limit = shard_bytes([len(form) + len(data) for form, data in entries])
    files: dict[str, bytes] = {}
    firsts: list[str] = []
    for shard in _cut_shards(entries, limit):
        firsts.append(shard[0][0])
        files[f"words-{len(firsts) - 1:03}.bin"] = _pack(_join_forms(shard))
    group = max(_GROUP_PAGES, -(-len(pages.order) // MOST_SHARDS))
    for place in range(0, len(pages.order), group):
        rows = [
            (pages.name(pages.file_of[page]), pages.title(page), pages.snippet(page, _SNIPPET))
            for page in pages.order[place : place + group]
        ]
        files[f"pages-{place // group:03}.bin"] = _pack(msgspec.json.encode(rows))
    files["dictionary.bin"] = _pack(_dictionary(index).encode())
    digest = hashlib.blake2b(digest_size=8)
    for name, content in files.items():
        digest.update(name.encode() + content)
    meta = {
        "format": FORMAT, "id": digest.hexdigest(), "pages": len(pages.order), "group": group, "shards": firsts,
        "irregular": IRREGULAR,
    }  # fmt: skip
    return SearchFiles(msgspec.json.encode(meta), files, digest.hexdigest())


def shard_bytes(sizes: Sequence[int]) -> int:
    """Return the greatest size of a shard, so that entries of these sizes make at most MOST_SHARDS."""
    return max(_SHARD_BYTES, -(-sum(sizes) // (MOST_SHARDS - 1)) + max(sizes, default=0))


def _pack(content: bytes) -> bytes:
    return gzip.compress(content, 9, mtime=0)


# -- words --------------------------------------------------------------------------------------------------------------


def _entries(index: TextIndex, number: Array, progress: Progress) -> Iterator[tuple[str, bytes]]:
    """Yield (form, its encoded postings) of all forms on pages with a file."""
    for place in range(len(index.forms)):
        form = index.forms.text(place)
        if data := _postings(index, form, number):
            yield form, data
        if place % 1024 == 0:
            progress("search", place / len(index.forms))
    progress("search", 1.0)


def _postings(index: TextIndex, form: str, number: Array) -> bytes:
    """Return the postings of a form: pages that hold it, pages listed, bytes of gaps, gaps, and a score byte each."""
    parts = index.parts(form)
    pages = np.union1d(parts.pages, parts.named)
    body, called = np.zeros((2, len(pages)))
    body[np.searchsorted(pages, parts.pages)] = parts.body
    called[np.searchsorted(pages, parts.named)] = parts.called
    known = number[pages] >= 0
    pages, body, called = number[pages[known]], body[known], called[known]
    held = int(np.count_nonzero(number[parts.pages] >= 0))
    if not len(pages):
        return b""
    if len(pages) > MOST_POSTINGS:
        best = np.sort(np.argsort(-(body + called), kind="stable")[:MOST_POSTINGS])
        pages, body, called = pages[best], body[best], called[best]
    levels = _level(body, _BODY) << 4 | _level(called, _CALLED)
    gaps = b"".join(map(_varint, (np.diff(pages, prepend=-1) - 1).tolist()))
    head = _varint(max(held, 1)) + _varint(len(pages)) + _varint(len(gaps))
    return head + gaps + levels.astype(np.uint8).tobytes()


def _level(values: Array, most: float) -> Array:
    """Return values as whole numbers up to _LEVELS; only 0 becomes 0."""
    levels = np.rint(values * (_LEVELS / most)).astype(np.int64)
    return np.where(values > 0, np.clip(levels, 1, _LEVELS), 0)


def _cut_shards(entries: list[tuple[str, bytes]], limit: int) -> Iterator[list[tuple[str, bytes]]]:
    """Yield runs of entries with at most this many bytes; at least one shard."""
    shard: list[tuple[str, bytes]] = []
    size = 0
    for form, data in entries:
        if shard and size + len(data) + len(form) > limit:
            yield shard
            shard, size = [], 0
        shard.append((form, data))
        size += len(data) + len(form)
    yield shard or [("", b"")]


def _join_forms(shard: list[tuple[str, bytes]]) -> bytes:
    """Return a shard: the number of forms, and of each its name, prefix-coded, and its postings."""
    if not shard[0][1]:
        return _varint(0)
    pieces, before = [_varint(len(shard))], b""
    for form, data in shard:
        name = form.encode()
        same = next(
            (i for i, (a, b) in enumerate(zip(name, before, strict=False)) if a != b), min(len(name), len(before))
        )
        pieces += [_varint(same), _varint(len(name) - same), name[same:], data]
        before = name
    return b"".join(pieces)


def _varint(value: int) -> bytes:
    """Return a number as 7-bit bytes, the lowest first; the high bit is set in all but the last."""
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _dictionary(index: TextIndex) -> str:
    """Return the words for spelling suggestions, one per line, each with a digit for its frequency.

    They are the most frequent ones; a word that stands once may be misspelt itself, so it needs a small site to be among them.
    """
    corpus = index.corpus
    counts = np.asarray(corpus.term_table.count, np.int64)
    words: list[tuple[str, int]] = []
    for term in np.argsort(-counts, kind="stable").tolist():
        word = corpus.word(term)
        if 2 < len(word) <= 24 and word.isalpha():
            words.append((word, min(9, int(counts[term]).bit_length() // 2)))
            if len(words) == DICTIONARY_WORDS:
                break
    return "\n".join(f"{word}{level}" for word, level in sorted(words))
