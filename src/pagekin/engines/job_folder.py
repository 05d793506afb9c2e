"""The folder of a cluster job, through which tasks pass their results to each other.

A task leaves a record when it is done, and nothing counts before: the record names the files with the pieces that the task sends
to others, and the collection of arrays that it keeps. Files have names that no other attempt has, so attempts may run twice,
die, or come late; whichever record is there, what it names is whole, and the same bytes as any other attempt's.
"""

import json
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from pagekin.store import MissingFileError, Storage, hand_over

Piece = bytes | Path
"""What a task sends to another: bytes, or a file that holds them."""
_SIZE = 8
"""Bytes before each record of a spool that say how long it is."""


class Spool:
    """Records for several tasks, any number for each, in files."""

    def __init__(self, folder: Path, count: int) -> None:
        folder.mkdir()
        self.files = [folder / str(number) for number in range(count)]
        for file in self.files:
            file.touch()

    def add(self, to: int, data: bytes) -> None:
        """Add a record for a task."""
        with self.files[to].open("ab") as file:
            file.write(len(data).to_bytes(_SIZE, "little"))
            file.write(data)


class TaskRecord(NamedTuple):
    """The result of a task."""

    result: dict[str, Any]
    """What is small, for whoever asks."""
    file: str
    """The file with the pieces, if there are any."""
    pieces: dict[str, list[int]]
    """For each kind of pieces where each of them begins in the file, and where the last ends."""
    kin: str
    """The address of a folder of arrays, if there is one."""
    costs: dict[str, float]
    """Processor seconds, bytes received, sent to other tasks and kept as arrays, and rows of what was received and sent."""


class JobFolder:
    """The folder of a job, on a shared disk or in an object store."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._store = Storage(address)

    def find(self, stage: str, number: int) -> TaskRecord | None:
        """Return the record of a task, or None if there is none yet."""
        try:
            return TaskRecord(**json.loads(self._store.read(f"{stage}/{number}.json")))
        except MissingFileError:
            return None

    def record(self, stage: str, number: int) -> TaskRecord:
        """Return the record of a finished task."""
        record = self.find(stage, number)
        if record is None:
            raise LookupError(
                f"there is no record of the task {number} of the stage {stage} in {self.address}, "
                "which all machines must see under the same path"
            )
        return record

    def read(self, record: TaskRecord, kind: str, to: int) -> bytes:
        """Return the piece of a kind that a task sent to another."""
        begin, end = record.pieces[kind][to : to + 2]
        return self._store.read_part(record.file, begin, end - begin)

    def read_spooled(self, record: TaskRecord, kind: str, to: int) -> Iterator[bytes]:
        """Yield the records that a task spooled for another, with one in memory at a time."""
        begin, end = record.pieces[kind][to : to + 2]
        while begin < end:
            size = int.from_bytes(self._store.read_part(record.file, begin, _SIZE), "little")
            yield self._store.read_part(record.file, begin + _SIZE, size)
            begin += _SIZE + size

    def write(
        self, stages: Sequence[str], number: int, result: Mapping[str, Any], pieces: Mapping[str, Sequence[Piece]],
        kin: Path | None, costs: Mapping[str, float], work: Path,
    ) -> None:  # fmt: skip
        """Write a task's result, the record last, possibly for several stages; `work` holds copies on their way."""
        token = f"{stages[0]}/{number}-{secrets.token_hex(8)}"
        file, places = "", dict(_places(pieces))
        if pieces:
            file = f"{token}.pieces"
            with (work / "pieces").open("wb") as stream:
                for piece in chain.from_iterable(pieces.values()):
                    _copy(piece, stream)
            self._store.upload(work / "pieces", file)
        address = ""
        if kin is not None:
            address = f"{self.address}/{token}.kin"
            hand_over(kin, address)
        record = TaskRecord(dict(result), file, places, address, dict(costs))
        for stage in reversed(stages):
            self._store.write(f"{stage}/{number}.json", json.dumps(record._asdict()).encode())


def piece_bytes(piece: Piece) -> int:
    """Return the length of a piece."""
    return piece.stat().st_size if isinstance(piece, Path) else len(piece)


def _copy(piece: Piece, stream: IO[bytes]) -> None:
    if isinstance(piece, Path):
        with piece.open("rb") as source:
            shutil.copyfileobj(source, stream)
    else:
        stream.write(piece)


def _places(pieces: Mapping[str, Sequence[Piece]]) -> Iterator[tuple[str, list[int]]]:
    start = 0
    for kind, some in pieces.items():
        places = list(accumulate(map(piece_bytes, some), initial=start))
        yield kind, places
        start = places[-1]
