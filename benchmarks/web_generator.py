"""A made-up web of any size, whose figures are those of a real collection: for benchmarks of scale.

    python benchmarks/web_generator.py --addresses 100000 --out web.warc [--like SITE.kin] [--seed 1]
    python benchmarks/web_generator.py --measure SITE.kin

Words follow Zipf's law, half of them from the vocabulary of the page's topic; pages have log-normal numbers of words and links;
links prefer the page's own host and topic, and within these few pages that get most; they say the title of the page that they
lead to, with words of the citing page's topic around them. Hosts have power-law sizes and a template of their own. Some pages are
near-copies of others. A third of the addresses are captured, the others are only linked to.

`--like` takes the figures from a collection; `--measure` prints them, of real and made-up collections alike. Every page is made
from the seed and its own number alone, so pages stream, memory does not grow, and the same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus

Numbers = npt.NDArray[np.int64]
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
_TEMPLATE_LINKS = 6
_MOST_LINKS = 2_000


@dataclass(frozen=True)
class WebFigures:
    """What a made-up web has in common with a real one."""

    words: float = 300.0
    """The median number of words of a page."""
    words_spread: float = 0.7
    """The standard deviation of its logarithm."""
    zipf: float = 1.0
    """The exponent of words' frequencies by rank."""
    links: float = 10.0
    """The median number of links of a page, without those of the template."""
    links_spread: float = 0.9
    inside: float = 0.6
    """The share of links to pages of the same host."""
    popular: float = 0.5
    """The exponent by which pages get fewer links, by rank."""
    captured: float = 1 / 3
    """The share of addresses whose pages there are."""
    copies: float = 0.05
    """The share of pages that are near-copies of another."""
    largest_host: float = 0.0
    """The share of all addresses that the first host has; 0 for what follows from the power law."""
    hub: float = 0.0
    """The share of links that lead to one address, the last, each with words of its own."""


def mix(*numbers: int) -> int:
    """Return a number of 64 bits that depends on all of some numbers."""
    z = 0
    for number in numbers:
        z = (z ^ number) * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019 & 0xFFFFFFFFFFFFFFFF
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        z ^= z >> 31
    return z


def spell(number: int) -> str:
    """Return a word that can be spoken; small numbers have short ones."""
    word = ""
    number += len(_SYLLABLES)
    while number:
        number, digit = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[digit]
    return word


class MadeWeb:
    """A web of some addresses; each page can be made by itself."""

    def __init__(self, addresses: int, figures: WebFigures, seed: int = 1) -> None:
        self.addresses, self.figures, self.seed = addresses, figures, seed
        self.vocabulary = [spell(number) for number in range(int(2_000 + 250 * addresses**0.55))]
        self.topics = max(8, int(addresses**0.5 / 4))
        hosts = max(2, int(addresses**0.5 / 3))
        sizes = np.arange(1, hosts + 1) ** -0.9
        if figures.largest_host:
            sizes[0] = sizes[1:].sum() * figures.largest_host / (1 - figures.largest_host)
        self.starts: Numbers = np.concatenate([[0], np.round(np.cumsum(sizes / sizes.sum()) * addresses)]).astype(
            np.int64
        )
        """Where the addresses of each host begin."""

    def host(self, address: int) -> int:
        """Return the host of an address."""
        return int(np.searchsorted(self.starts, address, side="right")) - 1

    def topic(self, address: int) -> int:
        """Return the topic of an address."""
        return address % self.topics

    def url(self, address: int) -> str:
        """Return an address as text."""
        host, folder = self.vocabulary[100 + self.host(address)], self.vocabulary[self.topic(address)]
        return f"http://www.{host}.example/{folder}/{address}.html"

    def is_captured(self, address: int) -> bool:
        """Return whether there is a page."""
        return mix(self.seed, 1, address) < self.figures.captured * 2.0**64

    def _words(self, rng: np.random.Generator, topic: int, count: int) -> list[str]:
        """Return words by Zipf's law: half of them, by turns of chance, from the topic's own order of the vocabulary."""
        size, s = len(self.vocabulary), self.figures.zipf
        u = rng.random(count)
        # The inverse of the distribution of ranks whose frequencies fall with the exponent s.
        ranks = size**u if abs(s - 1) < 1e-3 else (1 + u * (size ** (1 - s) - 1)) ** (1 / (1 - s))
        places = np.minimum(ranks.astype(np.int64), size) - 1
        own = (places * 48_271 + 7_919 * (topic + 1)) % size
        chosen = np.where((rng.random(count) < 0.5) & (places > 50), own, places)
        vocabulary = self.vocabulary
        return [vocabulary[place] for place in chosen.tolist()]

    def title(self, address: int) -> str:
        """Return the title of a page."""
        rng = np.random.default_rng([self.seed, 2, address])
        size = len(self.vocabulary)
        own = (50 + rng.integers(0, size // 4, 3)) * 48_271 + 7_919 * (self.topic(address) + 1)
        return " ".join(self.vocabulary[place] for place in (own % size).tolist())

    def _words_of_link(self, address: int, place: int) -> str:
        """Return words for one link alone: without a random generator, as there may be a million of them."""
        words, size = mix(self.seed, 7, address, place), len(self.vocabulary)
        return " ".join(self.vocabulary[(words >> shift) % size] for shift in (0, 20, 40))

    def _targets(self, rng: np.random.Generator, address: int, count: int) -> Numbers:
        """Return where the links of a page lead to."""
        host = self.host(address)
        first, last = int(self.starts[host]), int(self.starts[host + 1])
        fame = rng.random(count) ** (1 / (1 - self.figures.popular))
        inside = first + (fame * (last - first)).astype(np.int64)
        of_topic = self.topic(address) + self.topics * (fame * (self.addresses // self.topics)).astype(np.int64)
        anywhere = (fame * self.addresses).astype(np.int64)
        outside = np.where(rng.random(count) < 0.6, np.minimum(of_topic, self.addresses - 1), anywhere)
        chosen = np.where(rng.random(count) < self.figures.inside, inside, outside)
        if self.figures.hub:
            chosen[rng.random(count) < self.figures.hub] = self.addresses - 1
        return chosen

    def page(self, address: int) -> str:
        """Return the page of an address as HTML."""
        source = address
        if address and mix(self.seed, 3, address) < self.figures.copies * 2.0**64:
            source = mix(self.seed, 4, address) % address
            while source and not self.is_captured(source):
                source -= 1
        rng = np.random.default_rng([self.seed, 5, source])
        figures, topic, host = self.figures, self.topic(source), self.host(address)
        words = self._words(
            rng, topic, max(5, round(figures.words * math.exp(figures.words_spread * rng.standard_normal())))
        )
        links = self._targets(
            rng, source, min(_MOST_LINKS, round(figures.links * math.exp(figures.links_spread * rng.standard_normal())))
        )
        if source != address:
            words[:: 50 + address % 50] = self._words(
                np.random.default_rng([self.seed, 6, address]), topic, len(words[:: 50 + address % 50])
            )
        first, last = int(self.starts[host]), int(self.starts[host + 1])
        menu = " ".join(
            f'<a href="{self.url(first + place * (last - first) // _TEMPLATE_LINKS)}">{self.vocabulary[300 + place]}</a>'
            for place in range(_TEMPLATE_LINKS)
        )
        step = max(1, len(words) // (len(links) + 1))
        pieces = []
        for place, target in enumerate(links.tolist()):
            pieces += words[place * step : (place + 1) * step]
            is_hub = self.figures.hub and target == self.addresses - 1
            text = self._words_of_link(address, place) if is_hub else self.title(target)
            pieces.append(f'<a href="{self.url(target)}">{text}</a>')
        pieces += words[len(links) * step :]
        paragraphs = "</p>\n<p>".join(" ".join(pieces[at : at + 60]) for at in range(0, len(pieces), 60))
        return (
            f"<html><head><title>{self.title(source)}</title></head><body><div class=menu>{menu}</div>\n"
            f"<h1>{self.title(source)}</h1>\n<p>{paragraphs}</p>\n"
            f"<div>{self.vocabulary[400 + host % 500]} contact page</div></body></html>\n"
        )

    def records(self) -> Iterator[bytes]:
        """Yield the pages as records of a web archive."""
        for address in range(self.addresses):
            if self.is_captured(address):
                block = (
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + self.page(address).encode()
                )
                head = (
                    f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {self.url(address)}\r\n"
                    "WARC-Date: 2020-01-01T00:00:00Z\r\n"
                    f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
                )
                yield head.encode() + block + b"\r\n\r\n"


def measure(path: Path) -> WebFigures:
    """Return the figures of a collection."""
    corpus = Corpus.open(path)
    words = np.maximum(np.diff(np.asarray(corpus.pages.tokens, np.int64)), 1)
    links = np.diff(np.asarray(corpus.pages.anchors, np.int64))
    counts = np.sort(np.asarray(corpus.kin["term.count"], np.float64))[::-1]
    ranks = np.arange(1, len(counts) + 1)
    middle = slice(10, max(20, len(counts) // 50))
    zipf = -np.polyfit(np.log(ranks[middle]), np.log(counts[middle]), 1)[0]
    inlinks = np.sort(np.diff(np.asarray(corpus.kin["inlink.offsets"], np.int64)))[::-1].astype(float)
    inlinks = inlinks[inlinks > 0]
    places = np.arange(1, len(inlinks) + 1)
    tail = slice(5, max(10, len(inlinks) // 10))
    popular = -np.polyfit(np.log(places[tail]), np.log(inlinks[tail]), 1)[0]
    hosts = np.array(
        [
            corpus.url(number).split("/", 3)[2]
            for number in range(0, len(corpus.urls), max(1, len(corpus.urls) // 20_000))
        ]
    )
    several = len(set(hosts.tolist())) > 1
    return WebFigures(
        words=float(np.median(words)), words_spread=float(np.std(np.log(words))), zipf=float(zipf),
        links=max(float(np.median(links)) - _TEMPLATE_LINKS, 1.0), links_spread=float(np.std(np.log(np.maximum(links, 1)))),
        inside=_share_inside(corpus) if several else 0.6, popular=min(max(float(popular), 0.1), 0.9),
        captured=len(corpus) / max(len(corpus.urls), 1), copies=_share_of_copies(corpus),
    )  # fmt: skip


def _share_inside(corpus: Corpus) -> float:
    """Return the share of links that stay on their host, of some pages."""
    inside = every = 0
    for page in range(0, len(corpus), max(1, len(corpus) // 300)):
        host = corpus.page_url(page).split("/", 3)[2]
        for anchor in corpus.anchors_out(page):
            inside += corpus.url(int(corpus.anchors.target[anchor])).split("/", 3)[2] == host
            every += 1
    return inside / max(every, 1)


def _share_of_copies(corpus: Corpus) -> float:
    """Return the share of pages that are copies of another, of the first 20,000."""
    from pagekin.bags import CopyIndex, copy_sketches, has_sketches

    if not has_sketches(corpus.kin):
        return 0.05
    heads = np.array(CopyIndex(np.asarray(copy_sketches(corpus.kin)[:20_000])).fold())
    return float(np.mean(heads != np.arange(len(heads))))


def main() -> None:
    """Write a web, or print the figures of a collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--addresses", type=int, default=100_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--like", type=Path, help="take the figures of this collection")
    parser.add_argument("--measure", type=Path, help="print the figures of this collection, and do nothing")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(asdict(measure(given.measure)), indent=1))
        return
    if not given.out or given.addresses < 1_000:
        parser.error("give --out FILE.warc, and 1,000 --addresses or more")
    figures = replace(measure(given.like), captured=1 / 3) if given.like else WebFigures()
    web = MadeWeb(given.addresses, figures, given.seed)
    started, pages, size = time.perf_counter(), 0, 0
    with given.out.open("wb") as stream:
        for record in web.records():
            stream.write(record)
            pages, size = pages + 1, size + len(record)
            if not pages % 10_000:
                print(
                    f"{pages:,} pages, {size / 1e6:,.0f} MB, {pages / (time.perf_counter() - started):,.0f} pages/s",
                    file=sys.stderr,
                )
    print(f"{given.out}: {given.addresses:,} addresses, {pages:,} pages, {size / 1e6:,.1f} MB")


if __name__ == "__main__":
    main()
