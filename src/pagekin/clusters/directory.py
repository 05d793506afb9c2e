"""Human-made hierarchies: read from a table, or taken from the collection's own addresses or breadcrumbs (section 2.1)."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from pagekin.errors import PagekinError
from pagekin.hypertext import Boundary, Corpus, canonical_url, host_of, sites_of_urls
from pagekin.wording import did_you_mean, missing_file

DIRECTORY_MODES = ("lenient", "strict")
DIRECTORY_CHOICES = ("primary", "all")
OWN_DIRECTORIES = ("url-path", "breadcrumbs")
PADDING = "-"
Listing = tuple[str, tuple[str, ...]]
"""An address and the path of a class it is listed in."""


class DirectoryError(PagekinError):
    """A directory that cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Directory:
    """Pages in the classes of a tree, cut at a depth."""

    name: str
    depth: int
    mode: str
    choice: str
    """'primary': each page in one class; 'all': in every class it is listed in."""
    classes: tuple[tuple[str, ...], ...]
    """Paths of the classes, sorted, all as long as the tree is deep."""
    urls: npt.NDArray[np.int64]
    """URL numbers of the pages, sorted."""
    offsets: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]
    """Page i is in the classes members[offsets[i]:offsets[i + 1]]."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What was listed, left out and not found, and why."""

    def class_distances(self) -> npt.NDArray[np.int64]:
        """Return the familial distance between each two classes (definition 1)."""
        distances = [[familial_distance(a, b) for b in self.classes] for a in self.classes]
        return np.array(distances, np.int64).reshape(len(self.classes), len(self.classes))


def familial_distance(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Return the distance from class a to the most specific class that dominates both (definition 1)."""
    return len(a) - _shared_levels(a, b)


def _shared_levels(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """Return how many levels two paths share; all paths sorted between the two share these, too."""
    for level, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return level
    return min(len(a), len(b))


def collapse(path: tuple[str, ...], depth: int, mode: str) -> tuple[str, ...] | None:
    """Cut or pad a class's path to `depth`; None if it is listed too high to count."""
    if len(path) >= depth:
        return path[:depth]
    if mode == "strict" or len(path) < min(2, depth):
        return None
    return path + (PADDING,) * (depth - len(path))


def load_directory(
    corpus: Corpus, source: str, depth: int = 3, mode: str = "lenient", choice: str = "primary", loose: bool = False
) -> Directory:
    """Load the directory in a file (TSV or CSV: address, path), or the collection's own by 'url-path' or 'breadcrumbs'.

    With `loose`, addresses match in other spellings too: http and https, trailing slash, capitals.
    """
    if source == "url-path":
        listings: Iterable[Listing] = _url_paths(corpus)
    elif source == "breadcrumbs":
        listings = _breadcrumbs(corpus)
    elif not Path(source).exists():
        hint = did_you_mean(source, OWN_DIRECTORIES).removeprefix("; ").capitalize() or missing_file(source)
        raise DirectoryError(
            f"{source} is neither a table of addresses and classes, nor url-path or breadcrumbs, the collection's own order. "
            f"{hint}"
        )
    else:
        listings = read_listings(Path(source))
    return make_directory(corpus, listings, source, depth, mode, choice, loose)


def make_directory(
    corpus: Corpus, listings: Iterable[Listing], name: str, depth: int, mode: str, choice: str, loose: bool
) -> Directory:
    """Make the directory of those listings whose pages are in the collection."""
    match = _matcher(corpus, loose)
    places: dict[int, list[tuple[int, tuple[str, ...]]]] = {}
    counts = Counter[str]()
    missing: list[str] = []
    for address, path in listings:
        counts["listings"] += 1
        collapsed = collapse(path, depth, mode)
        if collapsed is None:
            counts["listed too high"] += 1
            continue
        number = match(address)
        if number < 0:
            counts["not in the collection"] += 1
            missing.append(address)
            continue
        known = places.setdefault(number, [])
        if all(collapsed != other for _depth, other in known):
            known.append((min(len(path), depth), collapsed))
    facts: dict[str, Any] = dict(counts)
    if missing:
        facts["examples"] = missing[:5]
        facts["other spellings"] = dict(_other_spellings(corpus, missing[:2000]))
    if not places:
        raise DirectoryError(_nothing_matched(corpus, name, facts, mode))
    urls = np.array(sorted(places), dtype=np.int64)
    chosen: list[list[tuple[str, ...]]] = []
    for number in urls.tolist():
        # The deepest listing first, the first of equals.
        ranked = sorted(places[number], key=lambda place: -place[0])
        chosen.append([path for _depth, path in (ranked[:1] if choice == "primary" else ranked)])
    classes = tuple(sorted({path for paths in chosen for path in paths}))
    numbers = {path: number for number, path in enumerate(classes)}
    offsets = np.cumsum([0, *(len(paths) for paths in chosen)])
    members = np.array([numbers[path] for paths in chosen for path in paths], dtype=np.int64)
    facts |= {"pages": len(urls), "classes": len(classes)}
    if not_read := int(np.count_nonzero(~np.isin(urls, np.asarray(corpus.pages.url)))):
        facts["known only from links"] = not_read
    return Directory(name, depth, mode, choice, classes, urls, offsets, members, facts)


def _nothing_matched(corpus: Corpus, name: str, facts: dict[str, Any], mode: str) -> str:
    if not facts.get("listings"):
        return f"{name} lists no page."
    if not facts.get("not in the collection"):
        if name == "url-path":
            return (
                "the addresses of the pages have no folder within a folder, so url-path has no classes to compare. Use "
                "breadcrumbs, or a table of addresses and paths."
            )
        looser = "A smaller --depth or --mode lenient" if mode == "strict" else "Another tree"
        return f"{name} lists pages only in the top level of the tree: nothing to compare. {looser} may help."
    example = facts["examples"][0]
    ours = corpus.page_url(0) if len(corpus) else "nothing"
    hint = "; with --loose some would match" if facts.get("other spellings") else ""
    return (
        f"none of the {facts['listings']:,} addresses of {name} is in the collection: it lists {example}, and the "
        f"collection holds {ours}{hint}."
    )


# -- tables -------------------------------------------------------------------------------------------------------------


def read_listings(file: Path) -> list[Listing]:
    """Read the listings of a TSV (address TAB path) or CSV file; paths are written with slashes.

    More columns than two, empty lines, lines that begin with #, and a heading are ignored.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DirectoryError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise DirectoryError(f"{file} is not a text table: it is not UTF-8.") from None
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    # In TSV a quotation mark is a letter like others: as an opening quote it would swallow the lines up to the next one.
    options: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if "\t" in first else {}
    rows = csv.reader(io.StringIO(text), **options)
    listings: list[Listing] = []
    heading = True
    try:
        for row in rows:
            if not row or not row[0].strip() or row[0].startswith("#"):
                continue
            if len(row) < 2:
                raise DirectoryError(
                    f"{file}, line {rows.line_num}: expected two columns, an address and a path; found '{row[0][:80]}'."
                )
            address, path = row[0].strip(), row[1].strip()
            if not (heading and _is_heading(address, path)):
                listings.append((address, tuple(part.strip() for part in path.split("/") if part.strip())))
            heading = False
    except csv.Error as error:
        raise DirectoryError(f"{file} is not a table: {error}.") from None
    return listings


def _is_heading(address: str, path: str) -> bool:
    """Return whether the first row is a header rather than an address and a path."""
    return "/" not in address and "." not in address and "/" not in path


# -- addresses ----------------------------------------------------------------------------------------------------------


def _base(corpus: Corpus) -> str | None:
    """Return the base for addresses without a host: the root of the collection's host, if there is only one."""
    if len(corpus.hosts) != 1 or not len(corpus):
        return None
    return "/".join([*corpus.page_url(0).split("/")[:3], ""])


def _matcher(corpus: Corpus, loose: bool) -> Callable[[str], int]:
    """Return a function from an address as listed to its URL number; -1 if it was not captured or linked to.

    An address without a host is taken to be of the collection's host, if there is just one.
    """
    base = _base(corpus)
    folded: dict[str, int] = {}
    if loose:
        for number in range(len(corpus.urls)):
            folded.setdefault(_loose_form(corpus.url(number)), number)
        # An address with a page goes before others that are only linked to.
        for number in np.unique(np.asarray(corpus.pages.url))[::-1].tolist():
            folded[_loose_form(corpus.url(number))] = number

    def match(address: str) -> int:
        url = canonical_url(address, base) if base else canonical_url(address)
        if url is None and loose:
            url = canonical_url(f"http://{address}")
        if url is None:
            return -1
        number = corpus.url_number(url)
        if number < 0 and loose:
            other = folded.get(_loose_form(url), -1)
            return corpus.home(other) if other >= 0 else -1
        return number

    return match


def _loose_form(url: str) -> str:
    """Normalise an address for loose matching: without scheme, www, case, trailing slash and escapes."""
    return unquote(url).partition("://")[2].removeprefix("www.").rstrip("/").lower()


def _other_spellings(corpus: Corpus, addresses: list[str]) -> Counter[str]:
    """Count the addresses that would match in another spelling, by the kind of difference."""
    base = _base(corpus)
    differences = Counter[str]()
    for address in addresses:
        url = canonical_url(address, base) or canonical_url(f"http://{address}")
        if url is None:
            continue
        scheme, _, rest = url.partition("://")
        for reason, other in (
            ("a missing http://", url if base is None and canonical_url(address) is None else ""),
            ("http and https", f"{'http' if scheme == 'https' else 'https'}://{rest}"),
            ("a trailing slash", url.rstrip("/") if url.endswith("/") else url + "/"),
            ("www.", f"{scheme}://{rest.removeprefix('www.') if rest.startswith('www.') else 'www.' + rest}"),
            ("capitals", url.lower()),
        ):
            if corpus.url_number(other) >= 0:
                differences[reason] += 1
                break
    return differences


# -- the collection's own structure -------------------------------------------------------------------------------------


def _url_paths(corpus: Corpus) -> list[Listing]:
    """List each page under the folders of its address, below its site and host where there are several."""
    pages = np.unique(np.asarray(corpus.pages.url))
    site_of_url, names = sites_of_urls(corpus.urls)
    urls, sites = [corpus.url(int(number)) for number in pages], site_of_url[pages].tolist()
    hosts = Counter(site for site, _host in set(zip(sites, map(host_of, urls), strict=True)))
    paths: list[tuple[str, ...]] = []
    for url, site in zip(urls, sites, strict=True):
        above = [names[site]] if len(hosts) > 1 else []
        above += [host_of(url)] if hosts[site] > 1 else []
        paths.append((*above, *filter(None, url.split("?")[0].split("/")[3:-1])))
    shared = _shared_levels(min(paths, default=()), max(paths, default=()))
    return [(url, path[shared:]) for url, path in zip(urls, paths, strict=True)]


def _breadcrumbs(corpus: Corpus) -> list[Listing]:
    """List each page (newest capture) under the links of its breadcrumbs, without the link to itself."""
    listings: list[Listing] = []
    for page in np.unique(np.asarray(corpus.pages.url), return_index=True)[1].tolist():
        stream = corpus.stream(page)
        starts = stream.boundary_at[stream.boundary_kind == Boundary.CRUMBS_START]
        ends = stream.boundary_at[stream.boundary_kind == Boundary.CRUMBS_END]
        if not len(starts) or not len(ends):
            continue
        path = tuple(
            text
            for anchor in corpus.anchors_out(page)
            if int(starts[0]) <= int(corpus.anchors.start[anchor]) < int(ends[0])
            and int(corpus.anchors.target[anchor]) != int(corpus.pages.url[page])
            and (text := corpus.anchor_text(anchor))
        )
        if path:
            listings.append((corpus.page_url(page), path))
    if not listings:
        raise DirectoryError(
            "no page of the collection has breadcrumbs; use url-path, or a table of addresses and paths."
        )
    paths = [path for _url, path in listings]
    shared = _shared_levels(min(paths), max(paths))
    return [(url, path[shared:]) for url, path in listings if len(path) > shared]
