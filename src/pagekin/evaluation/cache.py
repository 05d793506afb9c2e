"""Cache judgements between runs, under a key made of everything that they depend on."""

import hashlib
import io
import json
import os
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

import pagekin
from pagekin.bags import BagWorkshop, Strategy
from pagekin.evaluation.experiments import Bench, Experiment, Judgement, make_judgement
from pagekin.evaluation.gamma import PairCounts
from pagekin.hypertext import CORPUS_ARRAYS, Corpus
from pagekin.store import Array

FORMAT = 1
"""Of the files. What is in them follows from the sources of the judge, which are part of every key."""
MOST_BYTES = 500_000_000


def cache_folder(kind: str = "evaluations") -> Path | None:
    """Return this user's cache folder; None if there is no home folder."""
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(home) if home else Path("~/.cache").expanduser()) / "pagekin" / kind
    except RuntimeError:  # a user without a home
        return None


class Cache:
    """Named arrays in files, by key. Unreadable files count as missing; write errors are ignored."""

    def __init__(self, folder: Path | None, most_bytes: int = MOST_BYTES) -> None:
        self._folder, self._most = folder, most_bytes
        self.hits = 0
        """Judgements that were found."""

    def keys(self) -> list[str]:
        """Return all keys."""
        return sorted(file.name for file in self._folder.iterdir()) if self._folder and self._folder.is_dir() else []

    def load(self, key: str) -> dict[str, Array] | None:
        """Return the arrays under a key, or None."""
        if self._folder is None:
            return None
        file = self._folder / key
        try:
            raw = zstandard.ZstdDecompressor().decompress(file.read_bytes())
            with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
                loaded = {name: arrays[name] for name in arrays.files}
        except (OSError, ValueError, EOFError, MemoryError, zstandard.ZstdError, zipfile.BadZipFile):
            return None
        with suppress(OSError):
            os.utime(file)  # what was used last goes last
        return loaded

    def store(self, key: str, arrays: Mapping[str, Array]) -> None:
        """Store arrays under a key; the file is written completely or not at all."""
        if self._folder is None:
            return
        room = io.BytesIO()
        named: dict[str, Any] = dict(arrays)
        np.savez(room, **named)
        packed = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(room.getvalue())
        if len(packed) > self._most:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(packed)
                Path(name).replace(self._folder / key)
            except BaseException:
                Path(name).unlink()
                raise
            self._make_room()
        except OSError:
            self._folder = None  # a full disk or a folder of others: not asked again

    def _make_room(self) -> None:
        """Remove the least recently used files until the rest is small enough."""
        assert self._folder is not None
        files = []
        for file in self._folder.iterdir():
            with suppress(FileNotFoundError):  # another process makes room too
                facts = file.stat()
                files.append((facts.st_mtime_ns, facts.st_size, file))
        total = sum(size for _when, size, _file in files)
        for _when, size, file in sorted(files):
            if total <= self._most:
                break
            file.unlink(missing_ok=True)
            total -= size


def corpus_digest(corpus: Corpus) -> str:
    """Return a hash of the corpus, without index and clusters."""
    files = corpus.kin.manifest.get("files", {})
    checksums = []
    for name in sorted(corpus.kin.arrays):
        if not name.startswith(CORPUS_ARRAYS):
            continue
        # A collection that is not written yet has no checksums.
        checksum = files[name]["checksum"] if name in files else _of_array(np.asarray(corpus.kin[name]))
        checksums.append((name, checksum))
    return _digest(checksums)


def judge_digest() -> str:
    """Return a hash of the code that makes and judges bags, so that results of other versions are not reused."""
    root = Path(pagekin.__file__).parent
    sources = [
        *(root / "bags").rglob("*.py"), *(root / "evaluation" / "_kernels").glob("*.py"),
        *(root / "evaluation" / name for name in ("cache.py", "experiments.py", "gamma.py")),
    ]  # fmt: skip
    digest = hashlib.blake2b(f"{FORMAT} {pagekin.__version__}".encode(), digest_size=16)
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=16).hexdigest()


def _of_array(array: Array) -> str:
    return hashlib.blake2b(array.tobytes(), digest_size=16).hexdigest()


class CachedExperiment(Experiment):
    """An experiment that stores its judgements as pairs and nearest pages, from which all measures follow.

    Intervals are made anew by the bench's own resamples, so that their seed and number are not part of the key.
    """

    def __init__(self, corpus: Corpus, bench: Bench, workshop: BagWorkshop, threads: int, cache: Cache) -> None:
        super().__init__(corpus, bench, workshop, threads)
        self.cache = cache
        settings = [_of_array(workshop.citing), workshop.without_crumbs]
        self._corpus_key = _digest([corpus_digest(corpus), judge_digest(), settings])
        self._key = _digest(
            [self._corpus_key, bench.directory.depth]
            + [_of_array(a) for a in (bench.urls, bench.sources, bench.class_offsets, bench.classes, bench.apart)]
        )

    def judge(self, name: str, strategy: Strategy, bagged: Callable[[], None] = lambda: None) -> Judgement:
        """Judge how well a strategy agrees with the directory, or load an earlier run's result."""
        key = _digest(["judgement", self._key, strategy.digest()])
        arrays = self.cache.load(key)
        stored = None if arrays is None else self._restore(name, strategy, arrays)
        if stored is not None:
            self.cache.hits += 1
            return stored
        judgement = super().judge(name, strategy, bagged)
        counts = judgement.counts
        facts = {name: value for name, value in judgement.facts.items() if name != "judged"}
        self.cache.store(
            key,
            {
                "counts": np.stack([counts.concordant, counts.discordant, counts.tied]), "orthogonal": counts.orthogonal,
                "nearest": judgement.nearest.astype(np.int32), "similarity": judgement.nearest_similarity,
                "facts": np.frombuffer(json.dumps({"facts": facts, "seconds": judgement.seconds}).encode(), np.uint8),
            },
        )  # fmt: skip
        return judgement

    def _restore(self, name: str, strategy: Strategy, arrays: Mapping[str, Array]) -> Judgement | None:
        """Return the judgement in a file; None if the file holds anything else."""
        try:
            concordant, discordant, tied = arrays["counts"]
            counts = PairCounts(concordant, discordant, tied, arrays["orthogonal"])
            notes = json.loads(arrays["facts"].tobytes())
            nearest, similarity = arrays["nearest"].astype(np.int64), arrays["similarity"]
            facts = {name: tuple(value) if isinstance(value, list) else value for name, value in notes["facts"].items()}
            facts["judged"] = self.bench.note
            seconds = float(notes["seconds"])
        except (KeyError, ValueError, TypeError):
            return None
        started = time.perf_counter() - seconds
        return make_judgement(self.bench, name, strategy.as_dict(), (counts, nearest, similarity), facts, started)

    def frequencies(self, strategy: Strategy) -> tuple[Array, int]:
        """Return (the numbers of terms in 1, 2-3, 4-7, ... bags; the number of bags) of a strategy (Figure 8)."""
        key = _digest(["frequencies", self._corpus_key, strategy.digest()])
        arrays = self.cache.load(key)
        if arrays is not None and arrays.keys() == {"terms", "bags"}:
            return arrays["terms"], int(arrays["bags"])
        bags = self.workshop.bags(strategy)
        df = bags.df[bags.df > 0]
        terms = np.bincount(np.log2(df).astype(np.int64)) if len(df) else np.zeros(0, np.int64)
        self.cache.store(key, {"terms": terms, "bags": np.array(len(bags.urls))})
        return terms, len(bags.urls)
