"""Bags name the epoch by which they were weighed, and answers say where bags of others were compared."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from pagekin.collection import Answer, Bag, Collection, RelatedRequest, ReloadingCollection
from pagekin.routers import Router, ShardedCollection
from pagekin.routers.travelling_bags import mean_bag
from tests.cutting import shard_collection
from tests.doors.conftest import harbour_pages
from tests.routers.webs import build_leaf, eager

URL = "http://one.example/near"


@pytest.fixture(scope="module")
def kins(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two collections that share most of their pages, and the first in shards."""
    folder = tmp_path_factory.mktemp("epochs")
    kins = {name: build_leaf(folder / f"{name}.kin", harbour_pages(pages)) for name, pages in (("a", 20), ("b", 26))}
    shard_collection(kins["a"], 2, folder / "shards.kin")
    return {**kins, "shards": folder / "shards.kin"}


@pytest.fixture(scope="module")
def bag(kins: dict[str, Path]) -> Bag:
    """The bag of a page of the first collection."""
    return Collection("a", kins["a"]).bag(RelatedRequest(url=URL))


def test_a_bag_of_the_same_epoch_is_compared_without_a_word(kins: dict[str, Path], bag: Bag) -> None:
    assert bag.epoch
    for answer in (
        Collection("a", kins["a"]).related(RelatedRequest(bag=bag)),
        asyncio.run(ShardedCollection("a", kins["shards"]).related(RelatedRequest(bag=bag))),
    ):
        assert answer.results
        assert (answer.other_epochs, answer.note) == (0, "")


def test_a_bag_of_another_epoch_or_of_none_is_compared_and_that_is_said(kins: dict[str, Path], bag: Bag) -> None:
    other = Collection("b", kins["b"])
    assert other.bag(RelatedRequest(url=URL)).epoch != bag.epoch
    for asked in (bag, msgspec.structs.replace(bag, epoch="")):
        answer = other.related(RelatedRequest(bag=asked))
        assert answer.results
        assert answer.other_epochs == 1
        assert "weighed words by other frequencies" in answer.note


def test_a_router_says_how_many_collections_compared_another_epoch(kins: dict[str, Path]) -> None:
    leaves = {name: ReloadingCollection(name, kins[name]) for name in ("a", "b")}
    router = Router("root", {name: f"http://{name}.example/" for name in leaves}, eager(), near=leaves)

    async def ask() -> Answer:
        await router.knowledge.refresh()
        return await router.related(RelatedRequest(url=URL, path=("root", "a"), deadline=60))

    answer = asyncio.run(ask())
    assert len({hit.path[1] for hit in answer}) == 2
    assert answer.other_epochs == 1
    assert "One collection weighed words by other frequencies" in answer.note


def test_the_mean_of_bags_of_several_epochs_has_none(kins: dict[str, Path], bag: Bag) -> None:
    other = Collection("b", kins["b"]).bag(RelatedRequest(url=URL))
    assert mean_bag([bag, bag]).epoch == bag.epoch
    assert mean_bag([bag, other]).epoch == ""
