"""Check that the full-text index of a collection is whole and of this collection."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from pagekin.hypertext import Corpus
from pagekin.store import Finding, Kin, RaggedBytes
from pagekin.text.index import unfit_reason
from pagekin.text.scoring import LONGEST_NARROW, PAGES_OF_RANGE, Bounds

NAME = "the full-text index"
_STEP = 1 << 22


def check_text(kin: Kin) -> Iterator[Finding]:
    """Yield what is wrong with the full-text index; nothing if there is none."""
    facts = kin.facts.get("text")
    if not facts:
        return
    if wrong := unfit_reason(kin):
        yield Finding(NAME, f"does not fit: the collection {wrong}. Make it again: pagekin index {kin.path}")
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
    wrong_page = False
    for name, most in (("form.of_term", forms), ("posting.page", len(corpus)), ("posting.attributes", 64)):
        for start in range(0, len(kin[name]), _STEP):
            if bool(np.any(kin[name][start : start + _STEP] >= most)):
                yield Finding(name, f"refers to a number beyond the last, {most - 1:,}")
                wrong_page |= name == "posting.page"
                break
    if wrong_page:
        return
    yield from _check_order(kin)
    counted = int(np.sum(kin["posting.count"], dtype=np.int64))
    if counted != (words := int(corpus.pages.tokens[-1])):
        yield Finding("posting.count", f"counts {counted:,} words where the pages have {words:,}")
    yield from _check_bounds(kin, forms, len(corpus))
    yield from _check_places(kin, forms, corpus)


def _check_places(kin: Kin, forms: int, corpus: Corpus) -> Iterator[Finding]:
    """Yield what is wrong with the places of words; an index of an earlier version has none, and is asked without."""
    if "posting.where" not in kin:
        return
    where, offsets = kin["posting.where"], kin["posting.where_offsets"]
    if len(offsets) != forms + 1 or int(offsets[-1]) != len(where) or bool(np.any(offsets[1:] < offsets[:-1])):
        yield Finding("posting.where_offsets", "does not divide posting.where")
        return
    lengths = np.diff(np.asarray(corpus.pages.tokens, np.int64))
    at = 0
    for start in range(0, len(kin["posting.page"]), _STEP):
        entries = slice(start, start + _STEP)
        length = np.repeat(lengths[kin["posting.page"][entries]], kin["posting.count"][entries])
        wide = length > LONGEST_NARROW
        last = at + np.cumsum(1 + wide)  # beyond the last number of each place
        at = int(last[-1]) if len(last) else at
        if at > len(where):
            break
        place = where[last - 1].astype(np.int64)
        place[wide] |= where[last[wide] - 2].astype(np.int64) << 16
        if bool(np.any(place >= length)):
            yield Finding("posting.where", "names words beyond the ends of pages")
            return
    if at != len(where):
        yield Finding("posting.where", f"has {len(where):,} numbers where postings count {at:,}")


def _check_bounds(kin: Kin, forms: int, pages: int) -> Iterator[Finding]:
    """Yield what is wrong with the bounds of scores; an index of an earlier version has none, and is asked without."""
    if "posting.bound_form" not in kin:
        return
    bounded = kin["posting.bound_form"]
    if len(bounded) and (int(bounded[-1]) >= forms or bool(np.any(bounded[1:] <= bounded[:-1]))):
        yield Finding("posting.bound_form", "does not name forms in rising order")
    length = len(bounded) * -(-pages // PAGES_OF_RANGE)
    if len(kin["posting.bound_pages"]) != len(bounded):
        yield Finding("posting.bound_pages", f"has not the {len(bounded):,} entries that belong")
    for name in (f"posting.bound_{field}" for field in Bounds._fields):
        if name not in kin or len(kin[name]) != length:
            yield Finding(name, f"has not the {length:,} entries that belong")


def _check_order(kin: Kin) -> Iterator[Finding]:
    """Yield a finding if pages do not rise within a form."""
    begins = kin["posting.offsets"]
    for start in range(0, len(kin["posting.page"]), _STEP):
        pages = kin["posting.page"][start : start + _STEP + 1]
        falls = np.flatnonzero(pages[1:] < pages[:-1]) + start + 1
        if not np.all(np.isin(falls, begins)):
            yield Finding("posting.page", "falls within a form; pages only rise")
            return
