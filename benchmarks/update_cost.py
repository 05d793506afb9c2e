"""What an update costs against a build of everything: processor time of each, and what kept parts take on disk.

    python benchmarks/update_cost.py SOURCE... [--share 0.01] [--no-clusters] [--way delta] [--serve]

A share of the pages, chosen by their addresses, is left out of a build that keeps its parts, and then added by an update. A
fresh build of all of them is measured beside it, in the same process and with warm kernels, and the files of both are compared.

With --serve nothing is compared: a server is started on the collection, the update is made beside it, and the seconds are told
from the commit until the server, which is asked twenty times a second, answers with a new page.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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
from pagekin.routers import free_port
from pagekin.sources import Limits, Page, plan_units, read_unit

_PARTS = 10_000
_EVERY = 0.05


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--share", type=float, default=0.01, help="of the pages that are added")
    parser.add_argument("--no-clusters", action="store_true", help="make no clusters, names and labels")
    parser.add_argument("--way", choices=["merge", "auto", "delta"], default="auto", help="how the update is made")
    parser.add_argument("--questions", type=int, default=200, help="pages that are asked about to measure drift")
    parser.add_argument("--serve", action="store_true", help="measure when a running server knows the new pages")
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
        if options.serve:
            build([old], living, keep=True)
            watch_server(living, new, lambda: update_collection(living, [str(new)], way=options.way))
            return
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


def watch_server(living: Path, new: Path, update: Callable[[], object]) -> None:
    """Print how long after the commit of an update a server answers with a new page."""
    url, port = next(pages_of([str(new)])).url, free_port("127.0.0.1")
    server = subprocess.Popen(
        [sys.executable, "-m", "pagekin", "serve", str(living), "--port", str(port)], stdout=subprocess.DEVNULL
    )
    known: dict[str, float] = {}
    longest = 0.0

    def ask(operation: str) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/{operation}",
            json.dumps({"url": url}).encode(),
            {"Content-Type": "application/json"},
        )
        with contextlib.suppress(urllib.error.URLError, ConnectionError), urllib.request.urlopen(request) as answer:
            return dict(json.load(answer))
        return {}

    def watch() -> None:
        nonlocal longest
        while "captured" not in known and server.poll() is None:
            began = time.time()
            if ask("describe").get("page", {}).get("captured"):
                known["captured"] = time.time()
            longest = max(longest, time.time() - began)
            time.sleep(_EVERY)
        ask("related")
        known["related"] = time.time()

    try:
        while server.poll() is None and not is_up(port):
            time.sleep(_EVERY)
        watcher = threading.Thread(target=watch)
        watcher.start()
        update()
        committed = (living / "manifest.json").stat().st_mtime
        watcher.join()
    finally:
        server.terminate()
        server.wait()
    print(f"the server described a new page {known['captured'] - committed:.1f} s after the commit")
    print(f"and had told its related pages {known['related'] - committed:.1f} s after the commit")
    print(f"the longest of all answers took {longest:.1f} s")


def is_up(port: int) -> bool:
    """Return whether a server answers at a port."""
    address = f"http://127.0.0.1:{port}/health"
    with contextlib.suppress(urllib.error.URLError, ConnectionError), urllib.request.urlopen(address):
        return True
    return False


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
