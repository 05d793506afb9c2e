"""Split sources into units of work.

Units depend only on the input, not on the number of workers, so that any number of workers gives the same result.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pagekin.sources.arc import read_arc
from pagekin.sources.captures import is_http_url
from pagekin.sources.folder import list_folder, read_folder
from pagekin.sources.items import Item, SourceError
from pagekin.sources.limits import Limits
from pagekin.sources.scan import next_record, record_extent
from pagekin.sources.wacz import list_wacz, read_wacz
from pagekin.sources.warc import read_warc
from pagekin.store import file_stamp, is_remote, open_file
from pagekin.wording import missing_file

UNIT_BYTES = 6 << 20
"""Bytes of an archive file per unit: few enough to keep all workers busy and their memory low."""
UNIT_FILES = 1_000
DEMO = "demo"

_WARC_NAME = re.compile(r"\.warc(\.gz|\.zst|\.lz4)?$", re.IGNORECASE)
_ARC_NAME = re.compile(r"\.arc(\.gz)?$", re.IGNORECASE)
_LIST_NAME = re.compile(r"\.paths(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of one source."""

    kind: str
    path: str
    start: int = 0
    end: int = 0
    member: str = ""
    base_url: str = ""
    files: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        """Return the approximate amount of work, in bytes of the source, for the progress bar."""
        return max(1, self.end - self.start)

    @property
    def where(self) -> str:
        """Return the name of the source for messages."""
        name = Path(self.path).name
        return f"{name}:{self.member}" if self.member else name


def plan_units(sources: Iterable[str], base_urls: dict[str, str], default_base: str = "") -> list[Unit]:
    """Split all `sources` into units; raise a SourceError for a missing source or one of an unknown kind."""
    sources = expand_lists(sources)
    bases = {Path(name): base for name, base in base_urls.items()}
    units: list[Unit] = []
    try:
        for source in sources:
            if source != DEMO and not is_remote(source) and not Path(source).exists():
                raise SourceError(_missing(source))
        folders = [Path(s) for s in sources if s != DEMO and Path(s).is_dir()]
        _check_bases(folders, bases, default_base)
        for source in sources:
            path = Path(source)
            if source == DEMO and not path.exists():
                units.append(Unit("demo", DEMO))
            elif is_remote(source):
                units += _plan_file(source)
            elif path.is_dir():
                units += _plan_folder(path, bases.get(path) or default_base or "http://localhost/")
            elif path.is_file():
                units += _plan_file(source)
            else:
                raise SourceError(f"{source} is neither a file nor a folder.")
    except OSError as error:
        raise SourceError(f"{error.filename} cannot be read: {error.strerror}.") from error
    return units


def _missing(source: str) -> str:
    """Return the message about a source that does not exist; the address of a web site is none."""
    if is_http_url(source):
        return (
            f"{source} is an address, and a build reads files. Crawl the site first, and build from the archive: "
            f"pagekin crawl {source} --out site.warc.gz"
        )
    return missing_file(source)


def expand_lists(sources: Iterable[str]) -> list[str]:
    """Return the sources with each list of files, such as `warc.paths.gz`, replaced by the files.

    A list names a file on each line: by its address, by an absolute path, or by one from the folder of the list; in an
    object store, from the beginning of the bucket, as lists of crawls do.
    """
    expanded: list[str] = []
    for source in sources:
        if _LIST_NAME.search(source) and not Path(source).is_dir():
            expanded += _read_list(source)
        else:
            expanded.append(source)
    return expanded


def _read_list(source: str) -> Iterator[str]:
    try:
        with open_file(source) as stream:
            raw = gzip.decompress(stream.read()) if source.lower().endswith(".gz") else stream.read()
        lines = [line.strip() for line in raw.decode().splitlines() if line.strip()]
    except FileNotFoundError:
        raise SourceError(f"{source} does not exist.") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise SourceError(f"{source} is not a readable list of files, one per line: {error}.") from error
    if not lines:
        raise SourceError(f"{source} names no file.")
    for line in lines:
        if is_remote(line) or Path(line).is_absolute():
            yield line
        elif is_remote(source):
            yield f"{'/'.join(source.split('/')[:3])}/{line}"
        else:
            yield str(Path(source).parent / line)


def _check_bases(folders: list[Path], bases: dict[Path, str], default_base: str) -> None:
    """Check that every folder has an address of its own and every address belongs to a folder."""
    names = ", ".join(map(str, folders)) or "there is none"
    for path in bases:
        if path not in folders:
            raise SourceError(f"--base-url names '{path}', which is not one of the folders to read: {names}.")
    for base in filter(None, [default_base, *bases.values()]):
        if not is_http_url(base):
            raise SourceError(f"--base-url takes an address such as https://www.example.org/, not '{base}'.")
    if default_base and not folders:
        raise SourceError("--base-url is the address of a folder's root, and no folder is among the sources.")
    if len(folders) > 1:
        for folder in folders:
            if folder not in bases:
                raise SourceError(
                    "With several folders, each needs its own address: "
                    f"--base-url {folder}=https://www.example.org/ (once per folder)"
                )


def _plan_folder(path: Path, base_url: str) -> list[Unit]:
    files = list_folder(path)
    if not files:
        raise SourceError(f"{path} holds no files.")
    base_url = base_url.rstrip("/") + "/"
    units = []
    for i in range(0, len(files), UNIT_FILES):
        some = tuple(files[i : i + UNIT_FILES])
        units.append(Unit("folder", str(path), i, i + len(some), "", base_url, some))
    return units


def _plan_file(source: str) -> list[Unit]:
    size = file_stamp(source)[0]
    name = PurePosixPath(source).name
    if size < 0:
        raise SourceError(f"{source} does not exist.")
    if size == 0:
        raise SourceError(f"{source} is empty.")
    if _ARC_NAME.search(name):
        return [Unit("arc", source, 0, size)]
    if _WARC_NAME.search(name):
        return _plan_warc(source, size)
    if name.lower().endswith((".wacz", ".zip")):
        return [Unit("wacz", source, 0, one.file_size, one.filename) for one in list_wacz(source, _WARC_NAME)]
    raise SourceError(
        f"{source} is not something that Pagekin reads: .warc, .warc.gz (.zst, .lz4), .arc, .arc.gz, .wacz, a list of these "
        "(.paths, .paths.gz), or a folder of HTML files."
    )


def _plan_warc(source: str, size: int) -> list[Unit]:
    """Cut a WARC file into units of about UNIT_BYTES that start at records.

    A start is a guess from a few bytes; the offset where `read_unit` stops shows whether it was right.
    """
    starts = [0]
    if not source.lower().endswith((".zst", ".lz4")):
        with open_file(source) as stream:
            while (nominal := starts[-1] + UNIT_BYTES) < size:
                start = next_record(stream, nominal)
                if start < 0:
                    break
                starts.append(start)
            # Records that share a gzip member have no offsets of their own: such a file is one unit.
            if any(record_extent(stream, start, size).fault == "shared" for start in starts):
                starts = [0]
    ends = [*starts[1:], size]
    return [Unit("warc", source, start, end) for start, end in zip(starts, ends, strict=True)]


def read_unit(unit: Unit, limits: Limits) -> Iterator[Item | int]:
    """Yield the items of a unit; for a WARC file, the last item is the offset where reading stopped."""
    match unit.kind:
        case "demo":
            from pagekin.sources.demo import demo_pages  # imports the templates' engine

            yield from demo_pages()
        case "folder":
            yield from read_folder(Path(unit.path), list(unit.files), unit.base_url, limits)
        case "warc":
            with open_file(unit.path) as stream:
                yield from read_warc(stream, unit.where, unit.start, unit.end, limits)
        case "arc":
            with open_file(unit.path) as stream:
                yield from read_arc(stream, unit.where, limits)
        case "wacz":
            yield from read_wacz(unit.path, unit.member, unit.where, limits)
