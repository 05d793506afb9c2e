"""Cache vectors of texts, which take long to compute, in the user's cache folder under the texts' hashes."""

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.evaluation.cache import Cache
from pagekin.store import Array

Encode = Callable[[list[str]], Array]
CHUNK = 512
"""Texts whose vectors are made, and written, at a time."""


class EncodingWork(NamedTuple):
    """How much work a batch of vectors took."""

    pages: int
    seconds: float
    reads: float
    """Word pieces of a text that the encoder reads."""


class VectorStore:
    """Vectors in files of a cache, some hundred per file, with the time that they took."""

    def __init__(self, folder: Path | None) -> None:
        self._cache = Cache(folder)
        self._vectors: dict[bytes, tuple[Array, EncodingWork]] = {}
        for arrays in map(self._cache.load, self._cache.keys()):
            if arrays is not None and arrays.keys() == {"digests", "vectors", "made"}:
                self._hold(**arrays)

    def _hold(self, digests: Array, vectors: Array, made: Array) -> None:
        work = EncodingWork(*made.tolist())
        for digest, vector in zip(digests, vectors, strict=True):
            self._vectors[digest.tobytes()] = vector, work

    def find_missing(self, texts: Sequence[str]) -> list[str]:
        """Return the distinct texts without a vector, in order."""
        return [text for text in dict.fromkeys(texts) if _digest(text) not in self._vectors]

    def add(self, texts: list[str], encode: Encode, reads: int, progress: Callable[[float], None]) -> None:
        """Encode texts and store their vectors; the encoder reads only the first word pieces of each.

        They are written every few hundred, so that little is lost if it is stopped.
        """
        for first in range(0, len(texts), CHUNK):
            progress(first / len(texts))
            some = texts[first : first + CHUNK]
            started = time.perf_counter()
            vectors = encode(some)
            work = np.array(EncodingWork(len(some), time.perf_counter() - started, reads))
            digests = np.frombuffer(b"".join(map(_digest, some)), np.uint8).reshape(len(some), -1)
            arrays = {"digests": digests, "vectors": vectors, "made": work}
            self._hold(**arrays)
            self._cache.store(hashlib.sha256(digests.tobytes()).hexdigest()[:32], arrays)

    def vectors(self, texts: Sequence[str]) -> tuple[Array, dict[str, Any]]:
        """Return (the vectors of texts, facts about how they were made)."""
        vectors, works = zip(*(self._vectors[_digest(text)] for text in texts), strict=True)
        files = set(works)
        seconds = sum(one.seconds for one in files)
        return np.array(vectors, np.float32), {
            "pages_per_second": round(sum(one.pages for one in files) / seconds, 1) if seconds else None,
            "embedding_seconds": round(seconds, 1),
            "read": f"the first {min(one.reads for one in files):.0f} word pieces of a page",
        }


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
