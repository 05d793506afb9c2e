"""`pagekin build` at three sizes: whether time and index grow in step with the pages, and against the paper's index.

    python benchmarks/growth.py CACHE_DIR/docs-60k.warc.gz --out FOLDER [--sizes 10000,30000,0]

The smaller archives are samples of the large one, spread evenly over it so that the mix of pages is the same; they are
written to FOLDER, and used again if they are there. Links lead to more addresses per page in a small sample (two pages
often link to the same ones), and every address has a bag: so time and size are given per page and per address.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType

from pagekin.store import open_kin

TOLERANCE = 0.15
PARTS = {"H (signatures)": ("signature.",), "I (lists)": ("list.",), "bags": ("bag.", "bagterm.")}
PAPER_URLS = 75e6
PAPER_BYTES = {"H (signatures)": 24e9, "I (lists)": 5e9, "bags": 42e9}
"""Section 7 of the 2002 paper: H, I without the URLs that are no answers, and the merged bags."""
PAPER_M = 80
SHARES = ("time per page", "time per address", "index per page", "index per address")


@dataclass(frozen=True)
class Built:
    """One build: what was made, how long each stage took, and what it takes on disk."""

    pages: int
    addresses: int
    seconds: dict[str, float]
    whole: float
    cpu: float
    """Seconds of all processes together: other work on the machine disturbs them less than the clock's."""
    size: dict[str, int]
    m: int

    @property
    def working(self) -> float:
        """Seconds without the workers' start-up, which does not grow."""
        return self.whole - self.seconds["start_up"]


def sample(archive: Path, count: int, out: Path) -> list[int]:
    """Where each of `count` response records (0 for all), spread evenly over a gzipped WARC, begins in the copy `out`.

    Gzip members are copied as they are: each holds one record.
    """
    with archive.open("rb") as stream:
        starts: list[int] = []
        wanted: list[int] = []
        for record in ArchiveIterator(stream, parse_http=False):
            if record.record_type == WarcRecordType.response:
                wanted.append(len(starts))
            starts.append(record.stream_pos)
        starts.append(archive.stat().st_size)
        count = count or len(wanted)
        if len(wanted) < count:
            raise SystemExit(f"{archive} holds {len(wanted):,} pages, not {count:,}")
        begins: list[int] = []
        part = out.with_name(f".{out.name}.part")
        with part.open("wb") as copy:
            for i in range(count):
                place = wanted[i * len(wanted) // count]
                stream.seek(starts[place])
                begins.append(copy.tell())
                copy.write(stream.read(starts[place + 1] - starts[place]))
    part.replace(out)
    return begins


def cpu_seconds() -> float:
    """What this process and those that it started and that have ended have used of the processors."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def build(archive: Path, collection: Path, workers: int = 2, *without: str) -> tuple[dict[str, Any], float, float]:
    """(the summary, seconds by the clock, CPU seconds) of one `pagekin build` in a process of its own."""
    command = [sys.executable, "-m", "pagekin", "build", str(archive), "--json"]
    command += ["--out", str(collection), "--replace", "--workers", str(workers), *without]
    # As on most machines, modules are compiled to bytecode once and not by each process.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started, used = time.perf_counter(), cpu_seconds()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=environment)
    spent, used = time.perf_counter() - started, cpu_seconds() - used
    if done.returncode:
        raise SystemExit(f"building {archive} failed")
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary, spent, used


def measure(archive: Path, folder: Path) -> Built:
    """One build, measured."""
    collection = folder / f"{archive.name}.kin"
    summary, whole, used = build(archive, collection)
    on_disk = open_kin(collection).bytes_on_disk
    size = {
        part: sum(taken for name, taken in on_disk.items() if name.startswith(starts)) for part, starts in PARTS.items()
    }
    size["corpus"] = sum(on_disk.values()) - sum(size.values())
    index = summary["index"]
    m = index["strategy"]["signature"]["m"]
    return Built(summary["pages"], index["bags"], summary["seconds"], whole, used, size, m)


def growth(builds: Sequence[Built], of: str) -> list[float]:
    """How each build's time or size per page or address stands to the smallest build's."""
    what, per = of.split(" per ")
    values = []
    for one in builds:
        amount = one.working if what == "time" else sum(size for part, size in one.size.items() if part != "corpus")
        values.append(amount / (one.pages if per == "page" else one.addresses))
    return [value / values[0] for value in values]


def row(*cells: object) -> None:
    """Print one line of a Markdown table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def report(builds: Sequence[Built]) -> None:
    """Print the tables."""
    print()
    row("", *(f"{one.pages:,} pages" for one in builds))
    row("---", *("---:" for _ in builds))
    row("addresses with a bag", *(f"{one.addresses:,}" for one in builds))
    for stage in builds[0].seconds:
        row(f"{stage.replace('_', '-')}, s", *(f"{one.seconds[stage]:.1f}" for one in builds))
    row("the whole command, s", *(f"{one.whole:.1f}" for one in builds))
    row("the whole command, CPU seconds", *(f"{one.cpu:.1f}" for one in builds))
    for part in builds[0].size:
        row(f"{part}, MB", *(f"{one.size[part] / 1e6:.1f}" for one in builds))
    for of in SHARES:
        row(of, *(f"{share:.2f} x" for share in growth(builds, of)))
    print("\nTimes per page and address are without the start-up.")
    for of in SHARES:
        worst = max((share - 1 for share in growth(builds, of)), key=abs)
        missed = ", missed" if abs(worst) > TOLERANCE else ""
        print(f"{of}: at most {worst:+.0%} from the smallest build (wanted: within {TOLERANCE:.0%}{missed})")
    largest = builds[-1]
    print()
    row("bytes per address", f"pagekin, m = {largest.m}", f"the paper, m = {PAPER_M}", "ratio")
    row("---", "---:", "---:", "---:")
    for part, theirs in PAPER_BYTES.items():
        ours, paper = largest.size[part] / largest.addresses, theirs / PAPER_URLS
        row(part, f"{ours:,.0f}", f"{paper:,.0f}", f"{ours / paper:.2f} x")
    lists = largest.size["I (lists)"] / largest.addresses / largest.m
    paper = PAPER_BYTES["I (lists)"] / PAPER_URLS / PAPER_M
    print(
        f"\nper address and position: H 4 bytes in both; I {lists:.2f} bytes, the paper's {paper:.2f}, which holds only the "
        "URLs that may be answers"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for the samples")
    parser.add_argument("--sizes", default="10000,30000,0", help="pages of each build, 0 for all")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    archives: list[Path] = []
    for size in map(int, options.sizes.split(",")):
        archives.append(options.out / f"sample-{size}.warc.gz" if size else options.archive)
        if size and not archives[-1].exists():
            sample(options.archive, size, archives[-1])
    best: dict[Path, Built] = {}
    with tempfile.TemporaryDirectory(dir=options.out) as scratch:
        build(archives[0], Path(scratch) / "warm.kin")  # compiles the kernels if that was not done yet
        for _ in range(options.rounds):  # interleaved: the machine's speed changes from minute to minute
            for archive in archives:
                made = measure(archive, Path(scratch))
                if archive not in best or made.working < best[archive].working:
                    best[archive] = made
                print(f"{archive.name}: {made.pages:,} pages, {made.whole:.1f} s", file=sys.stderr, flush=True)
    report([best[archive] for archive in archives])


if __name__ == "__main__":
    main()
