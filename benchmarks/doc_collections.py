"""Make real benchmark collections, as web archives, from Debian's documentation packages.

    python benchmarks/doc_collections.py --out CACHE_DIR [--pages 60000] [--sets gtk,twisted]

Each set is the HTML of one package, written to CACHE_DIR/SET.warc.gz in the order of its URLs. All sets
together are the mix, of which docs-20k.warc.gz and docs-60k.warc.gz hold the first 20,000 and 60,000 pages.
Within the mix each set is shuffled by a hash of its URLs and spread evenly, so that every prefix is a fair
sample of the whole.

The archives hold no random or current values: the same package versions (the table shows them), the same
warcio and the same zlib give the same bytes. What the cache folder already holds is not made again; delete a
file to renew it.

It needs a Debian (or a container of one) with apt-get, its package lists fetched by `apt-get update`,
dpkg-deb, and warcio. The whole mix takes about 420 MB of downloads and 4.5 GB of disk.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

SETS: dict[str, str] = {
    "boost": "libboost1.81-doc",
    "cmake": "cmake-doc",
    "cppreference": "cppreference-doc-en-html",
    "django": "python-django-doc",
    "erlang": "erlang-doc",
    "git": "git-doc",
    "glib": "libglib2.0-doc",
    "gnucash": "gnucash-docs",
    "gtk": "libgtk-4-doc",
    "handbook": "debian-handbook",
    "libstdcxx": "libstdc++-12-doc",
    "linux": "linux-doc-6.1",
    "llvm": "llvm-14-doc",
    "octave": "octave-doc",
    "openjdk": "openjdk-17-doc",
    "pandas": "python-pandas-doc",
    "postgresql": "postgresql-doc-15",
    "python": "python3.11-doc",
    "qt": "qtbase5-doc-html",
    "racket": "racket-doc",
    "rust": "rust-doc",
    "scipy": "python-scipy-doc",
    "sphinx": "sphinx-doc",
    "twisted": "twisted-doc",
}
"""The sets of the mix: a short name and the package (of Debian 12) it is made from."""

SMALL_MIX = 20_000
"""The smaller archive of the mix, written whenever as many pages are asked for."""

PAGE_ENDINGS = (".html", ".htm", ".html.gz")
ROOTS = ("usr/share/doc/", "usr/share/")
"""Folders left off the front of a page's path in its URL: the first that fits."""

WARC_DATE = "2024-01-01T00:00:00Z"
STUB_BYTES = 512
"""A page of fewer bytes is counted as a stub: nearly all of them only redirect to another page."""


class CollectionError(Exception):
    """A collection cannot be made; the message says why, for a reader of the command line."""


@dataclass(frozen=True)
class Page:
    """One HTML file of an unpacked package."""

    url: str
    path: Path
    size: int
    """Bytes of HTML, after gunzipping where the package has it gzipped."""

    def html(self) -> bytes:
        """The page's bytes as a web server would send them."""
        return _read(self.path)


@dataclass(frozen=True)
class Row:
    """One line of the table that the command prints."""

    name: str
    source: str
    pages: Sequence[Page]
    archive: Path


def fetch(package: str, cache: Path) -> Path:
    """The package's .deb in the cache folder, downloaded by apt-get unless it is there."""
    if not (found := sorted(cache.glob(f"{package}_*.deb"))):
        _say(f"downloading {package}")
        with tempfile.TemporaryDirectory(prefix=".download-", dir=cache) as folder:
            _run(["apt-get", "-q=2", "download", package], Path(folder), f"cannot download {package}")
            for deb in Path(folder).glob("*.deb"):
                found.append(deb.rename(cache / deb.name))
        if not found:
            raise CollectionError(f"apt-get downloaded no file for the package {package}")
    return found[-1]


def unpack(deb: Path, cache: Path) -> Path:
    """The folder with the package's files, unpacked by dpkg-deb unless it is there."""
    tree = cache / "unpacked" / deb.stem
    if not tree.exists():
        _say(f"unpacking {deb.name}")
        part = tree.with_name(f".{tree.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        command = ["dpkg-deb", "-x", str(deb.resolve()), str(part.resolve())]
        _run(command, cache, f"cannot unpack {deb.name}")
        part.rename(tree)
    return tree


def find_pages(tree: Path, package: str) -> list[Page]:
    """The HTML pages of an unpacked package, by URL.

    No symlink is followed. A link out of the tree leads to files that are not the package's, and what a link
    within it leads to is found, once, where it really is. Empty files are left out.
    """
    pages: dict[str, Page] = {}
    for folder, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted(names):  # x.html comes before x.html.gz, and the first to claim a URL keeps it
            path = Path(folder, name)
            if not name.lower().endswith(PAGE_ENDINGS) or path.is_symlink() or not path.is_file():
                continue
            url = page_url(package, path.relative_to(tree).as_posix())
            size = len(_read(path)) if _gzipped(path) else path.stat().st_size
            if size:
                pages.setdefault(url, Page(url, path, size))
    return [pages[url] for url in sorted(pages)]


def page_url(package: str, path: str) -> str:
    """The URL of a file, given its path in the package: one host for each package.

    >>> page_url("git-doc", "usr/share/doc/git-doc/howto/new-command.html")
    'https://git-doc.debian.example/git-doc/howto/new-command.html'
    """
    for root in ROOTS:
        if path.startswith(root):
            path = path.removeprefix(root)
            break
    if path.lower().endswith(".gz"):
        path = path[: -len(".gz")]
    host = package.replace("+", "x")  # libstdc++-12-doc: a host name has no plus sign
    return f"https://{host}.debian.example/" + quote(os.fsencode(path), safe="/~!$&'()*+,;=:@")


def mix(sets: Iterable[Sequence[Page]]) -> list[Page]:
    """All pages in one fixed order, in which every prefix has a fair share of each set."""
    placed: list[tuple[float, str, Page]] = []
    for pages in sets:
        shuffled = sorted(pages, key=lambda page: hashlib.sha256(page.url.encode()).digest())
        placed += [((i + 0.5) / len(shuffled), page.url, page) for i, page in enumerate(shuffled)]
    placed.sort(key=lambda place: place[:2])
    return [page for _, _, page in placed]


def write_warc(archive: Path, pages: Iterable[Page]) -> None:
    """Write the pages as response records, each a gzip member of its own, unless the archive is there."""
    if archive.exists():
        return
    _say(f"writing {archive.name}")
    part = archive.with_name(f".{archive.name}.part")
    with part.open("wb") as out:
        writer = WARCWriter(out, gzip=True)
        for page in pages:
            html = page.html()
            fields = [("Content-Type", "text/html"), ("Content-Length", str(len(html)))]
            record = writer.create_warc_record(
                page.url,
                "response",
                payload=io.BytesIO(html),
                length=len(html),
                http_headers=StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1"),
                warc_headers_dict={
                    "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, page.url)}>",
                    "WARC-Date": WARC_DATE,
                },
            )
            writer.write_record(record)
    part.replace(archive)


def make_set(name: str, cache: Path) -> Row:
    """Make the archive of one set."""
    package = SETS[name]
    deb = fetch(package, cache)
    pages = find_pages(unpack(deb, cache), package)
    if not pages:
        raise CollectionError(f"the package {package} has no HTML pages")
    archive = cache / f"{name}.warc.gz"
    write_warc(archive, pages)
    return Row(name, f"{package} {unquote(deb.stem.split('_')[1])}", pages, archive)


def make_mixes(rows: Sequence[Row], count: int, cache: Path) -> list[Row]:
    """Make the archives of the mix: one of `count` pages, and before it the small one if that is smaller."""
    pages = mix(row.pages for row in rows)
    if len(pages) < count:
        raise CollectionError(f"the mix has {len(pages):,} pages and cannot give {count:,}: lower --pages")
    made = []
    for size in sorted({min(SMALL_MIX, count), count}):
        name = f"docs-{size / 1000:.12g}k"
        archive = cache / f"{name}.warc.gz"
        write_warc(archive, pages[:size])
        made.append(Row(name, f"of a mix of {len(pages):,}", pages[:size], archive))
    return made


def table(rows: Sequence[Row]) -> str:
    """The rows as text: set, pages, stubs among them, MB of HTML, MB of the archive, package and version."""
    lines = [f"{'set':<13}{'pages':>8}{'stubs':>8}{'HTML MB':>10}{'WARC MB':>10}  made from"]
    for row in rows:
        stubs = sum(page.size < STUB_BYTES for page in row.pages)
        html = sum(page.size for page in row.pages) / 1e6
        warc = row.archive.stat().st_size / 1e6
        counts = f"{len(row.pages):>8,}{stubs:>8,}{html:>10,.1f}{warc:>10,.1f}"
        lines.append(f"{row.name:<13}{counts}  {row.source}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 if all went well, 1 if a collection could not be made."""
    parser = argparse.ArgumentParser(description="Make benchmark web archives from Debian packages.")
    parser.add_argument("--out", type=Path, required=True, metavar="CACHE_DIR", help="folder for all files")
    parser.add_argument("--pages", type=int, default=60_000, help="pages of the mix (default: %(default)s)")
    only = f"make only these sets, and no mix, which is always of all: {', '.join(SETS)}"
    parser.add_argument("--sets", metavar="NAME,...", help=only)
    options = parser.parse_args(arguments)
    names = list(SETS) if options.sets is None else list(dict.fromkeys(options.sets.split(",")))
    if unknown := [name for name in names if name not in SETS]:
        parser.error(f"no such set: {', '.join(unknown)} (there are {', '.join(SETS)})")
    if options.pages < 1:
        parser.error("--pages must be 1 or more")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        rows = [make_set(name, options.out) for name in names]
        if options.sets is None:
            rows += make_mixes(rows, options.pages, options.out)
    except (CollectionError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(table(rows))
    return 0


def _gzipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _read(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if _gzipped(path) else data


def _run(command: list[str], folder: Path, failure: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise CollectionError(f"{failure}: {command[0]} is missing (this needs a Debian system)") from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip() or f"exit status {error.returncode}"
        raise CollectionError(f"{failure}: {reason}") from None


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
