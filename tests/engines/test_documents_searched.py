"""The papers of Figure 1 are searched as one document each, and no filter of the label parts their words."""

import asyncio
from itertools import pairwise

import numpy as np
import pytest

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings, read_trees
from pagekin.collection import ReloadingCollection, SearchRequest
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.labels import term_key
from pagekin.text import form_of
from tests.clusters.conference import BASE_URL, PAPERS, paper_at, write_site
from tests.labels.asking import may_hold


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> ReloadingCollection:
    folder = tmp_path_factory.mktemp("papers")
    write_site(folder / "site")
    plan = ReadPlan([str(folder / "site")], folder / "site.kin", base_url=BASE_URL, parser="strict", workers=1)
    # By words alone, so that the pages of some papers lie in several sub-clusters.
    build_collection(plan, BuildRecipe(Strategy(), ClusterSettings("hypursuit1996", 29, "terms"), text=True))
    return ReloadingCollection("papers", plan.out)


def words_apart(leaf: ReloadingCollection) -> list[tuple[int, str, str]]:
    """(paper, a word, another): words that stand on different pages of a paper only, and nowhere together."""
    corpus = leaf.collection.corpus
    forms = [{form_of(corpus.word(int(w))) for w in set(corpus.words(page).tolist())} for page in range(len(corpus))]
    found = []
    for number in range(len(PAPERS)):
        pages = [page for page in range(len(corpus)) if paper_at(corpus.page_url(page)) == number]
        for one, other in pairwise(pages):
            first = sorted(forms[one] - set().union(*(forms[page] for page in pages if page != one)))
            second = sorted(forms[other] - set().union(*(forms[page] for page in pages if page != other)))
            for a, b in zip(first[:3], second[:3], strict=False):
                if form_of(a) == a and form_of(b) == b and not any({a, b} <= held for held in forms):
                    found.append((number, a, b))
    return found


def test_words_on_different_pages_of_a_paper_find_the_paper_once(leaf: ReloadingCollection) -> None:
    apart = words_apart(leaf)
    assert len(apart) > 10
    for number, first, second in apart:
        answer = asyncio.run(leaf.search(SearchRequest(query=f"{first} {second}", limit=100)))
        papers = [paper_at(found.url) for found in answer.results]
        assert papers.count(number) == 1, (first, second)
        assert answer.total == len(set(papers)) == len(papers), "each paper is one hit"
        mine = next(found for found in answer.results if paper_at(found.url) == number)
        assert mine.pages == PAPERS[number].pages()


def test_a_sub_cluster_with_a_page_of_a_paper_knows_all_its_words(leaf: ReloadingCollection) -> None:
    corpus, tree = leaf.collection.corpus, read_trees(leaf.collection.corpus.kin)[0]
    papers = np.array([paper_at(corpus.page_url(page)) for page in range(len(corpus))])
    of = [{int(papers[page]) for node in one.nodes for page in tree.pages_of(node)} for one in leaf.label.clusters]
    parted = 0
    for number, first, second in words_apart(leaf):
        asked = np.array([term_key(first), term_key(second)], np.uint64)
        mine = [one for one, held in zip(leaf.label.clusters, of, strict=True) if number in held]
        parted += len(mine) > 1
        assert all(may_hold(filters, asked).all() for one in mine for filters in one.filters), (first, second)
    assert parted > 3, "no paper lies in several sub-clusters"
