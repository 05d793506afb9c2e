"""Link similarity against the slow oracle, and on webs whose answer is plain to see."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.clusters import LinkSettings, link_similarity, page_graph
from pagekin.clusters import links as links_module
from pagekin.clusters._kernels.paths import FAR
from pagekin.clusters.links import Graph
from pagekin.hypertext import Corpus
from tests.bags.webs import moved, read_records, record
from tests.clusters.link_oracle import common_ancestors, common_descendants, direct_paths, links_of

Edges = list[tuple[int, int]]
Web = tuple[int, Edges]
WEIGHTS = st.sampled_from([0.0, 0.25, 1 / 3, 1.0])


def graph_of(count: int, edges: Edges) -> Graph:
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Graph.of(pairs[:, 0], pairs[:, 1], np.arange(count), np.arange(count))


@st.composite
def webs(draw: st.DrawFn, most: int = 14) -> Web:
    """Any links at all, to themselves and twice as well, on top of a chain, a ring, stars, two halves or nothing."""
    count = draw(st.integers(1, most))
    nodes = st.integers(0, count - 1)
    shape = draw(st.sampled_from(["none", "chain", "ring", "hub", "sink", "halves"]))
    edges: Edges = draw(st.lists(st.tuples(nodes, nodes), max_size=draw(st.sampled_from([3, count, 3 * count]))))
    if shape in ("chain", "ring"):
        edges += [(node, node + 1) for node in range(count - 1)]
    if shape == "ring":
        edges.append((count - 1, 0))
    if shape == "hub":
        edges += [(0, node) for node in range(count)]
    if shape == "sink":
        edges += [(node, 0) for node in range(count)]
    if shape == "halves":
        edges = [(source, target) for source, target in edges if source % 2 == target % 2]
    return count, draw(st.permutations(edges))


CHOICES = st.builds(
    LinkSettings,
    ancestors=WEIGHTS,
    descendants=WEIGHTS,
    paths=WEIGHTS,
    levels=st.sampled_from([None, 1, 2, 3, 4, 40]),
    normalise=st.sampled_from(["union", "common"]),
)


def by_oracle(web: Web, chosen: LinkSettings) -> npt.NDArray[np.float64]:
    count, edges = web
    links = links_of(count, edges)
    found = np.zeros((count, count))
    for i in range(count):
        for j in range(i):
            similarity = (
                Fraction(chosen.ancestors) * common_ancestors(links, i, j, chosen.normalise, chosen.levels)
                + Fraction(chosen.descendants) * common_descendants(links, i, j, chosen.normalise, chosen.levels)
                + Fraction(chosen.paths) * direct_paths(links, i, j)
            )
            found[i, j] = found[j, i] = float(similarity)
    return found


ALWAYS, NEVER = float("inf"), 0.0


@pytest.mark.parametrize("by_rows", [ALWAYS, NEVER])
@settings(max_examples=300, deadline=None)
@given(web=webs(), chosen=CHOICES)
def test_similarities_are_those_of_the_oracle(by_rows: float, web: Web, chosen: LinkSettings) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links_module, "ROWS_BELOW", by_rows)
        found = link_similarity(graph_of(*web), chosen)
    wanted = by_oracle(web, chosen)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-12)
    assert ((found == 0) == (wanted == 0)).all()


@settings(max_examples=60, deadline=None)
@given(webs(), CHOICES, st.sampled_from([0, 2, 1000]))
def test_counting_by_lists_or_by_bits_gives_the_same_bytes(web: Web, chosen: LinkSettings, listed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(links_module, "ROWS_BELOW", NEVER)
        usual = link_similarity(graph_of(*web), chosen)
        patch.setattr(links_module, "NEAR", listed)
        assert link_similarity(graph_of(*web), chosen).tobytes() == usual.tobytes()


@settings(max_examples=60, deadline=None)
@given(webs(), st.integers(1, 5))
def test_a_limit_of_levels_takes_away_no_more_than_its_bound(web: Web, levels: int) -> None:
    for side in ({"ancestors": 1.0, "descendants": 0.0}, {"ancestors": 0.0, "descendants": 1.0}):
        whole = link_similarity(graph_of(*web), LinkSettings(**side, paths=0.0, levels=None))
        limited = link_similarity(graph_of(*web), LinkSettings(**side, paths=0.0, levels=levels))
        missing = whole.astype(np.float64) - limited
        assert missing.min() >= -1e-7
        assert missing.max() <= 4.0**-levels / 3 + 1e-7
        assert whole.max() <= 1 / 3 + 1e-7


@pytest.fixture(scope="module")
def town() -> Graph:
    """300 pages in three parts: a crowd with many links, a sparse wood, a chain longer than any path that counts."""
    rng = np.random.default_rng(7)
    crowd = rng.integers(0, 120, (1200, 2))
    wood = rng.integers(120, 240, (150, 2))
    chain = np.stack([np.arange(230, 299), np.arange(231, 300)], axis=1)
    edges = np.concatenate([crowd, wood, chain])
    return Graph.of(edges[:, 0], edges[:, 1], np.arange(300), np.arange(300))


WAYS = pytest.mark.parametrize(("normalise", "by_rows"), [("union", ALWAYS), ("union", NEVER), ("common", NEVER)])


@WAYS
def test_threads_change_no_byte_and_pairs_have_no_order(
    town: Graph, normalise: str, by_rows: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "ROWS_BELOW", by_rows)
    chosen = LinkSettings(normalise=normalise)
    one, two = (link_similarity(town, chosen, threads) for threads in (1, 2))
    assert one.tobytes() == two.tobytes()
    assert one.dtype == np.float32
    assert (one == one.T).all()
    assert (np.diag(one) == 0).all()


@WAYS
def test_many_pages_and_long_chains_agree_with_the_oracle(
    town: Graph, normalise: str, by_rows: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links_module, "ROWS_BELOW", by_rows)
    chosen = LinkSettings(normalise=normalise, levels=None if normalise == "union" else 4)
    found = link_similarity(town, chosen)
    edges = [(i, int(t)) for i in range(300) for t in town.out_targets[town.out_offsets[i] : town.out_offsets[i + 1]]]
    links = links_of(300, edges)
    rng = np.random.default_rng(8)
    pairs = [
        *rng.integers(0, 300, (25, 2)),
        *rng.integers(0, 120, (25, 2)),
        *rng.integers(120, 300, (25, 2)),
        (240, 290),
    ]
    for i, j in ((int(a), int(b)) for a, b in pairs if a != b):
        wanted = (
            common_ancestors(links, i, j, normalise, chosen.levels)
            + common_descendants(links, i, j, normalise, chosen.levels)
            + direct_paths(links, i, j)
        ) / 3
        assert found[i, j] == pytest.approx(float(wanted), rel=1e-6, abs=2.0**-FAR)


def test_a_document_behind_the_other_one_is_no_common_ancestor() -> None:
    # 0 -> 1 -> 2: all paths from 0 to 2 lead through 1. With a link of its own to 2, document 0 is one.
    only = LinkSettings(ancestors=1.0, descendants=0.0, paths=0.0)
    assert link_similarity(graph_of(3, [(0, 1), (1, 2)]), only)[1, 2] == 0
    assert link_similarity(graph_of(3, [(0, 1), (1, 2), (0, 2)]), only)[1, 2] == 1 / 4
    # By way of 3 it is one, too: one link to 1 and two to 2. On its level, 3 is an ancestor as well, but not of 1.
    detour = graph_of(4, [(0, 1), (1, 2), (0, 3), (3, 2)])
    assert link_similarity(detour, only)[1, 2] == 1 / 8 / 2
    common = LinkSettings(ancestors=1.0, descendants=0.0, paths=0.0, normalise="common")
    assert link_similarity(detour, common)[1, 2] == 1 / 8


def test_mutual_links_reach_one_and_directions_count_apart() -> None:
    only = LinkSettings(ancestors=0.0, descendants=0.0, paths=1.0)
    assert link_similarity(graph_of(2, [(0, 1), (1, 0)]), only)[0, 1] == 1
    assert link_similarity(graph_of(3, [(0, 1), (1, 2)]), only).tolist() == [
        [0, 0.5, 0.25],
        [0.5, 0, 0.5],
        [0.25, 0.5, 0],
    ]


def test_no_pages_and_one_page_have_no_pairs() -> None:
    assert link_similarity(graph_of(0, [])).shape == (0, 0)
    assert link_similarity(graph_of(1, [(0, 0)])).tolist() == [[0]]


@pytest.mark.parametrize("wrong", [{"levels": 0}, {"ancestors": -1.0}, {"paths": float("nan")}, {"normalise": "both"}])
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="is one of"):
        LinkSettings(**wrong)  # type: ignore[arg-type]  # any field, by name


@pytest.mark.parametrize("small", [1, 20, 512])
def test_a_web_in_parts_is_compared_part_by_part(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    edges = rng.integers(0, 60, (600, 2))
    edges = edges[edges[:, 0] % 7 == edges[:, 1] % 7]
    web = Graph.of(edges[:, 0], edges[:, 1], np.arange(60), np.arange(60))
    whole = by_oracle((60, edges.tolist()), LinkSettings())
    monkeypatch.setattr(links_module, "SMALL", small)
    told: list[float] = []
    found = link_similarity(web, progress=lambda _stage, share: told.append(share))
    np.testing.assert_allclose(found, whole, rtol=1e-6, atol=1e-12)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def test_progress_rises_to_one(town: Graph) -> None:
    told: list[float] = []
    link_similarity(town, progress=lambda _stage, share: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1


def names_of(corpus: Corpus, graph: Graph) -> list[str]:
    return [corpus.url(int(url)).removeprefix("http://a.example/") for url in graph.urls]


def test_the_graph_has_each_link_between_captured_pages_once() -> None:
    corpus = read_records(
        [
            record(
                "http://a.example/c", '<p><a href="a">a</a> <a href="b">b</a> <a href="old">b</a> <a href="c">c</a>'
            ),
            record("http://a.example/a", '<p><a href="b">b</a> <a href="b#part">b</a> <a href="nowhere">none</a>'),
            moved("http://a.example/old", "http://a.example/b"),
            record("http://a.example/b", "<p>The end."),
        ]
    )
    graph = page_graph(corpus)
    assert names_of(corpus, graph) == ["a", "b", "c"]
    assert graph.out_offsets.tolist() == [0, 1, 1, 3]
    assert graph.out_targets.tolist() == [1, 0, 1]
    assert graph.in_offsets.tolist() == [0, 1, 3, 3]
    assert graph.in_sources.tolist() == [2, 0, 2]


def test_the_newest_capture_of_a_page_says_where_it_links_to() -> None:
    corpus = read_records(
        [
            record("http://a.example/a", '<p>Old: <a href="b">b</a>', date="2019-01-01T00:00:00Z"),
            record("http://a.example/a", '<p>New: <a href="c">c</a>', date="2021-01-01T00:00:00Z"),
            record("http://a.example/b", "<p>b"),
            record("http://a.example/c", "<p>c"),
        ],
        all_captures=True,
    )
    graph = page_graph(corpus)
    assert len(corpus) == 4
    assert names_of(corpus, graph) == ["a", "b", "c"]
    assert [corpus.page_url(int(page)) for page in graph.pages] == [corpus.url(int(url)) for url in graph.urls]
    assert graph.out_offsets.tolist() == [0, 1, 1, 1]
    assert graph.out_targets.tolist() == [2]


def test_no_pages_make_an_empty_graph() -> None:
    assert len(Graph.of(*np.zeros((4, 0), dtype=np.int64))) == 0
