"""The epoch: what bags depend on beyond their own pages and links, and its identity."""

import random

import numpy as np
import pytest

from pagekin.bags import EpochColumns, Strategy, check_bags, choose_strategy, epoch_identity
from pagekin.bags.epoch import stored_uses, uses_by_epoch
from pagekin.bags.weights import frequency_weights
from pagekin.store import Finding, Kin

from .test_order import all_records, make_web
from .webs import MadeBags, make, moved, read_records, record

STRATEGY = choose_strategy(settings=["links.scale=1"])


def made_of(records: list[bytes], strategy: Strategy = STRATEGY) -> MadeBags:
    return make(read_records(records), strategy)


@pytest.mark.parametrize("seed", range(3))
def test_the_identity_does_not_depend_on_the_order_of_records(seed: int) -> None:
    records = all_records(make_web(seed))
    expected = made_of(records)
    random.Random(seed).shuffle(records)
    again = made_of(records)
    assert (
        again.bags.epoch == expected.facts["epoch"]["identity"] == expected.bags.epoch == epoch_identity(expected.kin)
    )
    assert len(expected.bags.epoch) == 32


def test_whatever_other_bags_depend_on_changes_the_identity() -> None:
    records = all_records(make_web(1))
    identities = [
        made_of(records).bags.epoch,
        made_of([*records, record("http://new.example/", "granite")]).bags.epoch,  # bags and document frequencies
        made_of([*records, moved("http://alpha.example/new", "http://alpha.example/a")]).bags.epoch,  # aliases
        made_of(records, choose_strategy(settings=["links.scale=1", "weight.sigma=1"])).bags.epoch,  # factors
        made_of(records, choose_strategy(settings=["links.scale=1", "content.furniture=1"])).bags.epoch,
    ]
    assert len(set(identities)) == len(identities)


def test_an_epoch_holds_factors_furniture_and_pages_that_only_list() -> None:
    made = made_of(all_records(make_web(2)))
    epoch = EpochColumns.of(made.kin)
    df = made.kin["bagterm.df"]
    assert epoch.factor[df].tolist() == frequency_weights(df, len(made.bags), STRATEGY).tolist()
    assert "http://alpha.example/a" in {made.corpus.url(int(url)) for url in epoch.furniture}
    assert len(epoch.lists) == int(made.kin["link.lists"].sum())
    uses, repeats = stored_uses(made.kin)
    assert np.array_equal(uses, uses_by_epoch(made.kin)), "links are judged by the epoch as they were at first"
    assert repeats.any() and not uses[repeats].any()


def test_a_changed_epoch_is_found(demo_made: MadeBags) -> None:
    def findings(**changed: np.ndarray) -> list[Finding]:
        arrays = demo_made.kin.arrays | {name.replace("_", "."): array for name, array in changed.items()}
        kin = Kin(demo_made.kin.path, demo_made.kin.manifest, arrays)
        return [one for one in check_bags(kin, Strategy()) if one.where.startswith(("epoch", "bag.terms"))]

    assert findings() == []
    factor, furniture = demo_made.kin["epoch.factor"], demo_made.kin["epoch.furniture"]
    assert [one.where for one in findings(epoch_factor=factor * 2)] == ["epoch"]
    assert [one.where for one in findings(epoch_factor=factor[:2])] == ["epoch.factor"]
    assert [one.where for one in findings(epoch_furniture=furniture + 10**6)] == ["epoch.furniture"]
    assert [one.where for one in findings(bag_terms=demo_made.kin["bag.terms"][::-1])] == ["bag.terms"]


@pytest.fixture(scope="module")
def demo_made() -> MadeBags:
    return made_of(all_records(make_web(3)), Strategy())
