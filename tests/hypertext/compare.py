"""How far two readers of the same pages differ."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pagekin.hypertext import batch as b
from pagekin.hypertext import fold_case
from pagekin.hypertext.part import Reader

BITS = (1, 2, 4, 8, 16, 32)


@dataclass
class PageReading:
    """One page as plain Python values."""

    words: list[str]
    attributes: list[int]
    boundaries: list[tuple[int, int]]
    anchors: list[tuple[str, str]]
    text: bytes
    offsets: list[int]

    def attribute_words(self) -> Counter[tuple[int, str]]:
        """The multiset of (attribute, word)."""
        return Counter(
            (bit, word)
            for word, attribute in zip(self.words, self.attributes, strict=True)
            for bit in BITS
            if attribute & bit
        )


@dataclass
class Difference:
    """Differences summed over pages, the second reader being the truth."""

    words: int = 0
    words_of: int = 0
    anchors: int = 0
    anchors_of: int = 0
    worst: list[tuple[int, int]] = field(default_factory=list)

    def add(self, place: int, ours: PageReading, truth: PageReading) -> None:
        """Add one page's difference."""
        wanted, found = truth.attribute_words(), ours.attribute_words()
        words = ((wanted - found) + (found - wanted)).total()
        links, seen = Counter(truth.anchors), Counter(ours.anchors)
        self.words += words
        self.words_of += wanted.total()
        self.anchors += ((links - seen) + (seen - links)).total()
        self.anchors_of += links.total()
        if words:
            self.worst.append((words, place))

    @property
    def word_share(self) -> float:
        return self.words / max(1, self.words_of)

    @property
    def anchor_share(self) -> float:
        return self.anchors / max(1, self.anchors_of)


def read_all(reader: Reader, pages: list[bytes], at_once: int = 50) -> list[PageReading]:
    """Pages as plain values."""
    readings = []
    for start in range(0, len(pages), at_once):
        lexed = reader.lex(pages[start : start + at_once])
        names = [fold_case(word.decode()) for word in reader.word_strings()]
        hrefs = [href.decode("utf-8", "replace") for href in reader.href_strings()]
        before = np.zeros(b.ROW_SIZE, dtype=np.int64)
        for row in lexed.rows:
            coded = lexed.words[before[b.R_TOKENS] : row[b.R_TOKENS]]
            words = [names[i] for i in (coded & 0xFFFFFFFF).tolist()]
            events = lexed.events[before[b.R_EVENTS] : row[b.R_EVENTS]].tolist()
            attributes = [0] * len(words)
            changes = [(e >> 8, e & 63) for e in events if e & 255 >= b.ATTRIBUTE_EVENT]
            for (at, value), (end, _) in pairwise([*changes, (len(words), 0)]):
                attributes[at:end] = [value] * (end - at)
            anchors = [
                (hrefs[href], " ".join(words[first:last]))
                for href, first, last, _ in lexed.anchors[before[b.R_ANCHORS] : row[b.R_ANCHORS]].tolist()
            ]
            readings.append(
                PageReading(
                    words,
                    attributes,
                    [(e >> 8, e & 255) for e in events if e & 255 < b.ATTRIBUTE_EVENT],
                    anchors,
                    lexed.text[before[b.R_TEXT] : row[b.R_TEXT]].tobytes(),
                    (coded >> 32).tolist(),
                )
            )
            before = row
    return readings


def compare(ours: Reader, truth: Reader, pages: list[bytes]) -> Difference:
    """How far `ours` is from `truth` on these pages."""
    difference = Difference()
    for place, (one, other) in enumerate(zip(read_all(ours, pages), read_all(truth, pages), strict=True)):
        difference.add(place, one, other)
    return difference
