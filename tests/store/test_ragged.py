"""Many short byte strings: looked up and taken together as one by one."""

import random

import numpy as np
import pytest

from pagekin.hypertext import site_names, sites_of_urls
from pagekin.store import RaggedBytes, join_strings, pack_strings


@pytest.mark.parametrize("count", [1, 500])
def test_many_keys_are_found_as_one_by_one(count: int) -> None:
    chance = random.Random(count)
    names = sorted({b"%d" % chance.randrange(2_000) for _ in range(800)})
    keys = [b"%d" % chance.randrange(2_000) for _ in range(count)]
    table = RaggedBytes(*pack_strings(names))
    assert table.find_all(keys).tolist() == [table.find(key) for key in keys]
    assert table.nearest_all(keys).tolist() == [table.nearest(key) for key in keys]
    shuffled = chance.sample(names, len(names))
    table = RaggedBytes(*pack_strings(shuffled))
    order = np.array(sorted(range(len(shuffled)), key=shuffled.__getitem__))
    assert table.find_all(keys, order).tolist() == [table.find(key, order) for key in keys]
    packed, rising = RaggedBytes(*pack_strings(keys)), np.array(sorted(range(len(keys)), key=keys.__getitem__))
    assert table.find_all(packed, order, rising).tolist() == [table.find(key, order) for key in keys]


def test_strings_are_taken_in_any_order() -> None:
    names = [b"oak", b"", b"elm", b"ash"]
    table = RaggedBytes(*pack_strings(names))
    assert list(table.select(np.array([3, 0, 0, 1]))) == [b"ash", b"oak", b"oak", b""]
    assert list(table.select(np.zeros(0, np.int64))) == []
    assert list(table.select(np.arange(4_000) % 4)) == 1_000 * names, "as many take a kernel"
    assert list(RaggedBytes(*join_strings([table, table]))) == 2 * names


def test_sites_are_named_as_by_all_addresses() -> None:
    hosts = ("a.example.org", "b.example.org", "example.org:80", "example.com", "www.example.com", "x.test")
    urls = sorted(f"http://{host}/{page}".encode() for host in hosts for page in ("", "a", "z/ü"))
    table = RaggedBytes(*pack_strings(urls))
    assert site_names(table) == sites_of_urls(table)[1]


def test_hundreds_of_keys_are_looked_for_by_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each search in Python takes longer than ten of these: updates look for the addresses of all that is new."""
    names = [f"{number:06}".encode() for number in range(60_000)]
    table, searched = RaggedBytes(*pack_strings(names)), list[bytes]()
    find = RaggedBytes.find
    monkeypatch.setattr(
        RaggedBytes, "find", lambda self, key, order=None: searched.append(key) or find(self, key, order)
    )
    for count in (10, 300):
        asked = [*names[:: 60_000 // count], b"x"]
        assert table.find_all(asked).tolist() == [*range(0, 60_000, 60_000 // count), -1]
    assert len(searched) == 11, "only the few are looked for one by one"
