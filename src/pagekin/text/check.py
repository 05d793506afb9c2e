"""Check that the full-text index of a collection is complete and belongs to it."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from pagekin.hypertext import Corpus
from pagekin.store import Finding, Kin, RaggedBytes, check_shapes
from pagekin.text.fitness import unfit_reason
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
    wrong_shapes = list(_check_shapes(kin, corpus))
    yield from wrong_shapes
    if wrong_shapes:
        return
    if any(first >= second for first, second in pairwise(RaggedBytes.of(kin, "form"))):
        yield Finding("form.bytes", "is not in order, so forms cannot be found in it")
    yield from _check_order(kin)
    counted = int(np.sum(kin["posting.count"], dtype=np.int64))
    if counted != (words := int(corpus.pages.tokens[-1])):
        yield Finding("posting.count", f"counts {counted:,} words where the pages have {words:,}")
    if "posting.where" in kin:
        yield from _check_places(kin, corpus)


def _check_shapes(kin: Kin, corpus: Corpus) -> Iterator[Finding]:
    """Yield a message for every wrong length, order or reference; earlier versions lack positions, bounds and openings."""
    facts = kin.facts["text"]
    forms, entries = int(facts["forms"]), int(facts["postings"])
    lengths = {"form.offsets": forms + 1, "form.of_term": len(corpus.terms), "posting.offsets": forms + 1}
    lengths |= dict.fromkeys(("posting.page", "posting.attributes", "posting.count"), entries)
    ends = {"form.offsets": len(kin["form.bytes"]), "posting.offsets": entries}
    limits = {"form.of_term": forms, "posting.page": len(corpus), "posting.attributes": 64}
    if "form.same" in kin:
        lengths["form.same"] = forms
        limits["form.same"] = forms
    rising = []
    links = lengths["posting.called_page"] = len(kin["posting.called"])
    lengths["posting.called_offsets"] = forms + 1
    ends["posting.called_offsets"] = links
    limits["posting.called_page"] = len(corpus)
    if "posting.opening_page" in kin:
        lengths["posting.opening_offsets"] = forms + 1
        ends["posting.opening_offsets"] = len(kin["posting.opening_page"])
        limits["posting.opening_page"] = len(corpus)
    if "posting.where" in kin:
        lengths["posting.where_offsets"] = forms + 1
        ends["posting.where_offsets"] = len(kin["posting.where"])
    if "posting.bound_form" in kin:
        rows = lengths["posting.bound_pages"] = len(kin["posting.bound_form"])
        ranges = -(-len(corpus) // PAGES_OF_RANGE)
        lengths |= {f"posting.bound_{field}": rows * ranges for field in Bounds._fields}
        limits["posting.bound_form"] = forms
        rising.append("posting.bound_form")
    yield from check_shapes(kin, "full-text index", lengths, ends, limits, rising)


def _check_places(kin: Kin, corpus: Corpus) -> Iterator[Finding]:
    """Yield what is wrong with the positions of words."""
    where = kin["posting.where"]
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


def _check_order(kin: Kin) -> Iterator[Finding]:
    """Yield a message if pages are not ascending within a form."""
    begins = kin["posting.offsets"]
    for start in range(0, len(kin["posting.page"]), _STEP):
        pages = kin["posting.page"][start : start + _STEP + 1]
        falls = np.flatnonzero(pages[1:] < pages[:-1]) + start + 1
        if not np.all(np.isin(falls, begins)):
            yield Finding("posting.page", "falls within a form; pages only rise")
            return
