"""A journal of reading: what the written parts hold, so that an interrupted build can resume.

The folder of the parts holds `journal`, a line of JSON for everything that is done. Its first line names what is read and how,
and only a build that reads the same in the same way goes on. Parts carry checksums: a machine that went down may have
lost some of what it had written.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from pagekin import __version__
from pagekin.sources import Unit
from pagekin.store import checksum_of, file_stamp, is_remote, sum_files

_JOURNAL, _SUMS = "journal", "sums.json"
STAGES = "stages-"
"""How the names of folders begin, beside the parts, with what later stages of a build go on from."""
_PART = re.compile(r"[0-9a-z]+(-[0-9]+)+")


class Journal:
    """The written parts, and how many items of each unit they hold.

    Without a folder it is kept in memory alone.
    """

    def __init__(self, folder: Path | None = None, key: str = "") -> None:
        self.parts: list[Path] = []
        self.stops: dict[int, int] = {}
        """Where each unit that was read to its end stopped, if its source can tell."""
        self.whole: set[str] = set()
        """Files that are read in one piece, because they were cut in a wrong place."""
        self.run = secrets.token_hex(4)
        """The beginning of the names of this run's parts: a worker of a run that was killed may still write others."""
        self._items: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._folder, self._key = folder, key
        self._file: IO[bytes] | None = None
        if folder is None:
            return
        if self._load(folder):
            self._remove_others(folder, STAGES)
            self._file = (folder / _JOURNAL).open("ab")
        else:
            self.restart(set())

    def restart(self, whole: set[str]) -> None:
        """Start again: remove all parts; read each file in `whole` in one piece."""
        self.parts, self.stops, self._items, self._sizes = [], {}, {}, {}
        self.whole = set(whole)
        if self._folder is not None:
            self._close_file()
            self._remove_others(self._folder)
            self._file = (self._folder / _JOURNAL).open("wb")
            self._write({"key": self._key, "whole": sorted(whole)})

    def is_read(self, place: int) -> bool:
        """Return whether all items of a unit are in written parts."""
        return self._sizes.get(place, -1) == self._items.get(place, 0)

    def items(self, place: int) -> int:
        """Return how many items of a unit are in written parts."""
        return self._items.get(place, 0)

    def ended_units(self) -> Iterable[int]:
        """Return the units that were read to their end, whether or not they are in written parts yet."""
        return self._sizes.keys()

    def note_part(self, part: Path, items: dict[int, int]) -> None:
        """Note a written part, and how many items of each unit are now in parts."""
        self._write({"part": part.name, "items": items})
        self.parts.append(part)
        self._items |= items

    def note_end(self, place: int, stop: int, size: int) -> None:
        """Note that a unit was read to its end and has this many items; some may still be in memory."""
        self._write({"unit": place, "stop": stop, "size": size})
        self.stops[place], self._sizes[place] = stop, size

    def forget_end(self, place: int) -> None:
        """Note that a unit has to be read again, because its worker was killed."""
        self._sizes.pop(place, None)

    def _write(self, entry: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(entry).encode() + b"\n")
            self._file.flush()

    def _load(self, folder: Path) -> bool:
        """Read the journal of an earlier run; return whether it is complete, with all its parts, and has our key."""
        try:
            raw = (folder / _JOURNAL).read_bytes()
            end = raw.rfind(b"\n") + 1  # what follows was not written to its end
            head, *entries = (json.loads(line) for line in raw[:end].splitlines())
            if head["key"] != self._key:
                return False
            self.whole = set(head["whole"])
            for entry in entries:
                if "part" in entry:
                    part = folder / entry["part"]
                    if not _PART.fullmatch(part.name) or part.parent != folder or not is_whole(part):
                        return False
                    self.parts.append(part)
                    self._items |= {int(place): int(count) for place, count in entry["items"].items()}
                else:
                    place = int(entry["unit"])
                    self.stops[place], self._sizes[place] = int(entry["stop"]), int(entry["size"])
            os.truncate(folder / _JOURNAL, end)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return False
        return bool(self.parts)

    def _remove_others(self, folder: Path, spared: str = "") -> None:
        """Remove unfinished parts, which the journal does not name; keep what has a `spared` name."""
        kept = {part.name for part in self.parts} | {_JOURNAL}
        for entry in folder.iterdir():
            if entry.name in kept or (spared and entry.name.startswith(spared)):
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)

    def _close_file(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; after an error, keep only what a later run can resume from."""
        self._close_file()
        if error is not None and self._folder is not None and self._folder.is_dir():
            self._remove_others(self._folder, STAGES if self.parts else "")
            if not self.parts:
                (self._folder / _JOURNAL).unlink(missing_ok=True)


def sign_part(part: Path) -> None:
    """Add the sizes and checksums of its files to a written part."""
    (part / _SUMS).write_text(json.dumps(sum_files(part)))


def is_whole(part: Path) -> bool:
    """Return whether the files of a part are unchanged since they were written."""
    sums = json.loads((part / _SUMS).read_text())
    return bool(sums) and all(checksum_of(part / name, size) == known for name, (size, known) in sums.items())


def reading_key(units: Sequence[Unit], settings: Any) -> str:
    """Return a digest of the files to read (path, range, size, time), the settings, and the code that reads."""
    digest = hashlib.blake2b(digest_size=16)
    for said in ([__version__, code_digest()], settings, *map(_identify, units)):
        digest.update(json.dumps(said, sort_keys=True).encode() + b"\n")
    return digest.hexdigest()


def _identify(unit: Unit) -> list[Any]:
    """Return the values that identify a unit and the state of its files."""
    path = unit.path if is_remote(unit.path) else str(Path(unit.path).absolute())
    files = [(name, *file_stamp(f"{path}/{name}")) for name in unit.files] or [("", *file_stamp(path))]
    return [unit.kind, path, unit.start, unit.end, unit.member, unit.base_url, files]


@cache
def code_digest(rooms: tuple[str, ...] = ("hypertext", "sources")) -> str:
    """Return a digest of the code of some rooms, because another version of it may write other bytes."""
    digest = hashlib.blake2b(digest_size=16)
    house = Path(__file__).parents[1]
    for file in sorted(file for room in rooms for file in (house / room).rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()
