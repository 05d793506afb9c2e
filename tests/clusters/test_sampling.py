"""Clusters of a sample: which pages it has, and where the others go."""

import hashlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.bags import BagWorkshop
from pagekin.cli.app import app, load_verbs
from pagekin.clusters import cluster_pages
from pagekin.clusters.neighbour_graph import NEIGHBOURS, BagTable
from pagekin.clusters.sampling import _join_by_votes, least_addresses
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web, record

TOPICS = {
    "stones": "granite slate basalt marble gneiss quartz quarry mason chisel gravel".split(),
    "birds": "owl wren hawk heron swift robin feather nest wing beak".split(),
    "stars": "orbit comet nova quasar pulsar nebula galaxy eclipse meteor zenith".split(),
}
EACH = 60


def web() -> dict[str, str]:
    """60 pages of each topic, whose addresses do not tell the topic; they share words and link within their topic."""
    rng = np.random.default_rng(3)
    pages = {}
    for topic, words in enumerate(TOPICS.values()):
        for number in range(EACH):
            some = " ".join(rng.choice(words, 6).tolist())
            other = 3 * int(rng.integers(EACH)) + topic
            pages[f"http://site.example/{3 * number + topic:03}"] = (
                f"<title>{some}</title><p>{some} and {rng.choice(words)}<p><a href='/{other:03}'>{rng.choice(words)}</a>"
            )
    return pages


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web(web())


def topic_of(corpus: Corpus, page: int) -> int:
    return int(corpus.page_url(page)[-3:]) % 3


def test_the_sample_are_the_addresses_of_least_hash(corpus: Corpus) -> None:
    urls = np.unique(np.asarray(corpus.pages.url))
    expected = sorted(
        map(corpus.url, urls.tolist()), key=lambda url: hashlib.blake2b(url.encode(), digest_size=8).digest()
    )
    for most in (1, 20, len(urls), len(urls) + 1):
        places = least_addresses(corpus, urls, most)
        assert np.all(np.diff(places) > 0)
        assert {corpus.url(int(urls[place])) for place in places} == set(expected[:most])
    # A part of the pages has its share of the sample, whatever else there is.
    half = urls[::2]
    taken = set(urls[least_addresses(corpus, urls, 90)].tolist()) & set(half.tolist())
    assert set(half[least_addresses(corpus, half, len(taken))].tolist()) == taken


def test_every_page_joins_the_cluster_of_its_topic(corpus: Corpus) -> None:
    made = cluster_pages(corpus, 3, sample=60)
    assert made.sampled == 60
    right = 0
    for label in np.unique(made.labels):
        topics = [topic_of(corpus, page) for page in np.flatnonzero(made.labels == label).tolist()]
        right += max(topics.count(topic) for topic in range(3))
    assert right >= 0.95 * len(corpus)
    assert len(np.unique(made.labels)) == 3


def test_a_sample_that_holds_all_pages_is_no_sample(corpus: Corpus) -> None:
    whole, same = cluster_pages(corpus, 3), cluster_pages(corpus, 3, sample=3 * EACH)
    assert whole.sampled == same.sampled == 0
    assert [level.tolist() for level in whole.levels] == [level.tolist() for level in same.levels]


def test_levels_divide_the_one_before_whatever_the_threads(corpus: Corpus) -> None:
    one, two = cluster_pages(corpus, 12, sample=120), cluster_pages(corpus, 12, threads=2, sample=120)
    assert [level.tolist() for level in one.levels] == [level.tolist() for level in two.levels]
    above = np.zeros(len(corpus), np.int64)
    for level in one.levels:
        assert len(level) == len(corpus)
        assert level.min() == 0
        homes = defaultdict(set)
        for label, home in zip(level.tolist(), above.tolist(), strict=True):
            homes[label].add(home)
        assert all(len(home) == 1 for home in homes.values())
        above = level


@pytest.mark.parametrize("seed", range(8))
def test_pages_join_where_their_edges_weigh_most(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, labels = 30, 4
    sample = np.sort(rng.permutation(count)[:12])
    others = np.setdiff1d(np.arange(count), sample)
    coarse = rng.integers(0, labels, len(sample))
    levels = [coarse, coarse * 3 + rng.integers(0, 3, len(sample))]
    edges = 40
    voters = rng.integers(0, len(others) - 5, edges)  # the last five have none
    sampled, weights = rng.integers(0, len(sample), edges), rng.integers(1, 5, edges).astype(np.float64)
    middle = len(others) // 2
    batches = [
        (first, last, (voters[some], sampled[some], weights[some]))
        for first, last in ((0, middle), (middle, len(others)))
        if (some := (voters >= first) & (voters < last)) is not None
    ]
    made = _join_by_votes(count, sample, others, levels, batches)
    home: dict[int, list[int]] = {
        int(page): [int(level[place]) for level in levels] for place, page in enumerate(sample)
    }
    for place, page in enumerate(others.tolist()):
        mine = [(int(s), float(w)) for v, s, w in zip(voters, sampled, weights, strict=True) if v == place]
        chosen: list[int] = []
        for level in levels:
            votes: dict[int, float] = defaultdict(float)
            for target, weight in mine:
                votes[int(level[target])] += weight
            if votes:
                best = min(votes, key=lambda label: (-votes[label], label))
                chosen.append(best)
                mine = [(target, weight) for target, weight in mine if level[target] == best]
        if chosen:
            home[page] = chosen
    for page in range(count):
        known = [other for other in range(page, -1, -1) if other in home] or [min(home)]
        assert [int(level[page]) for level in made] == home[known[0]]


def test_the_nearest_bags_of_other_pages_are_those_of_all_pairs(corpus: Corpus, tmp_path: Path) -> None:
    urls = np.unique(np.asarray(corpus.pages.url)).astype(np.int64)
    workshop = BagWorkshop(corpus, tmp_path)
    sample, others = urls[::3], urls[1::3]
    table = BagTable(workshop.matrix(NEIGHBOURS, sample), 1.0)
    near, similarity = table.nearest(workshop.matrix(NEIGHBOURS, others), 4)

    def bags(of: np.ndarray) -> list[dict[int, float]]:
        matrix = workshop.matrix(NEIGHBOURS, of)
        return [
            dict(zip(matrix.terms[a:b].tolist(), matrix.weights[a:b].tolist(), strict=True))
            for a, b in zip(matrix.offsets[:-1].tolist(), matrix.offsets[1:].tolist(), strict=True)
        ]

    theirs = bags(sample)
    for row, mine in enumerate(bags(others)):
        exact = []
        for bag in theirs:
            shared = sum(min(weight, bag[term]) for term, weight in mine.items() if term in bag)
            exact.append(shared / (sum(mine.values()) + sum(bag.values()) - shared))
        best = sorted(exact, reverse=True)[:4]
        found = [exact[place] for place in near[row].tolist() if place >= 0]
        assert similarity[row, : len(found)].tolist() == pytest.approx(found, abs=1e-6)
        assert found == pytest.approx([value for value in best if value > 0], abs=1e-6)


def test_builds_and_info_say_that_a_sample_was_taken(tmp_path: Path) -> None:
    load_verbs()
    archive, kin = tmp_path / "web.warc", tmp_path / "web.kin"
    archive.write_bytes(b"".join(record(url, html) for url, html in web().items()))

    def run(*arguments: object) -> str:
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    said = "made from a sample of 100 pages; every other page joined the nearest"
    assert said in run("build", archive, "--out", kin, "--workers", 1, "--cluster-set", "sample=100")
    assert said in run("info", kin)
    assert said not in run("build", archive, "--out", tmp_path / "all.kin", "--workers", 1)
    assert "a sample of" not in run("info", tmp_path / "all.kin")
