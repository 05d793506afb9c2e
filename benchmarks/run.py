"""All benchmarks, one after another: `make bench BENCH_ARGS="--cache FOLDER"`.

Makes the documentation collections first (Debian's packages, some 4 GB with what is unpacked), then prints each table.
Each benchmark can be run by itself, too; its file says how.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def run(*command: str | Path) -> None:
    """Run one step and show its output; stop if it fails."""
    print("$", " ".join(str(part) for part in command), flush=True)
    subprocess.run([sys.executable, *map(str, command)], check=True)


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="where collections are kept between runs")
    cache = parser.parse_args().cache
    run(HERE / "doc_collections.py", "--out", cache)
    run(HERE / "lexer_speed.py", cache / "docs-20k.warc.gz", "--pages", "3000", "--rounds", "3")
    if os.environ.get("PAGEKIN_DATA"):
        run(HERE / "truth.py")
    else:
        print("truth.py is left out: PAGEKIN_DATA is not set")
    run(HERE / "hostile.py")
    run(HERE / "read_scaling.py", cache)
    with tempfile.TemporaryDirectory() as scratch:
        collection = Path(scratch) / "gtk.kin"
        run("-m", "pagekin", "read", cache / "gtk.warc.gz", "--out", collection, "--quiet")
        run(HERE / "stream_sizes.py", collection)
    with tempfile.TemporaryDirectory() as scratch:
        collection = Path(scratch) / "docs-60k.kin"
        run("-m", "pagekin", "build", cache / "docs-60k.warc.gz", "--out", collection, "--quiet")
        run(HERE / "signature_speed.py", collection)
        run(HERE / "query_speed.py", collection)
        run(HERE / "shards.py", collection)
        run(HERE / "recall.py", collection)
        run(HERE / "build_speed.py", cache / "docs-60k.warc.gz", "--rounds", "1")
        run(HERE / "growth.py", cache / "docs-60k.warc.gz", "--out", scratch)


if __name__ == "__main__":
    main()
