"""Bags are the same whatever the order of reading, the numbers that words and addresses have, and how a web is cut by host."""

import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

from pagekin.bags import BagWorkshop, Strategy, choose_strategy
from pagekin.hypertext import RECORD_ARRAYS, Corpus

from .webs import hash_of, make, moved, read_records, record

HOSTS = ("alpha.example", "beta.example", "gamma.example:8080", "www.delta.example")
WORDS = "granite mica quartz gneiss basalt marble slate schist obsidian pumice feldspar the of diorite".split()
LINK_TEXTS = ("more", "granite", "granite mica", "next", "", "see the slate", "home")
SETTINGS = (
    "",
    "links.scale=1 anchors.repeat=every weight.distance=log",
    "content.lead=3 window.kind=syntactic weight.distance=log links.scale=0.3 outlinks.scale=0.7 anchors.scale=0.1",
)
SEEDS = range(4)
Sums = dict[str, dict[int, int]]


def make_web(seed: int) -> dict[str, list[bytes]]:
    """Return the records of a small web by host: furniture, repeated link texts, aliases inside hosts, equal dates."""
    rng = random.Random(seed)
    pages = {host: [f"http://{host}/{name}" for name in "abcdefgh"] for host in HOSTS}
    everywhere = [url for urls in pages.values() for url in urls] + ["http://nowhere.example/"]

    def some_words(most: int) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(0, most)))

    def page(host: str, canonical: str = "") -> str:
        links = [
            f"{some_words(4)} <a href='{rng.choice(everywhere)}'>{rng.choice(LINK_TEXTS)}</a> {some_words(9)}<p>"
            for _ in range(rng.randint(1, 8))
        ]
        inside = f"<a href='http://{host}/{rng.choice(('old', 'older', 'ring1'))}'>archive</a>"
        home = f"<a href='http://{host}/a'>home</a>"
        head = f"<title>{some_words(3)}</title>{f'<link rel=canonical href={canonical}>' if canonical else ''}"
        return head + home + "".join(links) + inside + some_words(30)

    return {
        host: [
            *(record(url, page(host)) for url in urls),
            *(record(rng.choice(urls), page(host), "2021-01-01T00:00:00Z") for _ in range(4)),
            *(record(f"http://{host}/ring{i}", page(host, f"/ring{(i + 1) % 3}")) for i in range(3)),
            *(record(f"http://{host}/print{i}", page(host, "/plain")) for i in range(2)),
            moved(f"http://{host}/old", f"http://{host}/b"),
            moved(f"http://{host}/old", f"http://{host}/c"),
            moved(f"http://{host}/older", f"http://{host}/oldest"),
            moved(f"http://{host}/oldest", f"http://{host}/older"),
        ]
        for host, urls in pages.items()
    }


def entries(corpus: Corpus, strategy: Strategy) -> Iterator[tuple[str, int, int]]:
    """Yield (URL, hash of the term, units) of all entries of all bags, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        workshop = BagWorkshop(corpus, Path(folder))
        made = workshop.bags(strategy)
        words = workshop.words(strategy)
        hashes = workshop.vocabulary(strategy).hashes
        links = len(corpus) if strategy.links.scale else 0
        for place, url in enumerate(made.urls.tolist()):
            part = slice(int(made.offsets[place]), int(made.offsets[place + 1]))
            for term, units in zip(made.terms[part].tolist(), made.sums[part].tolist(), strict=True):
                text = workshop.term_text(strategy, term) if term >= words else ""
                mark = ">" if term >= words + links else ""
                yield corpus.url(url), int(hashes[term]) if term < words else hash_of(mark + text), units


def sums_of(corpus: Corpus, strategy: Strategy) -> Sums:
    """Return the units of every term of every bag."""
    sums: Sums = {}
    for url, term, units in entries(corpus, strategy):
        assert term not in sums.setdefault(url, {}), f"{url} holds a term twice"
        sums[url][term] = units
    return sums


def all_records(web: dict[str, list[bytes]]) -> list[bytes]:
    return [one for records in web.values() for one in records]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_the_bytes_do_not_depend_on_the_order_of_records(seed: int, settings: str) -> None:
    strategy = choose_strategy(settings=settings.split())
    records = all_records(make_web(seed))
    expected = make(read_records(records), strategy)
    random.Random(seed).shuffle(records)
    again = make(read_records(records), strategy)
    for name, array in expected.corpus.kin.arrays.items():
        if not name.startswith(RECORD_ARRAYS):  # these say where records lie
            assert array.tobytes() == again.corpus.kin[name].tobytes(), name
    assert again.arrays() == expected.arrays()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_bags_of_the_hosts_add_up_to_those_of_the_web(seed: int, settings: str) -> None:
    strategy = choose_strategy(settings=settings.split())
    web = make_web(seed)
    added: dict[str, Counter[int]] = {}
    for records in web.values():
        for url, term, units in entries(read_records(records), strategy):
            added.setdefault(url, Counter())[term] += units
    assert added == sums_of(read_records(all_records(web)), strategy)


def unrelated(seed: int) -> Iterable[bytes]:
    """Pages that no other page links to, with words and addresses that stand before, between and after the web's own."""
    rng = random.Random(seed + 1_000)
    for place in range(12):
        words = " ".join(rng.choices(["aardvark", "zebra", "slate", "pumice", "mid", "quartz"], k=60))
        host = f"{rng.choice('abdgwz')}{place}.other.example"
        yield record(f"http://{host}/", f"{words} <a href='http://{host}/x'>more</a>")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_sums_do_not_depend_on_the_numbers_of_words_and_addresses(seed: int, settings: str) -> None:
    strategy = choose_strategy(settings=settings.split())
    records = all_records(make_web(seed))
    alone = list(entries(read_records(records), strategy))
    beside = entries(read_records([*unrelated(seed), *records]), strategy)
    assert [one for one in beside if ".other." not in one[0]] == alone


@pytest.mark.parametrize("seed", SEEDS)
def test_the_terms_of_a_bag_stand_by_kind_and_hash(seed: int) -> None:
    made = make(read_records(all_records(make_web(seed))), choose_strategy(settings=["links.scale=1"]))
    words, links = made.facts["bag_words"], made.facts["bag_words"] + made.facts["bag_links"]
    for hashes in np.split(made.bags.hashes, [words, links]):
        assert (hashes[1:] > hashes[:-1]).all()
    for document in range(len(made.bags)):
        terms = made.bags.bag(document)[0].astype(np.int64)
        assert (terms[1:] > terms[:-1]).all()


@pytest.mark.parametrize("count", [0, 1, 2, 24, 25, 300, 5_000])
@pytest.mark.parametrize("digits", [1, 2, 3])
def test_numbers_are_sorted_digit_by_digit(count: int, digits: int) -> None:
    from pagekin.bags._kernels.merge import DIGIT_BITS, sort_numbers

    rng = np.random.default_rng(count + digits)
    numbers = rng.choice(min(1 << (DIGIT_BITS * digits), 1 << 24), count, replace=digits == 1).astype(np.uint32)
    room, starts = np.empty(count + 1, np.uint32), np.empty(1 << DIGIT_BITS, np.int64)
    ordered = sort_numbers(numbers.copy(), room, count, digits, starts)
    assert ordered[:count].tolist() == sorted(numbers.tolist())
