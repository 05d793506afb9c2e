"""The fast reader: batches of pages through the compiled lexer, into arrays."""

import numpy as np

from pagekin.hypertext._kernels import slots, tags
from pagekin.hypertext._kernels.lexer import lex_pages
from pagekin.hypertext.batch import ROW_SIZE, LexedBatch
from pagekin.hypertext.string_table import StringTable
from pagekin.hypertext.tables import tables
from pagekin.sources import Limits
from pagekin.store import KEY_SIZE, PROCESS_KEY, Array, RaggedBytes

_AHEAD = 64  # the kernels read so many bytes ahead, at most


class Lexer:
    """A reader of pages in batches; words and link addresses keep their numbers from batch to batch."""

    def __init__(self, limits: Limits, batch_bytes: int = 4 << 20, key: Array = PROCESS_KEY) -> None:
        self.limits = limits
        self._tables = tables()
        self.terms = StringTable(1 << 16, 1 << 20, key)
        self.hrefs = StringTable(1 << 14, 1 << 20, key)
        self._state = np.zeros(slots.STATE_SIZE, dtype=np.int64)
        self._state[slots.KEY : slots.KEY + KEY_SIZE] = key
        self._state[slots.MAX_TOKENS] = limits.tokens
        self._state[slots.MAX_ANCHORS] = limits.anchors
        self._state[slots.MAX_URL] = limits.url_bytes
        self._state[slots.MAX_WORD] = limits.word_bytes
        self._state[slots.NESTING] = min(limits.nesting, slots.NESTING_MOST)
        self._state[slots.BITS : slots.STACK] = tags.PROPERTIES.ravel()
        self._allocate(batch_bytes)

    def _allocate(self, size: int) -> None:
        """Allocate arrays for batches of `size` bytes in all."""
        self._size = size
        self._buffer = np.zeros(size + _AHEAD, dtype=np.uint8)
        self._out = slots.Output(
            np.zeros(size // 2 + 64, dtype=np.int64),
            np.zeros(size + 128, dtype=np.int64),
            np.zeros(4 * (size // 6 + 64), dtype=np.int64),
            np.zeros(2 * size + 256, dtype=np.uint8),
            np.zeros(0, dtype=np.int64),
        )

    @property
    def term_count(self) -> int:
        """Return the number of words seen so far."""
        return int(self._state[slots.NTERMS])

    @property
    def href_count(self) -> int:
        """Return the number of link addresses seen so far."""
        return int(self._state[slots.NHREFS])

    def lex(self, pages: list[bytes]) -> LexedBatch:
        """Read `pages`, each valid UTF-8."""
        # A page may need 72 bytes more than its size would say (see the room that `lex_pages` asks for).
        total = sum(map(len, pages)) + 80 * len(pages)
        if total > self._size:
            self._allocate(total)
        lengths = np.fromiter(map(len, pages), dtype=np.int64, count=len(pages))
        ends = np.cumsum(lengths)
        # Copied into memory that is in use already: new memory would cost more than the copying.
        buffer = self._buffer.data
        for page, end in zip(pages, ends.tolist(), strict=True):
            buffer[end - len(page) : end] = page
        rows = np.zeros((len(pages), ROW_SIZE), dtype=np.int64)
        out = self._out._replace(rows=rows.ravel())
        for count in (slots.NTOK, slots.NTXT, slots.NEV, slots.NAN):
            self._state[count] = 0
        largest = max(map(len, pages), default=0)
        done = 0
        while done < len(pages):
            self.terms.reserve(self.term_count, 2 * largest + 4096)
            self.hrefs.reserve(self.href_count, 2 * largest + self.limits.url_bytes + 128)
            before = done
            done = lex_pages(
                self._buffer, ends - lengths, ends, done, self._tables, self.terms.arrays(),
                self.hrefs.arrays(), self._state, out,
            )  # fmt: skip
            full = int(self._state[slots.FULL])
            if full & slots.FULL_TERMS:
                self.terms.double(self.term_count)
            if full & slots.FULL_HREFS:
                self.hrefs.double(self.href_count)
            if done == before and not full:
                raise AssertionError("the lexer ran out of room that was reserved for it")
        anchors = int(self._state[slots.NAN])
        return LexedBatch(
            rows,
            out.words[: int(self._state[slots.NTOK])],
            out.events[: int(self._state[slots.NEV])],
            out.anchors[: 4 * anchors].reshape(anchors, 4),
            out.text[: int(self._state[slots.NTXT])],
        )

    def word_strings(self) -> list[bytes]:
        """Return all words so far, by number; only ASCII letters are case-folded yet."""
        return list(self.terms.strings(self.term_count))

    def href_strings(self) -> RaggedBytes:
        """Return all link addresses so far, by number."""
        return self.hrefs.strings(self.href_count)
