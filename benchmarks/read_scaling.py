"""`pagekin read` on one gzipped WARC: one worker against two, time and memory, at two sizes.

    python benchmarks/read_scaling.py CACHE_DIR        # with docs-20k.warc.gz and docs-60k.warc.gz in it

The archives are made by benchmarks/doc_collections.py. Peak memory is the largest resident set of each process, the
merging (parent) process included, sampled twenty times a second.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import psutil


def watch(process: subprocess.Popen[str], peaks: dict[int, int], done: threading.Event) -> None:
    """Note the largest resident set of the process and each of its children."""
    root = psutil.Process(process.pid)
    while not done.wait(0.05):
        try:
            family = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        for member in family:
            try:
                if "resource_tracker" in " ".join(member.cmdline()):
                    continue
                peaks[member.pid] = max(peaks.get(member.pid, 0), member.memory_info().rss)
            except psutil.Error:
                continue


def read(archive: Path, workers: int, folder: Path) -> dict[str, Any]:
    """Read an archive once; the summary, with peak memory per process."""
    command = [sys.executable, "-m", "pagekin", "read", str(archive), "--json"]
    command += ["--out", str(folder / f"{archive.name}-{workers}.kin"), "--workers", str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peaks: dict[int, int] = {}
    done = threading.Event()
    watcher = threading.Thread(target=watch, args=(process, peaks, done))
    watcher.start()
    out, _ = process.communicate()
    done.set()
    watcher.join()
    if process.returncode:
        raise SystemExit(f"reading {archive} failed")
    summary: dict[str, Any] = json.loads(out)
    summary["parent"] = peaks.pop(process.pid) / 2**20
    summary["worker"] = max(peaks.values(), default=0) / 2**20
    return summary


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    print(
        f"{'archive':<20}{'workers':>8}{'start-up s':>11}{'reading s':>10}{'merging s':>10}{'pages/s':>9}"
        f"{'parent MiB':>11}{'worker MiB':>11}"
    )
    reading: dict[tuple[str, int], float] = {}
    memory: dict[tuple[str, int], tuple[float, float]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("docs-20k.warc.gz", "docs-60k.warc.gz"):
            for _ in range(options.rounds):  # interleaved: the machine's speed changes from minute to minute
                for workers in (1, 2):
                    got = read(options.cache / name, workers, Path(scratch))
                    spent = got["seconds"]
                    key = (name, workers)
                    reading[key] = min(reading.get(key, float("inf")), spent["reading"])
                    memory[key] = (got["parent"], got["worker"])
                    print(
                        f"{name:<20}{workers:>8}{spent['start_up']:>11.1f}{spent['reading']:>10.1f}{spent['merging']:>10.1f}"
                        f"{got['html_records'] / spent['reading']:>9,.0f}{got['parent']:>11,.0f}{got['worker']:>11,.0f}",
                        flush=True,
                    )
    for name in ("docs-20k.warc.gz", "docs-60k.warc.gz"):
        print(f"{name}: reading with 2 workers is {reading[name, 1] / reading[name, 2]:.2f} x one (wanted: 1.7 x)")
    for workers, place, what in ((1, 0, "the one process"), (2, 0, "the merging process"), (2, 1, "a worker")):
        small, large = memory["docs-20k.warc.gz", workers][place], memory["docs-60k.warc.gz", workers][place]
        print(f"peak memory of {what}: {small:,.0f} MiB at 20 k pages, {large:,.0f} at 60 k: {large / small - 1:+.0%}")


if __name__ == "__main__":
    main()
