"""The fast reader: batches of pages through the compiled lexer, into arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.hypertext._kernels import slots
from pagekin.hypertext._kernels.intern import refill
from pagekin.hypertext._kernels.lexer import lex_pages
from pagekin.hypertext._kernels.tree import FORMATTING
from pagekin.hypertext.tables import tables
from pagekin.sources import Limits

Array = npt.NDArray[Any]


class StringTable:
    """Byte strings numbered in order of arrival, in arrays that the kernels share."""

    def __init__(self, strings: int, size: int) -> None:
        self.slots = np.full(_power_of_two(2 * strings), -1, dtype=np.int32)
        self.digests = np.zeros(strings + 1, dtype=np.uint64)
        self.offsets = np.zeros(strings + 2, dtype=np.int64)
        self.arena = np.zeros(size, dtype=np.uint8)

    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """(slots, digests, offsets, arena), as the kernels take them."""
        return self.slots, self.digests, self.offsets, self.arena

    def reserve(self, count: int, more: int, more_bytes: int) -> None:
        """Make room for `more` strings of `more_bytes` in all beside the `count` there are."""
        strings = count + more
        if strings + 1 > len(self.digests):
            grown = max(strings + 1, 2 * len(self.digests))
            self.digests = np.concatenate([self.digests, np.zeros(grown - len(self.digests), dtype=np.uint64)])
            self.offsets = np.concatenate([self.offsets, np.zeros(grown + 1 - len(self.offsets), dtype=np.int64)])
        if 2 * strings > len(self.slots):
            self.slots = np.full(_power_of_two(2 * strings), -1, dtype=np.int32)
            refill(self.slots, self.digests, count)
        size = int(self.offsets[count]) + more_bytes
        if size > len(self.arena):
            size = max(size, 2 * len(self.arena))
            self.arena = np.concatenate([self.arena, np.zeros(size - len(self.arena), dtype=np.uint8)])

    def strings(self, count: int) -> list[bytes]:
        """All `count` strings."""
        data = self.arena[: int(self.offsets[count])].tobytes()
        bounds = self.offsets[: count + 1].tolist()
        return [data[a:b] for a, b in zip(bounds, bounds[1:], strict=False)]


def _power_of_two(least: int) -> int:
    return 1 << max(10, (least - 1).bit_length())


@dataclass(frozen=True, slots=True)
class LexedBatch:
    """What the lexer found in a batch of pages; the arrays are views, valid until the next batch.

    `rows[i]` ends page i's share of each array (`slots.R_*`); words and addresses are numbers of the lexer's tables.
    """

    rows: Array
    tokens: Array
    token_at: Array
    event_at: Array
    event_kind: Array
    anchor_href: Array
    anchor_start: Array
    anchor_end: Array
    anchor_flags: Array
    text: Array


class Lexer:
    """Reads pages in batches; words and link addresses are numbered across all batches of one lexer."""

    def __init__(self, limits: Limits, batch_bytes: int = 4 << 20) -> None:
        self.limits = limits
        self._tables = tables()
        self.terms = StringTable(1 << 16, 1 << 20)
        self.hrefs = StringTable(1 << 14, 1 << 20)
        self._state = np.zeros(slots.STATE_SIZE, dtype=np.int64)
        self._state[slots.MAX_TOKENS] = limits.tokens
        self._state[slots.MAX_ANCHORS] = limits.anchors
        self._state[slots.MAX_URL] = limits.url_bytes
        self._state[slots.MAX_WORD] = limits.word_bytes
        self._stack = np.zeros(limits.nesting, dtype=np.int64)
        self._links = np.zeros(limits.nesting, dtype=np.int64)
        self._formatting = np.zeros((FORMATTING, 3), dtype=np.int64)
        self._found = np.zeros(slots.ATTRIBUTES_SIZE, dtype=np.int64)
        self._word = np.zeros(limits.word_bytes + 16, dtype=np.uint8)
        self._scratch = np.zeros(limits.url_bytes + 16, dtype=np.uint8)
        self._allocate(batch_bytes)

    def _allocate(self, size: int) -> None:
        """Arrays for batches of `size` bytes in all."""
        tokens = size // 2 + 64
        events = size + 128
        anchors = size // 6 + 64
        self._size = size
        self._out = (
            np.zeros(tokens, dtype=np.int32),
            np.zeros(tokens, dtype=np.uint32),
            np.zeros(events, dtype=np.uint32),
            np.zeros(events, dtype=np.uint8),
            np.zeros(anchors, dtype=np.int32),
            np.zeros(anchors, dtype=np.int32),
            np.zeros(anchors, dtype=np.int32),
            np.zeros(anchors, dtype=np.uint8),
            np.zeros(2 * size + 256, dtype=np.uint8),
        )

    @property
    def term_count(self) -> int:
        """Words known so far."""
        return int(self._state[slots.NTERMS])

    @property
    def href_count(self) -> int:
        """Link addresses known so far."""
        return int(self._state[slots.NHREFS])

    def lex(self, pages: list[bytes]) -> LexedBatch:
        """Read `pages`, each valid UTF-8."""
        # A page may need 72 bytes more than its size would say (see the room that `lex_pages` asks for).
        total = sum(map(len, pages)) + 80 * len(pages)
        if total > self._size:
            self._allocate(total)
        self.terms.reserve(self.term_count, total // 2 + 16, 2 * total + 512)
        self.hrefs.reserve(self.href_count, total // 6 + 16, 2 * total + 512)
        buffer = np.frombuffer(b"".join(pages) + b"\0\0\0\0", dtype=np.uint8)
        lengths = np.fromiter(map(len, pages), dtype=np.int64, count=len(pages))
        ends = np.cumsum(lengths)
        rows = np.zeros((len(pages), slots.ROW_SIZE), dtype=np.int64)
        room = np.zeros(2, dtype=np.int64)
        self._state[slots.NEV] = 0
        self._state[slots.NAN] = 0
        done = lex_pages(
            buffer, ends - lengths, ends, 0, self._tables, self.terms.arrays(), self.hrefs.arrays(), self._state,
            self._out, rows, self._stack, self._links, self._formatting, self._found, self._word, self._scratch, room,
        )  # fmt: skip
        if done != len(pages):
            raise AssertionError("the lexer ran out of room that was reserved for it")
        tokens, events, anchors = int(room[0]), int(self._state[slots.NEV]), int(self._state[slots.NAN])
        out = self._out
        return LexedBatch(
            rows, out[0][:tokens], out[1][:tokens], out[2][:events], out[3][:events], out[4][:anchors],
            out[5][:anchors], out[6][:anchors], out[7][:anchors], out[8][: int(room[1])],
        )  # fmt: skip
