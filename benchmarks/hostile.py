"""Input made to be costly, beside random input of the same size: words, orders of words, archives that grow.

    python benchmarks/hostile.py            # some seconds; needs a few hundred MB of the temporary disk

Words and orders are chosen against what Pagekin once used: a table of words with a fixed hash and linear probing, and a
quicksort by the median of three. Each archive holds good pages before and after what grows; they must be kept.
"""

import argparse
import gzip
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789"
FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""What the old table multiplied a word's first eight bytes with."""
MIB = 1 << 20


# -- words and orders ---------------------------------------------------------------------------------------------------


def colliding_words(count: int, bits: int = 19) -> list[bytes]:
    """Return words of eight letters whose products with FACTOR begin with `bits` zeros: one place of the old table."""
    four = np.array([int.from_bytes(bytes(some), "little") for some in product(LETTERS, repeat=4)], dtype=np.uint64)
    low = four * FACTOR
    by_product = np.argsort(low)
    rising = low[by_product]
    words: list[bytes] = []
    for high in four.tolist():
        # What the product of the low half must be, or a little more; modulo 2^64.
        least = -(high << 32) * int(FACTOR) % (1 << 64)
        first, last = np.searchsorted(
            rising, np.array([least, min(least + (1 << (64 - bits)), (1 << 64) - 1)], np.uint64)
        )
        words += [
            int(four[by_product[place]]).to_bytes(4, "little") + high.to_bytes(4, "little")
            for place in range(first, last)
        ]
        if len(words) >= count:
            break
    return words[:count]


def random_words(count: int, seed: int = 1) -> list[bytes]:
    """Return distinct words of eight letters."""
    random = np.random.default_rng(seed)
    letters = np.frombuffer(LETTERS, dtype=np.uint8)
    words: dict[bytes, None] = {}
    while len(words) < count:
        words.update(dict.fromkeys(map(bytes, letters[random.integers(0, len(letters), (count, 8))])))
    return list(words)[:count]


def order_against_quicksort(count: int) -> list[int]:
    """Return an order of 0..count-1 in which the median of three is always the second least: n² / 4 comparisons."""
    ranks = [0] * count
    at = list(range(count))
    low, high, rank = 0, count - 1, 0
    while high - low >= 16:
        middle = (low + high) >> 1
        ranks[at[low]], ranks[at[middle]] = rank, rank + 1
        # What a partition moves: the pivot to the second place, what stood there to the end.
        at[middle], at[high] = at[high], at[low + 1]
        low, rank = low + 2, rank + 2
    for place in range(low, high + 1):
        ranks[at[place]] = rank
        rank += 1
    return ranks


def processor_seconds(work: Callable[[], object], rounds: int = 3) -> float:
    """Return the least processor time of a few rounds."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
        if times[-1] > 5:
            break
    return min(times)


def compare_words(count: int) -> Iterator[tuple[Any, ...]]:
    """Yield (what, seconds of random input, seconds of chosen input) for the word table, the sorts and a whole page."""
    from pagekin.hypertext import Lexer
    from pagekin.hypertext.part import PartBuilder
    from pagekin.sources import Limits, Page

    limits = Limits(tokens=max(500_000, count))

    def lex(words: list[bytes]) -> Callable[[], object]:
        page = b" ".join(words)
        return lambda: Lexer(limits).lex([page])

    def store(words: list[bytes]) -> Callable[[], object]:
        page = Page("http://hostile.example/", b" ".join(words))

        def work() -> None:
            builder = PartBuilder(Lexer(limits), limits)
            builder.take(page)
            with tempfile.TemporaryDirectory() as folder:
                builder.write(Path(folder) / "part")

        return work

    plain, chosen = random_words(count), colliding_words(count)
    lex(plain[:100])()
    store(plain[:100])()
    yield f"{count:,} words into the table", processor_seconds(lex(plain)), processor_seconds(lex(chosen))
    links = [[b"<a href=" + word + b">x</a>" for word in words] for words in (plain[:50_000], chosen[:50_000])]
    yield f"{len(links[0]):,} addresses into the table", *(processor_seconds(lex(some)) for some in links)
    yield f"{count:,} words into a part", processor_seconds(store(plain)), processor_seconds(store(chosen))
    some = sorted(plain[:60_000])
    killing = [some[rank] for rank in order_against_quicksort(len(some))]
    yield f"{len(some):,} words sorted", processor_seconds(sorting(plain[:60_000])), processor_seconds(sorting(killing))
    yield (
        f"{len(some):,} words' postings",
        processor_seconds(posting(plain[:60_000])),
        processor_seconds(posting(killing)),
    )


def sorting(words: list[bytes]) -> Callable[[], object]:
    """Return the work of sorting words."""
    from pagekin.hypertext.part import _PADDING, _sort_strings
    from pagekin.store import pack_strings

    packed = pack_strings([*words, _PADDING])
    _sort_strings(*pack_strings([b"warm", b"up", _PADDING]))
    return lambda: _sort_strings(*packed)


def posting(words: list[bytes]) -> Callable[[], object]:
    """Return the work of making the full-text index of one page of words."""
    from pagekin.hypertext import Corpus, ReadPlan, read_sources
    from pagekin.store import KinWriter
    from pagekin.text import make_text

    kept = tempfile.TemporaryDirectory(prefix="hostile-")
    folder = Path(kept.name)
    (folder / "site").mkdir()
    (folder / "site" / "page.html").write_bytes(b" ".join(words))
    read_sources(ReadPlan([str(folder / "site")], folder / "site.kin"))
    corpus = Corpus.open(folder / "site.kin")

    def work() -> None:
        with KinWriter(Path(kept.name) / "text.kin", "benchmark") as writer:
            make_text(writer, corpus)

    work()
    return work


# -- archives that grow -------------------------------------------------------------------------------------------------


def record(url: str, body: bytes, length: int = -1) -> bytes:
    """Return the WARC record of a page; of its beginning, if `length` says that its body goes on."""
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(http) if length < 0 else len(http) - len(body) + length}\r\n\r\n"
    )
    return head.encode() + http + (b"\r\n\r\n" if length < 0 else b"")


def good(number: int) -> bytes:
    """Return the record of a small page."""
    return record(f"http://good.example/{number}", b"<title>Good %d</title><p>A page that must be kept." % number)


def growing(head: bytes, block: bytes, times: int, wbits: int) -> tuple[bytes, int, int]:
    """Return (compressed, CRC, size) of `head` and `block` many times, at the cost of compressing both once."""
    first, again = zlib.compressobj(9, wbits=wbits), zlib.compressobj(9, wbits=-15)
    start = first.compress(head) + first.flush(zlib.Z_FULL_FLUSH)
    repeated = again.compress(block) + again.flush(zlib.Z_FULL_FLUSH)
    crc = zlib.crc32(head)
    for _ in range(times):
        crc = zlib.crc32(block, crc)
    size = len(head) + times * len(block)
    return start + repeated * times + b"\x03\x00", crc, size


def growing_member(size: int, said: int = -1) -> bytes:
    """Return a gzip member that holds one record of `size` bytes of nothing, or `said` bytes by its header."""
    times = size // MIB
    head = record("http://bomb.example/", b"", times * MIB if said < 0 else said)
    data, crc, whole = growing(head, bytes(MIB), times, 31)
    return data + struct.pack("<II", crc, whole & 0xFFFFFFFF)


def write_warc(path: Path, bomb: bytes, last: bool = False) -> None:
    """Write a .warc.gz with two good pages, and a member that grows between them, or last of all."""
    first, second = gzip.compress(good(1)), gzip.compress(good(2))
    path.write_bytes(first + second + bomb if last else first + bomb + second)


def growing_body(size: int) -> bytes:
    """Return a gzip member of a record whose body is compressed and grows to `size`."""
    times = size // MIB
    data, crc, whole = growing(b"<title>Bomb</title>", b" " * MIB, times, 31)
    body = data + struct.pack("<II", crc, whole & 0xFFFFFFFF)
    return gzip.compress(record("http://bomb.example/", body), 0)


def write_wacz(path: Path, size: int, ratio: int) -> None:
    """Write a WACZ of two WARC files: one grows to `size` bytes, `ratio` times; the other is good."""
    random = np.random.default_rng(1).bytes(max(0, MIB // ratio - 1040))
    times = size // MIB
    head = good(1) + record("http://bomb.example/", b"", times * MIB)
    entries = [
        ("archive/a.warc", *growing(head, random + bytes(MIB - len(random)), times, -15)),
        ("archive/b.warc", *growing(good(2), b"", 0, -15)),
    ]
    with path.open("wb") as file:
        listed = b""
        for name, data, crc, whole in entries:
            fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(data), whole, len(name), 0)
            listed += b"PK\1\2" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, file.tell())
            listed += name.encode()
            file.write(b"PK\3\4" + fields + name.encode() + data)
        start = file.tell()
        file.write(listed + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 2, 2, len(listed), start, 0))


def read_archive(path: Path, most_seconds: int = 600) -> tuple[str, float, float, float]:
    """Read an archive in a process of its own; return (what came of it, seconds, MB of memory, MB of temporary disk)."""
    child = (
        "import json, sys, time\n"
        "from pagekin.sources import Limits, Page, Skip, plan_units, read_unit\n"
        "import fastwarc\n"
        "peak = lambda: int(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]) / 1024\n"
        "before = peak()\n"
        "started = time.perf_counter()\n"
        "items = [i for u in plan_units([sys.argv[1]], {}) for i in read_unit(u, Limits())]\n"
        "seconds = time.perf_counter() - started\n"
        "pages = [i.url for i in items if isinstance(i, Page) and 'good' in i.url]\n"
        "skips = [i.reason for i in items if isinstance(i, Skip)]\n"
        "print(json.dumps([len(pages), skips, seconds, peak() - before]))\n"
    )
    with tempfile.TemporaryDirectory() as scratch:
        process = subprocess.Popen(
            [sys.executable, "-c", child, str(path)], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": scratch}
        )  # fmt: skip
        disk, deadline = 0.0, time.monotonic() + most_seconds
        while process.poll() is None:
            # Temporary files have no name: what their disk lost is what they hold.
            for handle in Path(f"/proc/{process.pid}/fd").glob("*"):
                try:
                    if scratch in str(handle.readlink()):
                        disk = max(disk, handle.stat().st_size)
                except OSError:
                    continue
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(0.02)
        out = process.stdout.read() if process.stdout else ""
    if process.returncode:
        return f"ended with {process.returncode}", float(most_seconds), 0.0, disk / 1e6
    pages, skips, seconds, memory = json.loads(out)
    return f"{pages} good pages, {', '.join(sorted(set(skips))) or 'nothing skipped'}", seconds, memory, disk / 1e6


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--grow", type=float, default=3.0, help="GB that the record of the .warc.gz grows to")
    options = parser.parse_args()
    print(f"{'processor time':<34}{'random s':>10}{'chosen s':>10}{'times':>8}")
    for what, plain, chosen in compare_words(options.words) if options.words else []:
        print(f"{what:<34}{plain:>10.3f}{chosen:>10.3f}{chosen / plain:>8.2f}")
    print(f"\n{'archive':<34}{'MB':>7}{'seconds':>9}{'memory MB':>11}{'disk MB':>9}  outcome")
    size = int(options.grow * 1e9)
    with tempfile.TemporaryDirectory() as folder:
        cases: dict[str, Callable[[Path], None]] = {
            "record.warc.gz": lambda path: write_warc(path, growing_member(size)),
            "last record.warc.gz": lambda path: write_warc(path, growing_member(size), last=True),
            "record of a wrong length.warc.gz": lambda path: write_warc(path, growing_member(size, 1_000)),
            "cut record.warc.gz": lambda path: write_warc(path, growing_member(size)[:-1_000], last=True),
            "compressed body.warc.gz": lambda path: write_warc(path, growing_body(size)),
            "WACZ, 230 times.wacz": lambda path: write_wacz(path, 4_290_000_000, 230),
            "WACZ, 1,000 times.wacz": lambda path: write_wacz(path, 4_290_000_000, 1_000),
        }
        for name, write in cases.items():
            path = Path(folder) / name
            write(path)
            outcome, seconds, memory, disk = read_archive(path)
            packed = path.stat().st_size / 1e6
            print(f"{name.partition('.')[0]:<34}{packed:>7.1f}{seconds:>9.2f}{memory:>11.0f}{disk:>9.0f}  {outcome}")
            path.unlink()
    print(f"\nlargest memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


if __name__ == "__main__":
    main()
