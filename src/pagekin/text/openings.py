"""Openings of pages: the words of their titles, and of the paragraph that begins with these."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pagekin.hypertext import Corpus, DecodedPage
from pagekin.store import Array, ArrayFile, KinWriter, batch_ranges, map_in_order, smallest_uint
from pagekin.text.analysis import Forms, analyse
from pagekin.text.questions import IDLE

_BATCH_WORDS = 1 << 20
_AT_ONCE = 1 << 22
"""How many pairs of a form and a page are sorted at once: …"""
_PAIR_BYTES = 48
"""… and the bytes of each pair."""


def put_openings(writer: KinWriter, corpus: Corpus, forms: Forms, threads: int) -> tuple[Array, Array]:
    """Write the pages with each form in the title or the opening; return offsets by form, and pages.

    This depends on a page alone, so that it has the same score in a shard or a site of a network as in one collection of all.
    """
    width = max(len(corpus), 1)
    sizes, ends = np.zeros(len(forms), np.int64), [0]
    stored = writer.create("posting.opening_page", smallest_uint(max(len(corpus) - 1, 0)))
    with TemporaryDirectory(dir=writer.work) as folder:
        file = ArrayFile(Path(folder) / "openings", np.int64, temporary=True)
        try:
            for form, page in _read_openings(corpus, forms, threads):
                np.add.at(sizes, form, 1)
                file.append(np.sort(form * width + page))
                ends.append(file.length)
            pairs = file.mapped()
        finally:
            file.abandon()
        offsets = np.append(0, np.cumsum(sizes))
        for first, last in batch_ranges(offsets, writer.memory.items(_AT_ONCE, _PAIR_BYTES)):
            bounds = first * width, last * width
            parts = [begin + np.searchsorted(pairs[begin:end], bounds) for begin, end in pairwise(ends)]
            every = np.sort(np.concatenate([np.zeros(0, np.int64), *(pairs[low:high] for low, high in parts)]))
            stored.append((every % width).astype(stored.dtype))
    offsets = offsets.astype(smallest_uint(int(offsets[-1])))
    writer.put("posting.opening_offsets", offsets)
    return offsets, stored.mapped()


def _read_openings(corpus: Corpus, forms: Forms, threads: int) -> Iterator[tuple[Array, Array]]:
    """Yield, batch after batch, (forms, pages with them in the title or opening)."""
    from pagekin.text._kernels.openings import find_openings

    idle = np.zeros(len(forms), np.bool_)
    numbers = forms.table.find_all([form.encode() for form in analyse(sorted(IDLE))])
    numbers = numbers[numbers >= 0]
    idle[numbers if forms.same is None else forms.same[numbers]] = True

    def find(first: int, last: int) -> tuple[Array, Array]:
        streams = corpus.stream_batch(first, last)
        heads, ends = np.empty(len(streams.words), np.uint32), np.zeros(last - first, np.int64)
        count = find_openings(streams, DecodedPage.for_longest(streams), forms.of_term, idle, heads, ends)
        pages = np.repeat(np.arange(first, last), np.diff(ends, prepend=0))
        return heads[:count].astype(np.int64), pages

    for _batch, forms_and_pages in map_in_order(threads, find, batch_ranges(corpus.pages.tokens, _BATCH_WORDS)):
        yield forms_and_pages
