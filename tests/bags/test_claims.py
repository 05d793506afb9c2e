"""Claims: of equal links in several shards, those of the first shard count."""

import random

import numpy as np
import pytest

from pagekin.bags import Claims, divide_claims, find_lost, join_claims


def claims_of(pairs: list[tuple[int, int]]) -> Claims:
    return Claims(*(np.array([pair[side] for pair in pairs], np.uint64) for side in (0, 1)))


def pairs_of(claims: Claims) -> list[tuple[int, int]]:
    return list(zip(claims.targets.tolist(), claims.keys.tolist(), strict=True))


def some_claims(rng: random.Random) -> list[tuple[int, int]]:
    """Return different claims, few enough that several shards have the same."""
    return rng.sample([(target, key) for target in range(12) for key in (1, 2**63 + 1, 2**64 - 1)], rng.randint(0, 30))


@pytest.mark.parametrize("seed", range(5))
def test_a_claim_is_lost_if_a_shard_before_has_it(seed: int) -> None:
    rng = random.Random(seed)
    shards = [some_claims(rng) for _ in range(4)]
    before: set[tuple[int, int]] = set()
    for mine, lost in zip(shards, find_lost(list(map(claims_of, shards))), strict=True):
        assert pairs_of(lost) == [pair for pair in mine if pair in before]
        before.update(mine)


@pytest.mark.parametrize("seed", range(5))
def test_links_are_marked_by_target_and_text(seed: int) -> None:
    rng = random.Random(seed)
    lost, links = some_claims(rng), [rng.choice([(3, 1), (3, 2), (7, 2**64 - 1)]) for _ in range(20)]
    marks = claims_of(lost).mark(*claims_of(links))
    assert marks.tolist() == [link in lost for link in links]


def test_nothing_is_lost_where_nothing_is_claimed() -> None:
    nothing = join_claims([])
    assert not nothing.mark(*claims_of([(1, 1)])).any()
    assert [len(part.keys) for part in find_lost([nothing, nothing])] == [0, 0]


@pytest.mark.parametrize("links", [[(7, 2 * text + 1) for text in range(8_000)], [(page, 5) for page in range(8_000)]])
def test_ranges_hold_about_as_many_claims_also_for_one_address_or_one_text(links: list[tuple[int, int]]) -> None:
    parts = divide_claims(claims_of(links), 8)
    assert sorted(pair for part in parts for pair in pairs_of(part)) == sorted(links)
    assert max(len(part.keys) for part in parts) < 1.2 * 1_000
