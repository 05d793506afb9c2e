"""Some pages of a corpus and a corpus of the others are joined to the corpus of all."""

from pathlib import Path

import numpy as np
import pytest

from pagekin.hypertext import Corpus, check_corpus, join_corpora
from pagekin.store import KinWriter, RaggedBytes, pack_strings
from tests.bags.test_order import all_records, make_web
from tests.bags.webs import moved, read_records, record

OTHER = "http://other.example/name"


def table(strings: list[bytes]) -> RaggedBytes:
    return RaggedBytes(*pack_strings(strings))


def join(own: Corpus, base: Corpus, pages: list[int], path: Path, decided: frozenset[bytes] = frozenset()) -> Corpus:
    with KinWriter(path, "test") as writer:
        every = table(list(base.urls)), np.arange(len(base.terms))
        return Corpus(writer.view(join_corpora(own, base, np.array(pages, np.int64), decided, *every, writer)))


@pytest.mark.parametrize("seed", range(4))
def test_two_halves_are_joined_to_the_whole(seed: int, tmp_path: Path) -> None:
    """Pages of some hosts come from the whole, with their other names; those of the others were read by themselves."""
    records = make_web(seed)
    whole, hosts = read_records(all_records(records)), sorted(records)
    assert len(whole.aliases()[0])
    own = read_records(all_records({host: records[host] for host in hosts[: 1 + seed % 2]}))
    read = {own.page_url(page) for page in range(len(own))}
    pages = [page for page in range(len(whole)) if whole.page_url(page) not in read]
    assert read and pages
    joined = join(own, whole, pages, tmp_path / "joined.kin")
    assert list(check_corpus(joined.kin)) == []
    for name, array in whole.kin.arrays.items():
        if not name.startswith(("record.", "archive.")):  # they were read from other archives
            assert joined.kin[name].tolist() == array.tolist(), name
    counts = ("pages", "urls", "words", "terms", "anchors", "links", "hosts", "aliases", "html_bytes", "languages")
    assert {name: joined.facts[name] for name in counts} == {name: whole.facts[name] for name in counts}


def test_what_the_small_corpus_decided_is_not_taken_from_the_large_one(tmp_path: Path) -> None:
    pages = {
        "http://a.example/": "<p>All <a href=http://other.example/name>of it</a>",
        "http://b.example/": "<p>Others",
    }
    base = read_records([*(record(*page) for page in pages.items()), moved(OTHER, "http://b.example/")])
    own = read_records([record(OTHER, "<p>A page by itself"), record("http://c.example/", f"<a href={OTHER}>that</a>")])
    joined = join(own, base, [1], tmp_path / "joined.kin", frozenset([OTHER.encode()]))
    links = {joined.url(int(target)) for target in joined.anchors.target}
    assert links == {OTHER}
