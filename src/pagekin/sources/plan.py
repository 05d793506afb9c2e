"""Sources split into units of work.

Units depend on the input alone, never on the number of workers, so that any number of them gives the same result.
"""

import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from pagekin.sources.arc import read_arc
from pagekin.sources.demo import demo_pages
from pagekin.sources.folder import list_folder, read_folder
from pagekin.sources.items import Item, Page, SourceError
from pagekin.sources.limits import Limits
from pagekin.sources.warc import next_record, read_warc

UNIT_BYTES = 6 << 20
"""Bytes of an archive file per unit: small enough to keep workers evenly busy and their memory low."""
UNIT_FILES = 1_000
DEMO = "demo"

_WARC_NAME = re.compile(r"\.warc(\.gz|\.zst|\.lz4)?$", re.IGNORECASE)
_ARC_NAME = re.compile(r"\.arc(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of one source."""

    kind: str
    path: str
    start: int = 0
    end: int = 0
    member: str = ""
    base_url: str = ""
    files: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """About how much work it is, for the progress bar: bytes of the source."""
        return max(1, self.end - self.start)

    @property
    def where(self) -> str:
        """The source's name for messages."""
        name = Path(self.path).name
        return f"{name}:{self.member}" if self.member else name


def plan_units(sources: Iterable[str], base_urls: dict[str, str], default_base: str = "") -> list[Unit]:
    """The units of all `sources`; SourceError for one that is missing or of an unknown kind."""
    units: list[Unit] = []
    sources = list(sources)
    folders = [s for s in sources if s != DEMO and Path(s).is_dir()]
    for name in base_urls:
        if name not in folders:
            raise SourceError(f"--base-url names '{name}', which is none of the folders to read: {', '.join(folders)}")
    for source in sources:
        if source == DEMO and not Path(DEMO).exists():
            units.append(Unit("demo", DEMO))
            continue
        path = Path(source)
        try:
            if path.is_dir():
                base = base_urls.get(source) or default_base
                if not base and len(folders) > 1:
                    raise SourceError(
                        "Several folders need an address each, so that their pages do not get mixed up: "
                        f"--base-url {source}=https://www.example.org/ (once per folder)"
                    )
                if default_base and len(folders) > 1:
                    raise SourceError(f"Several folders cannot share one address: --base-url {source}={default_base}")
                units += _folder_units(path, base or "http://localhost/")
            elif path.is_file():
                units += _file_units(path)
            else:
                raise SourceError(f"{source} does not exist.")
        except PermissionError as error:
            raise SourceError(f"{source} cannot be read: {error.strerror}.") from error
    return units


def _folder_units(path: Path, base_url: str) -> list[Unit]:
    files = list_folder(path)
    if not base_url.endswith("/"):
        base_url += "/"
    return [
        Unit("folder", str(path), i, i + len(files[i : i + UNIT_FILES]), "", base_url, tuple(files[i : i + UNIT_FILES]))
        for i in range(0, len(files), UNIT_FILES)
    ]


def _file_units(path: Path) -> list[Unit]:
    size = path.stat().st_size
    name = path.name
    if size == 0:
        raise SourceError(f"{path} is empty.")
    if _ARC_NAME.search(name):
        return [Unit("arc", str(path), 0, size)]
    if _WARC_NAME.search(name):
        return _warc_units(path, size)
    if name.lower().endswith((".wacz", ".zip")):
        return _wacz_units(path)
    raise SourceError(
        f"{path} is of no kind that Pagekin reads: .warc, .warc.gz, .arc, .arc.gz, .wacz, or a folder of HTML files."
    )


def _warc_units(path: Path, size: int) -> list[Unit]:
    """Pieces of about UNIT_BYTES that begin where a record seems to begin; read_unit's stop tells if one does not."""
    starts = [0]
    if not path.name.lower().endswith((".zst", ".lz4")):
        with path.open("rb") as stream:
            while (nominal := starts[-1] + UNIT_BYTES) < size:
                found = next_record(stream, nominal)
                if found < 0:
                    break
                starts.append(found)
    ends = [*starts[1:], size]
    return [Unit("warc", str(path), start, end) for start, end in zip(starts, ends, strict=True)]


def _wacz_units(path: Path) -> list[Unit]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = [m for m in archive.infolist() if _WARC_NAME.search(m.filename) and not m.is_dir()]
    except (zipfile.BadZipFile, OSError) as error:
        raise SourceError(f"{path} is not a readable WACZ (zip) file: {error}.") from error
    if not members:
        raise SourceError(f"{path} holds no WARC file; a WACZ keeps them under archive/.")
    return [Unit("wacz", str(path), 0, m.file_size, m.filename) for m in sorted(members, key=lambda m: m.filename)]


def read_unit(unit: Unit, limits: Limits) -> Iterator[Item | int]:
    """The items of one unit; of a WARC file's, the last is an int: the offset where reading stopped."""
    match unit.kind:
        case "demo":
            for page in demo_pages():
                yield Page(page.url, page.html)
        case "folder":
            yield from read_folder(Path(unit.path), list(unit.files), unit.base_url, limits)
        case "warc":
            with Path(unit.path).open("rb") as stream:
                yield from read_warc(stream, unit.where, unit.start, unit.end, limits)
        case "arc":
            with Path(unit.path).open("rb") as stream:
                yield from read_arc(stream, unit.where, limits)
        case "wacz":
            with ExitStack() as stack:
                archive = stack.enter_context(zipfile.ZipFile(unit.path))
                stream = cast(BinaryIO, stack.enter_context(archive.open(unit.member)))
                for item in read_warc(stream, unit.where, 0, unit.end, limits):
                    if not isinstance(item, int):
                        yield item
        case _:
            raise ValueError(f"unknown kind of unit: {unit.kind}")
