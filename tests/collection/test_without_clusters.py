"""A collection that was built without clusters has no label, and answers all questions that need none."""

from collections.abc import Iterator

import pytest

import pagekin
from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.index import PageIndex
from pagekin.store import KinError
from tests.bags.webs import record
from tests.collection.test_refinement import SITE, web


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageIndex]:
    folder = tmp_path_factory.mktemp("bare")
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in web().items()))
    build_collection(
        ReadPlan([str(folder / "web.warc")], folder / "bare.kin", workers=1), BuildRecipe(Strategy(), None, text=True)
    )
    with pagekin.open(folder / "bare.kin") as opened:
        yield opened


def test_search_related_and_refinement_need_no_label(index: PageIndex) -> None:
    found = index.search("black holes")
    assert found.results[0].url.startswith(f"{SITE}holes/")
    assert found.results[0].cluster == 0
    assert found.results[0].cluster_name == ""
    near = index.related(f"{SITE}stars/1")
    assert near.results[0].url.startswith(f"{SITE}stars/")
    assert index.show("black holes", found.results[:2]).results[0].snippet
    assert index.refine("gravity").known > 0
    assert index.suggest("woodpecker").results
    assert index.page(f"{SITE}birds/1")["title"] == "Woodpecker 1"
    assert len(index) == len(web())


def test_what_is_made_of_a_label_says_how_to_make_it(index: PageIndex) -> None:
    with pytest.raises(KinError, match=r"no content label yet\. Make it with: pagekin cluster"):
        index.label()
