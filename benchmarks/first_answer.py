"""Seconds from a wheel file to the first answer, in an empty environment: with compiled kernels, and without.

    make wheels dist
    python benchmarks/first_answer.py dist/*.whl

For each wheel: an environment is made, the wheel is installed with what it needs (from the package cache, so that no network
is measured), a folder of pages of the demo web is built, and related pages of one of them are asked for.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pagekin import sources

WANTED = 5.0


def main() -> None:
    """Measure each wheel, and print a row for it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("wheels", nargs="+", type=Path)
    options.add_argument("--pages", type=int, default=200, help="pages of the site that is built")
    arguments = options.parse_args()
    print(
        f"{'wheel':<50} {'':<10}{'install':>8} {'build':>8} {'answer':>8} {'in all':>8}   (seconds; {WANTED:g} wanted)"
    )
    for wheel in arguments.wheels:
        with tempfile.TemporaryDirectory() as folder:
            steps = measure(wheel.resolve(), Path(folder), arguments.pages)
        for name, place in (("by clock", 0), ("processor", 1)):
            figures = [step[place] for step in steps]
            cells = "".join(f"{figure:>9.1f}" for figure in (*figures, sum(figures)))
            verdict = "   missed" if sum(figures) > WANTED else ""
            print(f"{'' if place else wheel.name:<50} {name:<10}{cells[1:]}{verdict}")


def measure(wheel: Path, folder: Path, pages: int) -> list[tuple[float, float]]:
    """Return the seconds of installing, building and asking: by the clock, and of all processors."""
    urls = write_site(folder / "site", pages)
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # no newcomer has these
        environment.pop(name, None)

    def run(*commands: Sequence[str]) -> tuple[float, float]:
        began, before = time.perf_counter(), os.times()
        for command in commands:
            subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        return time.perf_counter() - began, spent

    uv = [sys.executable, "-m", "uv"]
    # The package cache of whoever runs this: the environment is empty, the network is not measured.
    cache = subprocess.run([*uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    install = [*uv, "pip", "install", "-q", "--cache-dir", cache, "--python", "env/bin/python", str(wheel)]
    pagekin = str(folder / "env/bin/pagekin")
    return [
        run([*uv, "venv", "-q", "--python", sys.executable, "env"], install),
        run([pagekin, "build", "site", "--base-url", "http://demo.example/", "--out", "site.kin", "-q"]),
        run([pagekin, "related", "site.kin", urls[0]]),
    ]


def write_site(folder: Path, pages: int) -> list[str]:
    """Write pages of the demo web to a folder; return their addresses there."""
    folder.mkdir()
    urls = []
    units = sources.plan_units(["demo"], {}, "")
    items = (item for unit in units for item in sources.read_unit(unit, sources.Limits()))
    for number, item in enumerate(item for item in items if isinstance(item, sources.Page)):
        if number == pages:
            break
        (folder / f"{number}.html").write_bytes(item.html)
        urls.append(f"http://demo.example/{number}.html")
    return urls


if __name__ == "__main__":
    main()
