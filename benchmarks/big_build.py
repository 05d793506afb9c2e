"""The whole default build of many pages: rate, processor time and memory of each stage, bytes per page.

    python benchmarks/big_build.py FOLDER [--out big.kin] [--workers 2] [--memory 1G] [--no-clusters] [--no-text]
        [--cluster-set sample=30000]

Each folder in FOLDER is a site, http://NAME.example/, as of HTML from packages of documentation:

    for p in vtk9-doc rust-doc rust-web-doc trilinos-doc petsc3.18-doc openjdk-17-doc libgtk-4-doc …; do
        apt-get download $p && mkdir FOLDER/$p && dpkg-deb --fsys-tarfile ${p}_*.deb | tar -x -C FOLDER/$p --wildcards '*.html'
    done

benchmarks/meter.py says what memory is; the first table's last column says where the program was when a stage had most.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from growth import row
from meter import Meter, Spent, processor_seconds
from pagekin.bags import Strategy
from pagekin.clusters import choose_clusters
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.store import MemoryBudget, parse_size

WANTED_PAGES, WANTED_MB = 600, 20
"""Pages and megabytes of HTML each second on two cores."""
PARTS = {
    "read": ("starting", "reading", "merging"),
    "index": ("words", "windows", "bags", "weighing", "signing", "lists"),
    "text": ("forms", "postings"),
    "clusters and names": ("neighbours", "clusters", "joining", "names"),
    "label and thesaurus": ("topics", "label"),
}


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, help="keep the collection here")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="", help="stay within it, as pagekin build --memory does")
    parser.add_argument("--no-clusters", action="store_true", help="make no clusters, names and labels")
    parser.add_argument("--no-text", action="store_true", help="make no full-text index")
    parser.add_argument("--cluster-set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    sites = sorted(path for path in options.folder.iterdir() if path.is_dir())
    bases = {str(path): f"http://{path.name.replace('+', 'p').lower()}.example/" for path in sites}
    with tempfile.TemporaryDirectory() as scratch, Meter() as meter:
        out = options.out or Path(scratch) / "big.kin"
        memory = MemoryBudget(parse_size(options.memory) if options.memory else 0)
        plan = ReadPlan([str(path) for path in sites], out, workers=options.workers, base_urls=bases, memory=memory)
        clusters = None if options.no_clusters else choose_clusters(settings=options.cluster_set)
        started, used = time.perf_counter(), processor_seconds(os.getpid())
        built = build_collection(
            plan, BuildRecipe(Strategy(), clusters, text=not options.no_text), meter.tell, note=print
        )
        whole = Spent(time.perf_counter() - started, processor_seconds(os.getpid()) - used)
    pages, html = built.facts["pages"], built.facts["html_bytes"]
    tree = built.facts["trees"][0] if clusters else {}
    print(
        f"{pages:,} pages of {len(sites)} sites, {html / 1e9:.2f} GB of HTML, {built.facts['words']:,} words, "
        f"{built.facts['urls']:,} addresses; {options.workers} workers; clusters of {tree.get('sampled') or pages:,} pages\n"
    )
    row("stage", "seconds", "processor seconds", "pages/s", "MB of HTML/s", "peak memory, MB", "where")
    row("---", *["---:"] * 5, "---")
    whole.peak, whole.where = max((spent.peak, spent.where) for spent in meter.stages.values())
    for stage, spent in [*meter.stages.items(), ("whole build", whole)]:
        if spent.seconds >= 0.05:
            row(
                stage, f"{spent.seconds:.1f}", f"{spent.cpu:.1f}", f"{pages / spent.seconds:,.0f}",
                f"{html / 1e6 / spent.seconds:,.1f}", f"{spent.peak / 1e6:,.0f}", spent.where,
            )  # fmt: skip
    print()
    row("part", "processor seconds", "pages per processor second")
    row("---", "---:", "---:")
    named = {stage for stages in PARTS.values() for stage in stages}
    others = tuple(stage for stage in meter.stages if stage not in named)
    for part, stages in {**PARTS, f"others ({', '.join(others)})": others}.items():
        cpu = sum(meter.stages[stage].cpu for stage in stages if stage in meter.stages)
        row(part, f"{cpu:.1f}", f"{pages / max(cpu, 1e-9):,.0f}")
    rate, volume = pages / whole.seconds, html / 1e6 / whole.seconds
    size = sum(built.bytes_on_disk.values())
    missed = "" if rate >= WANTED_PAGES and volume >= WANTED_MB else ", missed"
    print(
        f"\n{rate:,.0f} pages/s and {volume:.1f} MB of HTML/s (wanted: {WANTED_PAGES} and {WANTED_MB}{missed}); "
        f"{pages * options.workers / whole.cpu:,.0f} pages/s if {options.workers} cores were busy with it alone all the time; "
        f"{size / pages:,.0f} bytes per page on disk"
    )


if __name__ == "__main__":
    main()
