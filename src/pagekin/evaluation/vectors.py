"""Vectors of texts that take long to make, kept in the user's cache folder under the texts' hashes."""

import contextlib
import hashlib
import json
import os
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.store import Array

Encode = Callable[[list[str]], Array]
CHUNK = 512
"""Texts whose vectors are made, and written, at a time."""


class VectorStore:
    """Vectors in a folder of files that are written once, each with the time that its vectors took."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._vectors: dict[bytes, Array] = {}
        self._made: dict[bytes, dict[str, Any]] = {}
        for file in sorted(folder.glob("*.npz")) if folder.is_dir() else []:
            try:
                with np.load(file, allow_pickle=False) as held:
                    self._hold(held["digests"], held["vectors"], json.loads(str(held["facts"])))
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
                continue  # a damaged file is as good as none

    def _hold(self, digests: Array, vectors: Array, facts: dict[str, Any]) -> None:
        for digest, vector in zip(digests, vectors, strict=True):
            self._vectors[digest.tobytes()] = vector
            self._made[digest.tobytes()] = facts

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Return the texts without a vector, each once, in order."""
        return [text for text in dict.fromkeys(texts) if _digest(text) not in self._vectors]

    def add(self, texts: list[str], encode: Encode, reads: int, progress: Callable[[float], None]) -> None:
        """Encode texts, of which the encoder reads the first so many word pieces, and store their vectors.

        They are written every few hundred, so that little is lost if it is stopped.
        """
        for first in range(0, len(texts), CHUNK):
            progress(first / len(texts))
            some = texts[first : first + CHUNK]
            started = time.perf_counter()
            vectors = encode(some)
            facts = {"pages": len(some), "seconds": time.perf_counter() - started, "reads": reads}
            digests = np.frombuffer(b"".join(map(_digest, some)), np.uint8).reshape(len(some), -1)
            self._hold(digests, vectors, facts)
            with contextlib.suppress(OSError):  # what cannot be kept is of use all the same
                self._write(digests, vectors, facts)

    def _write(self, digests: Array, vectors: Array, facts: dict[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(digests.tobytes()).hexdigest()[:32]
        unfinished = self._folder / f"{name}.{os.getpid()}.part"
        try:
            with unfinished.open("wb") as file:
                np.savez(file, digests=digests, vectors=vectors, facts=np.array(json.dumps(facts)))
            unfinished.replace(self._folder / f"{name}.npz")
        finally:
            unfinished.unlink(missing_ok=True)

    def vectors(self, texts: Sequence[str]) -> tuple[Array, dict[str, Any]]:
        """Return (vectors of texts, texts per second when they were made)."""
        digests = [_digest(text) for text in texts]
        files = {id(self._made[digest]): self._made[digest] for digest in digests}.values()
        seconds = sum(facts["seconds"] for facts in files)
        return np.array([self._vectors[digest] for digest in digests], np.float32), {
            "pages_per_second": round(sum(facts["pages"] for facts in files) / seconds, 1) if seconds else None,
            "embedding_seconds": round(seconds, 1),
            "read": f"the first {min(facts['reads'] for facts in files)} word pieces of a page",
        }


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
