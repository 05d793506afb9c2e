"""Documents of several pages in the proceedings of Figure 1: found, listed, and shown once in a cluster."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.bags import BagMatrix
from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.clusters import (
    DOCUMENTS_TREE,
    ClusterDescription,
    complete_link,
    count_terms,
    document_of,
    find_documents,
    link_similarity,
    measure_agreement,
    page_graph,
    read_trees,
    term_similarity,
    term_words,
    weigh_terms,
)
from pagekin.clusters.documents import document_tree
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.store import KinWriter, open_kin
from tests.bags.webs import read_records, record
from tests.clusters.conference import (
    BASE_URL,
    PAPERS,
    SESSIONS,
    paper_at,
    session_of,
    site,
    write_site,
)  # fmt: skip

from .test_documents import Web, absolute

load_verbs()


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


# -- Figure 1 -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def proceedings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("proceedings")
    write_site(folder / "site")
    code, said = run(
        "read", folder / "site", "--out", folder / "site.kin", "--base-url", BASE_URL, "--parser", "strict",
        "--workers", "1",
    )  # fmt: skip
    assert code == 0, said
    return folder / "site.kin"


@pytest.fixture(scope="module")
def corpus(proceedings: Path) -> Corpus:
    return Corpus.open(proceedings)


def papers_of(corpus: Corpus) -> np.ndarray:
    """The paper of each page, -1 for pages of none."""
    return np.array([paper_at(corpus.page_url(page)) for page in range(len(corpus))])


def test_the_site_is_as_in_the_figure(corpus: Corpus) -> None:
    assert len(corpus) == len(site()) == sum(paper.pages() for paper in PAPERS) + 2
    assert Counter(papers_of(corpus).tolist()) == {-1: 2} | {n: paper.pages() for n, paper in enumerate(PAPERS)}
    assert len({paper.pages() for paper in PAPERS}) >= 5
    graph = page_graph(corpus)
    index = corpus.pages_of(corpus.url_number(f"{BASE_URL}index.html"))[0]
    listed = graph.out_targets[graph.out_offsets[index] : graph.out_offsets[index + 1]].tolist()
    covers = [f"{BASE_URL}papers/{paper.folder}/cover.html" for paper in PAPERS]
    assert sorted(corpus.page_url(page) for page in listed) == sorted([*covers, f"{BASE_URL}about.html"])
    for page, paper in enumerate(papers_of(corpus)):
        targets = graph.out_targets[graph.out_offsets[page] : graph.out_offsets[page + 1]]
        assert index in targets or page == index
        if paper >= 0:  # a page of a paper links to its paper and to the site's navigation, and to no other paper
            assert set(papers_of(corpus)[targets]) == {-1, paper}


def test_links_alone_rebuild_the_papers(corpus: Corpus) -> None:
    """Cut where as many clusters as papers are left: contents and about page have to join one of them."""
    papers = papers_of(corpus)
    clusters = complete_link(link_similarity(page_graph(corpus)), len(PAPERS)).labels()
    of_papers = papers >= 0
    assert measure_agreement(papers[of_papers], clusters[of_papers]).adjusted_rand == 1.0
    assert len(set(clusters[~of_papers])) == 1


def test_without_the_navigation_line_the_contents_page_is_a_cluster_too() -> None:
    """The figure itself has no links back to the contents page: then the cut at one more gives every paper and it."""
    line = "<p><a href='../../index.html'>"
    pages = {
        path: html[: html.index(line)] + html[html.index("<hr>") :] if line in html else html
        for path, html in site().items()
        if path != "about.html"
    }
    corpus = read_records(record(BASE_URL + path, html) for path, html in pages.items())
    clusters = complete_link(link_similarity(page_graph(corpus)), len(PAPERS) + 1).labels()
    assert measure_agreement(papers_of(corpus), clusters).adjusted_rand == 1.0


def test_links_alone_do_not_find_the_sessions(corpus: Corpus) -> None:
    papers = papers_of(corpus)
    inside = papers >= 0
    sessions = np.array([session_of(paper) for paper in papers[inside]])
    merges = complete_link(link_similarity(page_graph(corpus)), 1)
    for clusters in range(len(SESSIONS), len(SESSIONS) + 3):
        labels = merges.labels(len(corpus) - clusters)[inside]
        assert measure_agreement(sessions, labels).adjusted_rand < 0.15


def test_words_of_whole_papers_find_the_sessions(corpus: Corpus) -> None:
    """Each paper counts as one document with summed tf, as a router's sub-clusters do."""
    counted = count_terms(corpus, term_words(corpus))
    papers = papers_of(corpus)
    sums: list[Counter[int]] = [Counter() for _ in PAPERS]
    for page in np.flatnonzero(papers >= 0):
        row = slice(counted.offsets[page], counted.offsets[page + 1])
        sums[papers[page]].update(dict(zip(counted.terms[row].tolist(), counted.weights[row].tolist(), strict=True)))
    rows = [sorted(one.items()) for one in sums]
    offsets = np.cumsum([0, *map(len, rows)])
    terms, counts = (np.array([pair[side] for row in rows for pair in row]) for side in (0, 1))
    summed = BagMatrix(offsets, terms, counts, counted.columns)
    clusters = complete_link(term_similarity(weigh_terms(summed)), len(SESSIONS)).labels()
    assert (
        measure_agreement(np.array([session_of(paper) for paper in range(len(PAPERS))]), clusters).adjusted_rand == 1.0
    )
    single = complete_link(term_similarity(weigh_terms(counted)), len(SESSIONS)).labels()[papers >= 0]
    sessions = np.array([session_of(paper) for paper in papers[papers >= 0]])
    assert measure_agreement(sessions, single).adjusted_rand < 0.8  # pages alone have too few words


def test_every_paper_is_found_as_a_document(corpus: Corpus) -> None:
    papers = papers_of(corpus)
    found = find_documents(corpus)
    assert {(one.title, corpus.page_url(one.cover), one.pages) for one in found} == {
        (
            paper.title,
            f"{BASE_URL}papers/{paper.folder}/cover.html",
            tuple(np.flatnonzero(papers == number).tolist()),
        )
        for number, paper in enumerate(PAPERS)
    }


# -- in a collection ----------------------------------------------------------------------------------------------------


def test_the_tree_gives_each_page_its_document(tmp_path: Path, corpus: Corpus) -> None:
    from pagekin.clusters import put_trees

    made = document_tree(corpus)
    with KinWriter(tmp_path / "web.kin", "test") as writer:
        writer.commit(put_trees(writer, [made]))
    (again,) = read_trees(open_kin(tmp_path / "web.kin"))
    assert again.name == DOCUMENTS_TREE
    numbers = document_of(again, len(corpus))
    assert np.array_equal(numbers, document_of(made, len(corpus)))
    papers = papers_of(corpus)
    assert measure_agreement(papers[papers >= 0], numbers[papers >= 0]).adjusted_rand == 1.0
    alone = np.flatnonzero(papers < 0)
    assert np.array_equal(numbers[alone], alone)
    assert document_of(None, 3).tolist() == [0, 1, 2]
    uncovered = replace(made, descriptions=[ClusterDescription("", (), ())] * len(made))
    assert measure_agreement(numbers, document_of(uncovered, len(corpus))).adjusted_rand == 1.0


@pytest.fixture(scope="module")
def clustered(proceedings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("clustered") / "site.kin"
    shutil.copytree(proceedings, copy)
    code, said = run("cluster", copy, "--max-clusters", "5")
    assert code == 0, said
    return copy


def test_documents_are_listed(clustered: Path) -> None:
    assert [tree.name for tree in read_trees(open_kin(clustered))] == ["clusters", "addresses", "documents"]
    assert open_kin(clustered).facts["trees"][0]["documents"] == len(PAPERS)
    assert run("check", clustered)[0] == 0
    told = json.loads(run("clusters", clustered, "--documents", "--json")[1])
    assert {one["title"]: (one["pages"], one["url"]) for one in told} == {
        paper.title: (paper.pages(), f"{BASE_URL}papers/{paper.folder}/cover.html") for paper in PAPERS
    }
    assert [one["pages"] for one in told] == sorted((paper.pages() for paper in PAPERS), reverse=True)
    code, said = run("clusters", clustered, "--documents")
    assert (code, said) == run("clusters", clustered, "--hierarchy", "documents")
    assert code == 0
    for paper in PAPERS:
        assert f"{paper.pages()} pages  {paper.title}" in said


def test_one_document_with_all_its_pages(clustered: Path) -> None:
    figure = f"{BASE_URL}papers/queue/figure1.html"
    code, said = run("clusters", clustered, figure, "--documents")
    assert code == 0
    assert "A Lock-Free Queue, 7 pages" in said
    lines = [line.strip() for line in said.splitlines() if "http" in line]
    assert lines[0] == f"{BASE_URL}papers/queue/cover.html"
    assert sorted(lines) == sorted(BASE_URL + path for path in site() if path.startswith("papers/queue/"))
    told = json.loads(run("clusters", clustered, figure, "--documents", "--json")[1])
    assert [part["url"] for part in told["parts"]] == sorted(lines)
    assert json.loads(run("clusters", clustered, str(told["document"]), "--documents", "--json")[1]) == told


def test_pages_of_a_document_are_shown_once_in_a_cluster(clustered: Path) -> None:
    told = json.loads(run("clusters", clustered, "--tree", "--json")[1])
    seen = 0
    nodes = [told]
    while nodes:
        node = nodes.pop()
        nodes += node["children"]
        urls = [page["url"] for page in node["central"]]
        assert len(urls) == len(set(urls))
        for page in node["central"]:
            paper = paper_at(page["url"])
            assert page["pages"] == (PAPERS[paper].pages() if paper >= 0 else 1)
            assert paper < 0 or page["url"].endswith("/cover.html")
            seen += paper >= 0
    assert seen > 5
    said = run("clusters", clustered, f"{BASE_URL}papers/queue/section1.html")[1]
    assert said.count("A Lock-Free Queue (7 pages)") == 1
    assert "papers/queue/section" not in said
    assert any(f"{paper.title} ({paper.pages()} pages)" in run("clusters", clustered)[1] for paper in PAPERS)


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["--documents", "--hierarchy", "addresses"], "leave out --hierarchy addresses", USAGE),
        ([f"{BASE_URL}about.html", "--documents"], "about.html is a document of one page", BAD_INPUT),
        ([f"{BASE_URL}gone.html", "--documents"], "is not in", BAD_INPUT),
        (["99", "--documents"], "the last is 19", USAGE),
    ],
)
def test_mistakes_are_told(clustered: Path, arguments: list[str], said: str, code: int) -> None:
    found, output = run("clusters", clustered, *arguments)
    assert (found, said in output) == (code, True), output


def test_a_collection_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(b"".join(Web().both("a.html", "b.html").records()))
    kin = tmp_path / "web.kin"
    read_sources(ReadPlan([str(tmp_path / "web.warc")], kin, parser="strict", workers=1))
    assert run("clusters", kin, "--documents")[0] == BAD_INPUT
    assert run("cluster", kin)[0] == 0
    assert [tree.name for tree in read_trees(open_kin(kin))] == ["clusters", "addresses"]
    assert run("clusters", kin, "--documents") == (0, "No documents of several pages.\n")
    assert json.loads(run("clusters", kin, "--documents", "--json")[1]) == []
    code, said = run("clusters", kin, absolute("a.html"), "--documents")
    assert (code, "no documents of several pages" in said) == (BAD_INPUT, True)


def test_clusters_from_before_there_were_documents_say_how_to_find_them(clustered: Path, tmp_path: Path) -> None:
    copy = tmp_path / "site.kin"
    shutil.copytree(clustered, copy)
    kin = open_kin(copy)
    facts = json.loads(json.dumps(dict(kin.facts)))
    del facts["trees"][0]["documents"]
    facts["trees"] = facts["trees"][:2]
    with KinWriter(copy, "test") as writer:
        writer.commit(facts, keep=kin.manifest["files"])
    code, said = run("clusters", copy, "--documents")
    assert (code, "pagekin cluster" in said) == (BAD_INPUT, True)
    assert run("clusters", copy)[0] == 0
