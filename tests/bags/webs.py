"""Small webs, read and put into bags without leaving anything on the disk."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import (
    Bags,
    JudgedLinks,
    Origin,
    Strategy,
    Tally,
    choose_strategy,
    find_captured,
    judge_links_in_rounds,
    make_bags,
    sum_tallies,
    word_hash,
)
from pagekin.bags.furniture import host_hashes
from pagekin.bags.words import link_hash, outlink_hash
from pagekin.hypertext import Corpus, ReadPlan, read_sources_into
from pagekin.store import Kin, KinWriter
from tests.sources.making import http, warc

Array = npt.NDArray[Any]

PLAIN = (
    "words=mixed stemming=nostem content.scale=0 title.scale=0 anchors.scale=1 anchors.repeat=every links.scale=0 "
    "outlinks.scale=0 content.lead=0 content.furniture=1 "
    "window.size=32 weight.distance=none weight.frequency=none weight.tf=raw"
).split()
"""Nothing but the words in and around links, each counted as 1: what a person can follow by finger."""


def plainly(*settings: str) -> Strategy:
    """The plain strategy with a few settings changed."""
    return choose_strategy(settings=[*PLAIN, *settings])


def record(url: str, html: str | bytes, date: str = "2020-01-01T00:00:00Z") -> bytes:
    """A page as a WARC record; as bytes it says itself how it is encoded."""
    if isinstance(html, bytes):
        return warc(url, http(html), date=date)
    return warc(url, http(html.encode(), "Content-Type: text/html; charset=utf-8"), date=date)


def moved(url: str, to: str) -> bytes:
    """A redirect as a WARC record."""
    return warc(url, http(b"", f"Content-Type: text/html\nLocation: {to}", "301 Moved"))


def read_records(records: Iterable[bytes], parser: str = "strict", **options: Any) -> Corpus:
    """The corpus of an archive with these records. Its files are gone, their memory maps stay."""
    with tempfile.TemporaryDirectory() as name:
        archive = Path(name) / "web.warc"
        archive.write_bytes(b"".join(records))
        with KinWriter(Path(name) / "web.kin", "test") as writer:
            facts = read_sources_into(writer, ReadPlan([str(archive)], writer.path, parser=parser, **options)).facts
            return Corpus(writer.view(facts))


def read_web(pages: Mapping[str, str], **options: Any) -> Corpus:
    """The corpus of the pages, given by URL."""
    return read_records((record(url, html) for url, html in pages.items()), **options)


@dataclass
class MadeBags:
    """Bags as the code under test made them, with their terms as a reader sees them."""

    corpus: Corpus
    kin: Kin
    bags: Bags
    facts: dict[str, Any]

    def terms(self, url: str) -> list[str]:
        """The words (the most common ones behind the stems) and citing pages in a URL's bag."""
        document = self.bags.document(self.corpus.urls.find(url.encode()))
        if document < 0:
            return []
        return [self.bags.term_text(self.corpus, int(term)) for term in self.bags.bag(document)[0]]

    def bag(self, url: str) -> dict[str, float]:
        """The weights in a URL's bag, {} if it has none."""
        document = self.bags.document(self.corpus.urls.find(url.encode()))
        if document < 0:
            return {}
        return dict(zip(self.terms(url), self.bags.bag(document)[1].tolist(), strict=True))

    def origins(self, url: str) -> dict[str, list[str]]:
        """Where each term of a URL's bag comes from."""
        document = self.bags.document(self.corpus.urls.find(url.encode()))
        flags = self.bags.origins(document).tolist()
        return {term: Origin(flag).names() for term, flag in zip(self.terms(url), flags, strict=True)}

    def hashes(self, url: str) -> set[int]:
        """The hashes of the terms in a URL's bag: they are the same whatever a term is shown as."""
        document = self.bags.document(self.corpus.urls.find(url.encode()))
        return set(self.bags.hashes[self.bags.bag(document)[0]].tolist()) if document >= 0 else set()

    def urls(self) -> list[str]:
        """The URLs that have a bag."""
        return [self.corpus.url(int(url)) for url in self.bags.urls]

    def arrays(self) -> dict[str, tuple[str, bytes]]:
        """Type and bytes of all arrays that were made."""
        return {
            name: (array.dtype.str, array.tobytes())
            for name, array in self.kin.arrays.items()
            if name not in self.corpus.kin
        }


def make(corpus: Corpus, strategy: Strategy, not_citing: Sequence[str] = (), threads: int = 1) -> MadeBags:
    """The bags of a corpus by a strategy; `not_citing` are URLs of pages whose links do not count."""
    pages = [page for url in not_citing for page in corpus.pages_of(corpus.urls.find(url.encode()))]
    left_out = np.array(pages, dtype=np.int64) if not_citing else None
    with tempfile.TemporaryDirectory() as name, KinWriter(Path(name) / "bags.kin", "test") as writer:
        facts = make_bags(corpus, strategy, writer, not_citing=left_out, threads=threads)
        left = {file.name for file in writer.work.iterdir() if file.suffix != ".npy"}
        assert left == set(), "temporary files are left behind"
        kin = writer.view({**corpus.facts, "index": facts}, corpus.kin)
        return MadeBags(corpus, kin, Bags(kin), facts)


def bags_of(pages: Mapping[str, str], strategy: Strategy, not_citing: Sequence[str] = ()) -> MadeBags:
    """The bags of a small web."""
    return make(read_web(pages), strategy, not_citing)


def shares(counts: Mapping[str, float] | Iterable[str]) -> dict[str, float]:
    """Counts, or words each counted as 1, divided by their sum."""
    counted = counts if isinstance(counts, Mapping) else dict.fromkeys(counts, 1.0)
    total = sum(counted.values())
    return {term: count / total for term, count in counted.items()}


def hash_of(term: str) -> int:
    """The hash of a word's form, of a citing page (it has a slash) or of a linked one (with > before it)."""
    if term.startswith(">"):
        return outlink_hash(term[1:])
    return link_hash(term) if "/" in term else word_hash(term)


def judged_in_shards(parts: Sequence[Corpus]) -> set[tuple[str, str]]:
    """Judge the links of a web whose hosts are cut, in rounds, and return (page, target) of those that do not count."""

    def captured(corpus: Corpus) -> Array:
        addresses = [bytes(address) for address in corpus.urls]
        return np.any([find_captured(other, addresses) for other in parts], axis=0)

    sums: list[Tally] = []
    while True:
        found = [judge_links_in_rounds(one, Strategy(), captured(one), host_hashes(one), sums) for one in parts]
        if isinstance(found[0], JudgedLinks):
            break
        sums.append(sum_tallies([one for one in found if isinstance(one, Tally)]))
    return {
        (part.page_url(page), part.url(int(part.anchors.target[anchor])))
        for part, judged in zip(parts, found, strict=True)
        for page in range(len(part))
        for anchor in part.anchors_out(page)
        if isinstance(judged, JudgedLinks) and judged.uses[anchor]
    }
