from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.bags import BagMatrix, Strategy
from pagekin.clusters import cluster_pages, measure_agreement
from pagekin.clusters.communities import (
    Clusters,
    CommunitySettings,
    cluster_graph,
    join_dust,
    leiden,
    number_by_first,
    number_by_size,
    weaken_disputed,
)
from pagekin.clusters.neighbour_graph import WeightedGraph, links_between, nearest_pages
from tests.bags.webs import read_web

Labels = npt.NDArray[np.int64]
generated = settings(derandomize=True, database=None, deadline=None, max_examples=60)


@st.composite
def graphs(draw: st.DrawFn) -> WeightedGraph:
    nodes = draw(st.integers(1, 40))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends, st.integers(1, 9)), max_size=120))
    made = np.array(edges, np.int64).reshape(-1, 3)
    return WeightedGraph.from_one_direction(nodes, made[:, 0], made[:, 1], made[:, 2].astype(np.float64))


def planted(groups: int, size: int, inside: int = 8, outside: int = 2, seed: int = 1) -> tuple[WeightedGraph, Labels]:
    """A graph whose nodes have so many random edges inside their group, and so many to any node."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), size)[rng.permutation(groups * size)]
    sources, targets = [], []
    for node, mine in enumerate(group.tolist()):
        others = np.concatenate([rng.choice(np.flatnonzero(group == mine), inside), rng.choice(len(group), outside)])
        sources += [node] * len(others)
        targets += others.tolist()
    return WeightedGraph.from_one_direction(
        len(group), np.array(sources), np.array(targets), np.ones(len(sources))
    ), group


def modularity(graph: WeightedGraph, labels: Labels, resolution: float) -> float:
    """By its definition, pair by pair."""
    matrix = dense(graph)
    strength = matrix.sum(axis=1)
    expected = resolution * np.outer(strength, strength) / matrix.sum()
    return float(((matrix - expected) * (labels[:, None] == labels[None, :])).sum() / matrix.sum())


def dense(graph: WeightedGraph) -> npt.NDArray[np.float64]:
    found = np.zeros((len(graph), len(graph)))
    found[graph.sources, graph.others] = graph.weights
    return found


def check(made: Clusters, pages: int, most: int) -> None:
    """What holds for all clusters of all collections."""
    assert len(np.unique(made.labels)) <= most
    for level in made.levels:
        assert level.shape == (pages,)
        sizes = np.bincount(level)
        assert sizes.min(initial=1) > 0
        assert np.all(np.diff(sizes) <= 0)
    for coarse, fine in pairwise(made.levels):
        assert len(np.unique(coarse * (pages + 1) + fine)) == len(np.unique(fine)) > len(np.unique(coarse))


# -- graphs -------------------------------------------------------------------------------------------------------------


@generated
@given(graphs(), st.integers(0, 5))
def test_merging_and_parting_graphs_keeps_every_weight(graph: WeightedGraph, seed: int) -> None:
    labels = number_by_first(np.random.default_rng(seed).integers(0, 4, len(graph)))
    member = np.eye(int(labels.max()) + 1)[labels]
    assert np.allclose(dense(graph.merge_groups(labels, member.shape[1])), member.T @ dense(graph) @ member)
    for group, part in enumerate(graph.parts(labels)):
        nodes = np.flatnonzero(labels == group)
        assert np.array_equal(dense(part), dense(graph)[np.ix_(nodes, nodes)])


def test_no_group_holds_more_than_a_third_of_the_pages_and_they_are_few() -> None:
    # Twelve clusters, of which eight are loosely connected: with fewer groups these would be one.
    rng = np.random.default_rng(5)
    size, groups = 30, 12
    cluster = np.repeat(np.arange(groups), size)
    sources, targets = [], []
    for node, mine in enumerate(cluster.tolist()):
        others = rng.choice(np.flatnonzero(cluster == mine), 8).tolist()
        others += rng.choice(np.flatnonzero(cluster < 8), 3).tolist() if mine < 8 else []
        others += rng.choice(np.flatnonzero(cluster // 2 == mine // 2), 2).tolist()
        sources += [node] * len(others)
        targets += others
    graph = WeightedGraph.from_one_direction(len(cluster), np.array(sources), np.array(targets), np.ones(len(sources)))
    made = cluster_graph(graph, 12)
    assert made.chosen == 1
    sizes = np.bincount(made.levels[0])
    assert sizes.max() <= len(cluster) / 3
    assert len(sizes) < len(np.unique(made.labels))


@pytest.mark.parametrize("threads", [1, 3])
def test_nearest_pages_are_those_of_all_pairs_compared(threads: int) -> None:
    rng = np.random.default_rng(4)
    full = rng.random((600, 40), np.float32) * (rng.random((600, 40)) < 0.1)
    full[7] = 0
    rows, terms = np.nonzero(full)
    offsets = np.searchsorted(rows, np.arange(601))
    matrix = BagMatrix(offsets, terms, full[rows, terms], 40)
    near, similarity = nearest_pages(matrix, threads, nearest=5, widest=1.0)
    for row in range(600):
        common = np.minimum(full[row], full).sum(axis=1)
        expected = common / np.maximum(np.maximum(full[row], full).sum(axis=1), 1e-9)
        expected[row] = 0
        held = near[row] >= 0
        assert np.allclose(similarity[row], np.sort(expected)[::-1][:5], atol=1e-5)
        assert np.allclose(expected[near[row][held]], similarity[row][held], atol=1e-5)
    assert np.all(near[7] == -1)


def test_links_count_once_without_furniture_and_less_to_hubs() -> None:
    home = '<a href="http://a.example/">home</a>'
    pages = {f"http://a.example/{n}": f"<p>page {n} {home}" for n in range(8)}
    pages["http://a.example/"] = "<p>home"
    pages["http://a.example/0"] += '<a href="/1">one</a> <a href="/1">again</a> <a href="/2">two</a>'
    pages["http://a.example/3"] += '<a href="/2">two</a>'
    corpus = read_web(pages)
    urls = np.unique(np.asarray(corpus.kin["page.url"])).astype(np.int64)
    found, weights = links_between(corpus, urls)
    named = {
        (corpus.url(int(urls[a]))[-1], corpus.url(int(urls[b]))[-1]): weight
        for (a, b), weight in zip(found.tolist(), weights.tolist(), strict=True)
    }
    assert Strategy().content.furniture == 0.2
    assert named == pytest.approx({("0", "1"): 2**-0.5, ("0", "2"): 0.5, ("3", "2"): 2**-0.5})


# -- the Leiden method --------------------------------------------------------------------------------------------------


@generated
@given(graphs(), st.sampled_from([0.3, 1.0, 2.5]), st.integers(0, 3))
def test_communities_are_connected_and_better_than_all_together_or_all_apart(
    graph: WeightedGraph, resolution: float, seed: int
) -> None:
    labels = leiden(graph, resolution, seed)
    matrix = dense(graph)
    assert labels.shape == (len(graph),)
    if not matrix.any():
        return
    for community in np.unique(labels):
        nodes = np.flatnonzero(labels == community)
        reached, inside = {int(nodes[0])}, [int(nodes[0])]
        while inside:
            near = np.flatnonzero((matrix[inside.pop()] > 0) & (labels == community)).tolist()
            inside += [node for node in near if node not in reached]
            reached |= set(near)
        assert reached == set(nodes.tolist())
    best = modularity(graph, labels, resolution)
    assert best >= modularity(graph, np.arange(len(graph)), resolution) - 1e-9
    assert best >= modularity(graph, np.zeros(len(graph), np.int64), resolution) - 1e-9


def test_planted_groups_are_found_and_found_again_without_some_nodes() -> None:
    graph, group = planted(12, 60)
    made = cluster_graph(graph, 30)
    assert measure_agreement(group, made.labels).adjusted_rand > 0.99
    dropped = np.random.default_rng(2).random(len(group)) <= 0.02
    kept = np.flatnonzero(~dropped)
    again = cluster_graph(graph.parts(dropped.astype(np.int64))[0], 30)
    assert measure_agreement(made.labels[kept], again.labels).adjusted_rand > 0.98


def test_more_groups_than_asked_for_are_put_together() -> None:
    graph, group = planted(20, 30)
    for most in (1, 2, 5, 12):
        made = cluster_graph(graph, most)
        check(made, len(group), most)
        assert most / 2 <= made.labels.max() + 1
    # Groups that are put together are whole.
    pairs = np.unique(np.stack([group, cluster_graph(graph, 5).labels]), axis=1).shape[1]
    assert pairs <= 24


def test_runs_that_disagree_weaken_an_edge() -> None:
    graph, group = planted(6, 40, inside=6, outside=3)
    steady = weaken_disputed(graph, 1.0, 1, 6)
    share = steady.weights / graph.weights
    within = group[graph.sources] == group[graph.others]
    assert share.max() <= 1
    assert share[within].mean() > 0.9 > 0.2 > share[~within].mean()


# -- homes, dust and giants ---------------------------------------------------------------------------------------------


@generated
@given(graphs(), st.integers(1, 8), st.integers(0, 3))
def test_every_node_has_a_home_and_levels_are_nested(graph: WeightedGraph, most: int, seed: int) -> None:
    made = cluster_graph(graph, most, seed, CommunitySettings(runs=3, leaf=5))
    check(made, len(graph), most)
    assert np.bincount(made.labels).min() >= min(3, len(graph))


@generated
@given(graphs(), st.integers(0, 3))
def test_the_same_seed_gives_the_same_clusters_with_any_threads(graph: WeightedGraph, seed: int) -> None:
    few = CommunitySettings(runs=3, leaf=5)
    one, two = (cluster_graph(graph, 6, seed, few, threads) for threads in (1, 2))
    assert one.chosen == two.chosen
    assert all(np.array_equal(a, b) for a, b in zip(one.levels, two.levels, strict=True))


@generated
@given(graphs(), st.integers(2, 9))
def test_no_dust_is_left(graph: WeightedGraph, least: int) -> None:
    labels = join_dust(graph, np.arange(len(graph)), least)
    assert np.bincount(labels).min() >= min(least, len(graph))


def test_small_groups_join_the_one_they_are_connected_with() -> None:
    a, b = np.arange(10), np.arange(10, 20)
    edges = [(x, y) for group in (a, b) for x in group.tolist() for y in group.tolist() if x < y] + [(3, 20), (15, 21)]
    ends = np.array(edges)
    graph = WeightedGraph.from_one_direction(22, ends[:, 0], ends[:, 1], np.ones(len(ends)))
    labels = join_dust(graph, np.array([0] * 10 + [1] * 10 + [2, 3]), 3)
    assert labels.tolist() == [0] * 10 + [1] * 10 + [0, 1]


def test_a_giant_is_split_if_something_parts_it() -> None:
    one, _group = planted(10, 30)
    two, _group = planted(2, 20, seed=2)
    shift = len(one)
    graph = WeightedGraph.of(
        shift + len(two),
        np.concatenate([one.sources, two.sources + shift]),
        np.concatenate([one.others, two.others + shift]),
        np.concatenate([one.weights, two.weights]),
    )
    low = CommunitySettings(resolution=0.02)
    made = cluster_graph(graph, 30, settings=low)
    check(made, len(graph), 30)
    assert np.bincount(made.labels).max() <= low.giant * len(graph)
    assert (
        np.bincount(cluster_graph(graph, 30, settings=CommunitySettings(resolution=0.02, giant=1)).labels).max() >= 300
    )


def test_a_giant_that_nothing_parts_stays_whole() -> None:
    ends = np.array([(a, b) for a in range(30) for b in range(a)])
    graph = WeightedGraph.from_one_direction(30, ends[:, 0], ends[:, 1], np.ones(len(ends)))
    assert cluster_graph(graph, 30).labels.tolist() == [0] * 30


def test_nodes_without_edges_are_put_together_by_their_order() -> None:
    graph = WeightedGraph(np.zeros(1001, np.int64), np.zeros(0, np.int64), np.zeros(0))
    made = cluster_graph(graph, 10)
    check(made, 1000, 10)
    assert np.bincount(made.labels).max() <= 300


def test_clusters_are_numbered_by_size() -> None:
    assert number_by_size(np.array([5, 3, 3, 9, 9, 3])).tolist() == [2, 0, 0, 1, 1, 0]


def test_too_few_clusters_are_refused() -> None:
    graph, _group = planted(2, 5)
    with pytest.raises(ValueError, match="at least 1"):
        cluster_graph(graph, 0)


# -- pages --------------------------------------------------------------------------------------------------------------

TOPICS = {
    "birds": "owl kestrel heron plumage nest migration wader falcon finch beak",
    "ships": "mast keel rigging hull schooner anchor frigate sail harbour bow",
    "bread": "yeast flour dough oven crust sourdough loaf rye knead starter",
}


def web(each: int = 12) -> dict[str, str]:
    rng = np.random.default_rng(3)
    return {
        f"http://a.example/{number:03}-{topic}": f"<title>{topic} {number}</title><p>" + " ".join(
            rng.choice(words.split(), 30).tolist()
        )
        for topic, words in TOPICS.items()
        for number in rng.choice(900, each, replace=False).tolist()
    }  # fmt: skip


def test_pages_about_one_subject_are_one_cluster() -> None:
    corpus = read_web(web())
    made = cluster_pages(corpus, threads=2)
    check(made, len(corpus), 30)
    subject = np.array([corpus.page_url(page).rsplit("-", 1)[1] for page in range(len(corpus))])
    assert all(len(set(subject[made.labels == cluster])) == 1 for cluster in range(int(made.labels.max()) + 1))
    again = cluster_pages(corpus)
    assert all(np.array_equal(a, b) for a, b in zip(made.levels, again.levels, strict=True))


def test_parts_of_clusters_are_on_the_next_level() -> None:
    graph, group = planted(12, 60)
    made = cluster_graph(graph, 3)
    assert made.chosen + 1 < len(made.levels)
    check(made, len(group), 3)
    assert measure_agreement(group, made.levels[made.chosen + 1]).adjusted_rand > 0.9


@pytest.mark.parametrize("pages", [1, 2, 3])
def test_a_few_pages_are_one_cluster(pages: int) -> None:
    corpus = read_web({f"http://a.example/{n}": f"<title>t</title><p>word{n} other" for n in range(pages)})
    made = cluster_pages(corpus)
    assert made.labels.tolist() == [0] * pages
    check(made, pages, 30)


def test_pages_without_words_or_links_get_a_home() -> None:
    pages = web()
    empty = {f"http://a.example/{number:03}": "<html><body></body></html>" for number in range(0, 900, 60)}
    corpus = read_web(pages | empty)
    made = cluster_pages(corpus, 5)
    check(made, len(pages) + len(empty), 5)
    nothing = cluster_pages(read_web(empty), 5)
    check(nothing, len(empty), 5)


def test_a_mirror_stands_where_its_original_stands() -> None:
    topics = {"stone": "granite slate basalt marble gneiss quartz", "bird": "owl wren hawk heron swift robin"}
    pages = {}
    for host in ("a.example", "mirror.example"):
        for topic, kinds in topics.items():
            for kind in kinds.split():
                text = " ".join(f"{kind}{letter} {topic}{letter}" for letter in "abcdefgh")
                links = " ".join(f"<a href='/{other}'>{other}</a>" for other in kinds.split() if other != kind)
                pages[f"http://{host}/{kind}"] = f"<title>{kind}</title><p>{text}<p>{links}"
    corpus = read_web(pages)
    labels = cluster_pages(corpus, 4).labels
    by_name: list[dict[str, int]] = [{}, {}]
    for page in range(len(corpus)):
        _scheme, _, host, name = corpus.page_url(page).split("/")
        by_name[host == "mirror.example"][name] = int(labels[page])
    assert by_name[0] == by_name[1]
    assert len(set(by_name[0].values())) > 1
