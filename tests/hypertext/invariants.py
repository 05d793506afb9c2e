"""What holds for every batch that a reader makes, whatever the pages are: asserted here while a batch is unpacked."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pagekin.hypertext import AnchorKind, Attribute, Boundary, CharClass, PageFlag, char_class, fold_case
from pagekin.hypertext import batch as slots
from pagekin.hypertext.batch import ATTRIBUTE_EVENT, LexedBatch
from pagekin.sources import Limits

_RISING = (slots.R_TOKENS, slots.R_EVENTS, slots.R_ANCHORS, slots.R_TEXT)
_ALL_FLAGS = sum(PageFlag)
_ALL_ATTRIBUTES = sum(Attribute)


@dataclass(frozen=True)
class PageRead:
    """One page of a batch, in words instead of numbers."""

    words: list[str]
    attributes: list[int]
    boundaries: list[tuple[int, int]]
    anchors: list[tuple[str, int, int, int]]
    text: str
    flags: int

    def attributed(self) -> Counter[tuple[int, str]]:
        """The (attribute, word) multiset: a word counts once for each attribute that it has."""
        return Counter(
            (bit, word)
            for word, attributes in zip(self.words, self.attributes, strict=True)
            for bit in Attribute
            if attributes & bit
        )


def difference(one: PageRead, other: PageRead) -> int:
    """How many members of the two (attribute, word) multisets have no match."""
    a, b = one.attributed(), other.attributed()
    return (a - b).total() + (b - a).total()


def read_all(reader: Any, pages: list[bytes]) -> list[PageRead]:
    """What `reader` makes of `pages`; fails where the batch breaks a promise of `LexedBatch`."""
    batch = reader.lex(pages)
    assert len(batch.rows) == len(pages)
    assert batch.rows[:, _RISING].tolist() == sorted(batch.rows[:, _RISING].tolist())
    ends = batch.rows[-1, _RISING].tolist() if pages else [0] * 4
    assert ends == [len(batch.words), len(batch.events), len(batch.anchors), len(batch.text)]
    words = reader.word_strings()
    hrefs = reader.href_strings()
    begin = [0] * 4
    found = []
    for html, row in zip(pages, batch.rows.tolist(), strict=True):
        end = [row[slot] for slot in _RISING]
        assert all(a <= b for a, b in zip(begin, end, strict=True))
        found.append(_page(html, row, batch, begin, end, words, hrefs, reader.limits))
        begin = end
    return found


def _page(
    html: bytes, row: list[int], batch: LexedBatch, begin: list[int], end: list[int],
    words: list[bytes], hrefs: list[bytes], limits: Limits,
) -> PageRead:  # fmt: skip
    raw = batch.text[begin[3] : end[3]].tobytes()
    text = raw.decode("utf-8")
    numbers = batch.words[begin[0] : end[0]].tolist()
    offsets = [number >> 32 for number in numbers]
    stream = [words[number & 0xFFFFFFFF] for number in numbers]
    assert len(stream) <= limits.tokens
    assert all(a < b for a, b in pairwise(offsets)), "word offsets rise"
    assert all(0 <= at < len(raw) for at in offsets), "words lie in the text"
    folded = [fold_case(word.decode("utf-8")) for word in stream]
    for word, at in zip(folded, offsets, strict=True):
        assert word in _own_texts(raw, at, limits.word_bytes), (word, raw[at : at + 40])
    boundaries, attributes = _events(batch.events[begin[1] : end[1]].tolist(), len(stream))
    anchors = batch.anchors[begin[2] : end[2]].tolist()
    assert len(anchors) <= limits.anchors
    for href, start, stop, flags in anchors:
        assert 0 <= start <= stop <= len(stream), "anchors span words of their page"
        assert 0 <= href < len(hrefs)
        assert len(hrefs[href]) <= limits.url_bytes
        hrefs[href].decode("utf-8")
        assert flags >> 1 & 7 in list(AnchorKind)
        assert flags < 32
    _about(html, row, raw, len(hrefs))
    return PageRead(
        folded, attributes, boundaries,
        [(hrefs[href].decode(), start, stop, flags) for href, start, stop, flags in anchors],
        text, row[slots.R_FLAGS],
    )  # fmt: skip


def _own_texts(raw: bytes, at: int, most: int) -> set[str]:
    """The words that may be meant by the text at an offset: the run of letters there, or one or two of a pair."""
    window = raw[at : at + 4 * most].decode("utf-8", "ignore")
    if char_class(window[0]) is CharClass.PAIR:
        return {fold_case(window[0]), fold_case(window[:2])}
    length = 1
    while length < len(window) and char_class(window[length]) in (CharClass.WORD, CharClass.MARK):
        length += 1
    assert char_class(window[0]) is CharClass.WORD
    return {fold_case(window[:length].encode()[:most].decode("utf-8", "ignore"))}


def _events(events: list[int], count: int) -> tuple[list[tuple[int, int]], list[int]]:
    """(boundaries, the attributes of each word)."""
    positions = [event >> 8 for event in events]
    assert positions == sorted(positions), "event positions rise"
    assert all(0 <= position <= count for position in positions)
    boundaries = []
    changes = []
    for event in events:
        kind = event & 255
        if kind >= ATTRIBUTE_EVENT:
            assert event >> 8 < count, "attributes are those of a word"
            assert 0 < kind - ATTRIBUTE_EVENT <= _ALL_ATTRIBUTES
            changes.append((event >> 8, kind - ATTRIBUTE_EVENT))
        else:
            assert kind in list(Boundary)
            boundaries.append((event >> 8, kind))
    assert len(set(boundaries)) == len(boundaries), "a boundary is noted once"
    assert not count or (changes and changes[0][0] == 0)
    assert all(a[0] < b[0] and a[1] != b[1] for a, b in pairwise(changes))
    attributes = []
    for (start, kind), (stop, _) in zip(changes, [*changes[1:], (count, 0)], strict=False):
        attributes += [kind] * (stop - start)
    return boundaries, attributes


def _about(html: bytes, row: list[int], raw: bytes, hrefs: int) -> None:
    """Check what a row says of its page as a whole."""
    title = row[slots.R_TITLE0], row[slots.R_TITLE1]
    assert title == (-1, -1) or 0 <= title[0] <= title[1] <= len(raw)
    raw[max(0, title[0]) : max(0, title[1])].decode("utf-8")
    assert -1 <= row[slots.R_BODY] <= len(raw)
    raw[max(0, row[slots.R_BODY]) :].decode("utf-8")
    language = row[slots.R_LANG0], row[slots.R_LANG1]
    assert language == (-1, -1) or 0 <= language[0] <= language[1] <= len(html)
    assert -1 <= row[slots.R_BASE] < hrefs
    assert -1 <= row[slots.R_CANONICAL] < hrefs
    assert row[slots.R_FLAGS] & ~_ALL_FLAGS == 0
    assert row[slots.R_DROPPED] >= 0
