"""A disk that is full in each stage of a build: what the command says, what is left, and whether it goes on.

    python benchmarks/full_disk.py SOURCE... [--ways build,temporary,shards,...] [--sizes 12] [--leave 0] [--most 4]

Needs Linux and the right to mount. The disk is a tmpfs. Each way (`WAYS`) runs a command there once with room, and then again and
again with a disk that ends too soon:

- *stages*: as a stage begins, the rest of the disk is filled but for some bytes (`--leave`);
- *sizes*: the disk is as large as a share of what the command takes at most.

It holds an old collection beforehand. Each time the command has to end with exit code 3 and a message that names the disk and
says what to do; `pagekin check` has to find the old collection whole, with the same manifest; and after the disk was made larger
the same command has to end well, with the bytes of the undisturbed run. A line tells each time what happened. A command that
ends well on the full disk, as it needs no more, is counted apart.

The way *temporary* has the temporary files on the small disk, and reads a WACZ that is made of the first source.
"""

import argparse
import contextlib
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from growth import row

BAD_INPUT = 3
ROOM = 8 << 30
"""Bytes of a disk with room."""
TOLD = 300
"""Letters of a message that are shown."""
BALLAST = "ballast"
RUNNER = """
import json, os, sys
from contextlib import contextmanager
from pagekin import store
store.load_numba_alone()
import pagekin.cli.app as app
disk, stage_to_fill, leave = os.environ["DISK"], os.environ["FILL"], int(os.environ["LEAVE"])
log = open(os.environ["TOLD_TO"], "w")
filled = False
def tell(stage, share):
    global filled
    log.write(json.dumps([stage, share]) + "\\n")
    log.flush()
    if stage == stage_to_fill and not filled:
        filled = True
        place = os.statvfs(disk)
        size = place.f_bavail * place.f_frsize - leave
        if size > 0:
            with open(os.path.join(disk, "ballast"), "wb") as file:
                os.posix_fallocate(file.fileno(), 0, size)
@contextmanager
def progress_bar(quiet=False):
    yield tell
app.progress_bar = progress_bar
app.main()
"""


@dataclass(frozen=True)
class Way:
    """A command to run on a small disk."""

    name: str
    before: tuple[tuple[str, ...], ...]
    """The commands that make the old collection."""
    command: tuple[str, ...]
    temporary: bool = False
    """Whether the disk holds the temporary files, and not the collection."""


def ways(sources: list[str], memory: str) -> list[Way]:
    """The commands that are tried; OUT is the collection, NEW the last source."""
    demo = ("build", "demo", "--out", "OUT", "--quiet")
    bound = ("--memory", memory) if memory else ()
    built = ("build", *sources, "--out", "OUT", *bound)
    kept = ("build", *sources, "--out", "OUT", "--updatable", "--quiet")
    but_new = ("build", *sources[:-1], "--out", "OUT", "--updatable", "--quiet")
    return [
        Way("build", (demo,), (*built, "--replace")),
        Way("temporary", (demo,), ("build", "WACZ", "--out", "OUT", *bound, "--replace"), temporary=True),
        Way("shards", (demo,), (*built, "--replace", "--shards", "4")),
        Way("index", ((*built, "--no-text", "--no-clusters", "--quiet"),), ("index", "OUT", *bound)),
        Way("cluster", ((*built, "--no-clusters", "--quiet"),), ("cluster", "OUT", *bound)),
        Way("updatable", (demo,), (*built, "--replace", "--updatable")),
        Way("update", (but_new,), ("update", "OUT", sources[-1], "--merge", *bound)),
        Way("delta", (but_new,), ("update", "OUT", sources[-1], "--delta", *bound)),
        Way("compact", (but_new, ("update", "OUT", sources[-1], "--delta", "--quiet")), ("compact", "OUT", *bound)),
        Way("updated shards", ((*kept, "--shards", "3"),), ("update", "OUT", "demo", *bound)),
    ]  # fmt: skip


@contextlib.contextmanager
def small_disk(at: Path, size: int) -> Iterator[None]:
    """Mount a disk of some bytes."""
    at.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},nr_inodes=0", "tmpfs", at], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", at], check=True)


def pack(source: Path, wacz: Path) -> None:
    """Make a WACZ of a gzipped archive, whose members are read by way of the temporary disk."""
    with (
        gzip.open(source, "rb") as records,
        zipfile.ZipFile(wacz, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("archive/a.warc", "w") as member,
    ):
        shutil.copyfileobj(records, member)


def resize(at: Path, size: int) -> None:
    """Make a mounted disk larger or smaller."""
    subprocess.run(["mount", "-o", f"remount,size={size}", at], check=True)


def used(at: Path) -> int:
    """Bytes in use on a disk."""
    place = os.statvfs(at)
    return (place.f_blocks - place.f_bfree) * place.f_frsize


class Peak:
    """The most bytes that a disk held while something ran."""

    def __init__(self, at: Path) -> None:
        self.at, self.bytes = at, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.02):
            self.bytes = max(self.bytes, used(self.at))


def digest(out: Path) -> str:
    """A digest of what a collection's manifests and lists say, which have checksums of all else."""
    said = hashlib.blake2b(digest_size=8)
    for file in sorted(out.rglob("manifest.json")):
        if any(part.startswith((".", "resume")) for part in file.relative_to(out).parts[:-1]):
            continue
        said.update(str(file.relative_to(out)).encode() + file.read_bytes())
    return said.hexdigest()


@dataclass
class Trial:
    """One way, on its disk."""

    way: Way
    disk: Path
    elsewhere: Path
    prepared: Path

    @property
    def out(self) -> Path:
        """The collection."""
        return (self.elsewhere if self.way.temporary else self.disk) / "a.kin"

    def run(self, command: tuple[str, ...], fill: str = "", leave: int = 0) -> tuple[int, str, list[tuple[str, float]]]:
        """(exit code, what it said, the stages that it told of) of a command."""
        told_to = self.elsewhere / "stages"
        environment = {**os.environ, "DISK": str(self.disk), "FILL": fill, "LEAVE": str(leave), "TOLD_TO": str(told_to)}
        if self.way.temporary:
            environment["TMPDIR"] = str(self.disk)
        places = {"OUT": str(self.out), "WACZ": str(self.elsewhere / "a.wacz")}
        arguments = [places.get(word, word) for word in command]
        done = subprocess.run(
            [sys.executable, "-c", RUNNER, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        stages = [tuple(json.loads(line)) for line in told_to.read_text().splitlines()] if told_to.exists() else []
        return done.returncode, done.stderr.strip(), stages

    def prepare(self) -> None:
        """Put the old collection in its place."""
        shutil.rmtree(self.out, ignore_errors=True)
        (self.disk / BALLAST).unlink(missing_ok=True)
        if not self.prepared.exists():
            for command in self.way.before:
                code, said, _ = self.run(command)
                assert code == 0, said
            shutil.copytree(self.out, self.prepared)
        else:
            shutil.copytree(self.prepared, self.out)

    def attempt(self, what: str, wanted: str, fill: str = "", leave: int = 0) -> bool | None:
        """Run the command where it may run out of disk, judge, and go on; None if it ended well at once."""
        before = digest(self.out)
        code, said, stages = self.run(self.way.command, fill, leave)
        where = stages[-1][0] if stages else "before the first stage"
        faults = []
        if code == 0:
            faults += [] if digest(self.out) == wanted else ["other bytes"]
        else:
            named = str(self.disk) in said and ("full" in said or "GB free" in said)
            faults += [] if code == BAD_INPUT else [f"exit code {code}"]
            faults += [] if named else ["does not name the disk"]
            faults += [] if "room" in said else ["does not say what to do"]
            faults += ["looks like a bug"] if "Traceback" in said or "bug in Pagekin" in said else []
            faults += [] if digest(self.out) == before else ["the old collection has changed"]
            checked, found, _ = self.run(("check", "OUT"))
            faults += [] if checked == 0 else [f"check: {found[:TOLD]}"]
            (self.disk / BALLAST).unlink(missing_ok=True)
            resize(self.disk, ROOM)
            again, then, more = self.run(self.way.command)
            faults += [] if again == 0 else [f"does not go on: {then[:TOLD]}"]
            faults += [] if digest(self.out) == wanted else ["other bytes after going on"]
            first = more[0][0] if more else ""
            row(self.way.name, what, where, str(code), "; ".join(faults) or "right", f"goes on with {first}")
        if code == 0:
            row(self.way.name, what, "ended well", "0", "; ".join(faults) or "right", "")
        if code and faults:
            print(f"    said: {said[-TOLD:]}", flush=True)
        return None if code == 0 and not faults else not faults


def try_way(way: Way, folder: Path, source: Path, sizes: int, leaves: list[int], most: int) -> list[bool | None]:
    """Try one way in all its stages, and with disks of several sizes."""
    disk, elsewhere = folder / "disk", folder / "elsewhere"
    elsewhere.mkdir()
    if way.temporary:
        pack(source, elsewhere / "a.wacz")
    trial = Trial(way, disk, elsewhere, folder / "prepared")
    outcomes = []
    with small_disk(disk, ROOM):
        trial.prepare()
        at_first = used(disk)
        with Peak(disk) as peak:
            code, said, stages = trial.run(way.command)
        assert code == 0, said
        wanted = digest(trial.out)
        names = list(dict.fromkeys(stage for stage, _ in stages))
        print(
            f"{way.name}: {at_first / 1e6:.0f} MB before, {peak.bytes / 1e6:.0f} MB at most; {', '.join(names)}",
            flush=True,
        )
        step = -(-len(names) // most) if most else 1
        for stage in names[step // 2 :: step]:
            for leave in leaves:
                resize(disk, ROOM)
                trial.prepare()
                resize(disk, used(disk) + (512 << 20) + 2 * peak.bytes)
                outcomes.append(trial.attempt(f"full as {stage} begins, {leave / 1e6:g} MB left", wanted, stage, leave))
        for number in range(sizes):
            share = (number + 0.5) / sizes
            resize(disk, ROOM)
            trial.prepare()
            resize(disk, round(used(disk) + share * max(peak.bytes - at_first, 0)))
            outcomes.append(trial.attempt(f"{share:.0%} of {(peak.bytes - at_first) / 1e6:.0f} MB", wanted))
    return outcomes


def main() -> None:
    """Print a line for each attempt."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--ways", default="", help="only these, with commas between")
    parser.add_argument("--sizes", type=int, default=12)
    parser.add_argument("--leave", default="0,300000", help="bytes that are left free as a stage begins")
    parser.add_argument("--most", type=int, default=0, help="so many stages of each way at most, spread evenly")
    parser.add_argument("--memory", default="")
    options = parser.parse_args()
    chosen = options.ways.split(",") if options.ways else None
    row("command", "disk", "stopped in", "exit code", "judged", "then")
    row("---", "---", "---", "---:", "---", "---")
    outcomes = []
    for way in ways([str(Path(source).absolute()) for source in options.sources], options.memory):
        if chosen is None or way.name in chosen:
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                outcomes += try_way(
                    way, Path(folder), Path(options.sources[0]), options.sizes,
                    [int(leave) for leave in options.leave.split(",")], options.most,
                )  # fmt: skip
    right, wrong, well = (sum(outcome is one for outcome in outcomes) for one in (True, False, None))
    print(f"{right} times right, {wrong} wrong, {well} ended well")


if __name__ == "__main__":
    main()
