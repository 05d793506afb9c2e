"""What an update costs against a build of everything: processor time of each, and what kept parts take on disk.

    python benchmarks/update_cost.py SOURCE... [--share 0.01] [--no-clusters]

A share of the pages, chosen by their addresses, is left out of a build that keeps its parts, and then added by an update. A
fresh build of all of them is measured beside it, in the same process and with warm kernels, and the files of both are compared.
"""

import argparse
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from meter import processor_seconds
from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings
from pagekin.engines import (
    BuildRecipe,
    build_collection,
    compact_collection,
    compare_first,
    first_related,
    sample_questions,
    update_collection,
)
from pagekin.hypertext import ReadPlan, read_keeping
from pagekin.sources import Limits, Page, plan_units, read_unit

_PARTS = 10_000


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--share", type=float, default=0.01, help="of the pages that are added")
    parser.add_argument("--no-clusters", action="store_true", help="make no clusters, names and labels")
    parser.add_argument("--way", choices=["merge", "auto", "delta"], default="auto", help="how the update is made")
    parser.add_argument("--questions", type=int, default=200, help="pages that are asked about to measure drift")
    options = parser.parse_args()
    clusters = None if options.no_clusters else ClusterSettings()

    def build(sources: list[Path], out: Path, keep: bool) -> None:
        build_collection(
            ReadPlan(list(map(str, sources)), out, keep=keep), BuildRecipe(Strategy(), clusters, text=True)
        )

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        old, new = divide(options.sources, folder, options.share)
        build([new], folder / "warm.kin", keep=True)
        living = folder / "living.kin"
        spent = {
            "build of the old pages, parts kept": measure(lambda: build([old], living, keep=True)),
            "update by the new pages": measure(lambda: update_collection(living, [str(new)], way=options.way)),
        }
        asked = sample_questions(living, options.questions)
        before = first_related(living, asked)
        spent |= {
            "compact": measure(lambda: compact_collection(living)),
            "build of all pages": measure(lambda: build([old, new], folder / "fresh" / "living.kin", keep=False)),
        }
        drift = compare_first(before, first_related(living, asked))
        same = files(folder / "living.kin") == files(folder / "fresh" / "living.kin")
        kept = read_keeping(folder / "living.kin").bytes_on_disk
        proper = sum(map(len, files(folder / "fresh" / "living.kin").values()))
        pages = len(list(pages_of([str(old), str(new)])))
    for what, seconds in spent.items():
        print(f"{what:36} {seconds:8.1f} s of processor time  {seconds / spent['build of all pages']:6.1%}")
    print(
        f"{pages:,} pages: the collection has {proper / pages:,.0f} bytes a page, kept parts {kept / pages:,.0f} more"
    )
    print(
        f"drift: of the first ten related pages {drift.overlap:.1%} are the same after compact; all of them for "
        f"{drift.same:,} of {drift.questions:,} pages, at worst {drift.worst:.0%}"
    )
    print(f"after compact, all files are {'the same' if same else 'NOT the same'} as those of the fresh build")


def divide(sources: list[str], folder: Path, share: float) -> tuple[Path, Path]:
    """Write all pages to two archives; the second has so large a share of them."""
    old, new = folder / "old.warc", folder / "new.warc"
    with old.open("wb") as many, new.open("wb") as few:
        for page in pages_of(sources):
            chosen = zlib.crc32(page.url.encode()) % _PARTS < share * _PARTS
            (few if chosen else many).write(record(page))
    return old, new


def pages_of(sources: list[str]) -> Iterator[Page]:
    """Yield the pages of some sources."""
    for unit in plan_units(sources, {}):
        for item in read_unit(unit, Limits()):
            if isinstance(item, Page):
                yield item


def record(page: Page) -> bytes:
    """Return a page as a WARC record."""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: {page.content_type or 'text/html'}\r\n\r\n".encode() + page.html
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {page.url}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def measure(work: Callable[[], object]) -> float:
    """Return the processor time of some work."""
    before = processor_seconds(os.getpid())
    work()
    return processor_seconds(os.getpid()) - before


def files(path: Path) -> dict[str, bytes]:
    """Return the files of a collection proper, without what it keeps."""
    return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file() and file.name != ".lock"}


if __name__ == "__main__":
    main()
