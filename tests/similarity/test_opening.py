"""An index of related pages is opened by its path, and says what to do where there is none."""

from pathlib import Path

import pytest

from pagekin.bags import Strategy
from pagekin.hypertext import ReadPlan, read_sources
from pagekin.similarity import RelatedIndex
from pagekin.store import KinError, KinWriter, open_kin
from tests.bags.webs import record

from .test_related import STONES, WEB, names
from .webs import index_web


@pytest.fixture(scope="module")
def stones(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    return index_web(tmp_path_factory.mktemp("stones"), WEB)


def test_a_collection_is_opened_by_its_path_and_lists_its_addresses(stones: RelatedIndex) -> None:
    index = RelatedIndex.open(str(stones.corpus.kin.path))
    assert len(index) == len(index.urls) == len(WEB)
    assert list(index.urls) == sorted(WEB)
    assert index.urls[0] == index.urls[-5] == STONES + "gneiss"
    assert index.urls[1:3] == [STONES + "granite", STONES + "slate"]
    assert index.urls[::-2] == sorted(WEB)[::-2]
    assert STONES + "slate" in index.urls
    assert STONES + "marble" not in index.urls
    assert 7 not in index.urls
    assert index.urls.index(STONES + "slate") == 2
    for wrong in (5, -6):
        with pytest.raises(IndexError, match="there are 5 URLs"):
            index.urls[wrong]
    assert names(index.related(index.urls[0], k=1)) == ["granite"]


def test_a_collection_that_was_only_read_says_how_to_index_it(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(record(STONES, "granite"))
    read_sources(ReadPlan([str(tmp_path / "web.warc")], tmp_path / "web.kin", workers=1, parser="strict"))
    with pytest.raises(KinError, match=r"has been read but not indexed.*pagekin index .*web\.kin"):
        RelatedIndex.open(tmp_path / "web.kin")


def test_a_folder_that_is_no_collection_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(KinError, match="pagekin build"):
        RelatedIndex.open(tmp_path / "none.kin")


FORGETFUL = {name: value for name, value in Strategy().as_dict().items() if name != "content"}


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({**Strategy().as_dict(), "moods": {"gloom": 1}}, r"strategy that this Pagekin does not know \(.*moods.*"),
        ({**FORGETFUL, "content": {"scale": 2.0}}, "earlier Pagekin, whose strategies had other settings"),
    ],
)
def test_an_index_of_a_strategy_from_another_version_says_how_to_make_it_anew(
    tmp_path: Path, stored: dict[str, object], said: str
) -> None:
    kin = index_web(tmp_path, WEB).corpus.kin
    facts = {**kin.facts, "index": {**kin.facts["index"], "strategy": stored}}
    with KinWriter(kin.path, "test") as writer:
        writer.commit(facts, keep=kin.manifest["files"])
    with pytest.raises(KinError, match=f"{said}.*pagekin index"):
        RelatedIndex.open(kin.path)
    assert open_kin(kin.path).facts["pages"] == 5
