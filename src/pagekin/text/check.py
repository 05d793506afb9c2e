"""Proof that the full-text index of a collection is whole and of this collection."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from pagekin.hypertext import Corpus
from pagekin.store import Finding, Kin, KinError, RaggedBytes
from pagekin.text.index import FOLDER, TextIndex, unfit_reason

_STEP = 1 << 22


def check_text(kin: Kin) -> Iterator[Finding]:
    """What is wrong with the full-text index; nothing if there is none."""
    facts = kin.facts.get("text")
    if not facts:
        return
    if wrong := unfit_reason(kin):
        yield Finding(FOLDER, f"does not fit: the collection {wrong}. Make it again: pagekin index {kin.path}")
        return
    corpus = Corpus(kin)
    forms, entries = int(facts["forms"]), int(facts["postings"])
    for name, length in (
        ("form.offsets", forms + 1), ("form.of_term", len(corpus.terms)), ("posting.offsets", forms + 1),
        ("posting.page", entries), ("posting.attributes", entries), ("posting.count", entries),
    ):  # fmt: skip
        if name not in kin or len(kin[name]) != length:
            yield Finding(name, f"has not the {length:,} entries that belong")
            return
    for offsets, data in (("form.offsets", "form.bytes"), ("posting.offsets", "posting.page")):
        bounds = kin[offsets]
        if int(bounds[0]) != 0 or int(bounds[-1]) != len(kin[data]) or bool(np.any(bounds[1:] < bounds[:-1])):
            yield Finding(offsets, f"does not divide {data}")
            return
    names = list(RaggedBytes.of(kin, "form"))
    if any(first >= second for first, second in pairwise(names)):
        yield Finding("form.bytes", "is not in order, so forms cannot be found in it")
    for name, most in (("form.of_term", forms), ("posting.page", len(corpus)), ("posting.attributes", 64)):
        for start in range(0, len(kin[name]), _STEP):
            if bool(np.any(kin[name][start : start + _STEP] >= most)):
                yield Finding(name, f"refers to a number beyond the last, {most - 1:,}")
                break
    yield from _check_order(kin)
    counted = int(np.sum(kin["posting.count"], dtype=np.int64))
    if counted != len(corpus.streams.words):
        yield Finding("posting.count", f"counts {counted:,} words where the pages have {len(corpus.streams.words):,}")
    try:
        documents = TextIndex.open(corpus).documents
    except KinError as error:
        yield Finding(FOLDER, str(error))
        return
    if documents != len(corpus):
        yield Finding(FOLDER, f"holds {documents:,} pages where the collection has {len(corpus):,}")


def _check_order(kin: Kin) -> Iterator[Finding]:
    """Within a form, pages rise."""
    begins = kin["posting.offsets"]
    for start in range(0, len(kin["posting.page"]), _STEP):
        pages = kin["posting.page"][start : start + _STEP + 1]
        falls = np.flatnonzero(pages[1:] < pages[:-1]) + start + 1
        if not np.all(np.isin(falls, begins)):
            yield Finding("posting.page", "falls within a form; pages only rise")
            return
