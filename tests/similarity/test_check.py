"""The check of an index notices what was changed after it was made, though every file's checksum is right."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.bags import Origin, choose_strategy
from pagekin.hypertext import Corpus
from pagekin.similarity import INDEX_ARRAYS, RelatedIndex, check_index
from pagekin.similarity.packed import PackedLists, pack_lists
from pagekin.store import Finding, Kin, KinError, KinWriter, check_files, open_kin

from .webs import Array, index_web

STONES = "http://stones.example/"
WEB = {
    STONES: "<title>Quarry</title>Granite and <a href=/granite>granite</a>, gneiss and <a href=/gneiss>gneiss</a>",
    STONES + "granite": "<title>Granite</title>Granite is mica and quartz, <a href=/>a stone</a>",
    STONES + "gneiss": f"<title>Gneiss</title>Gneiss is folded <a href={STONES}granite>granite</a>",
    "http://clay.example/": f"<title>Clay</title>Clay has <a href={STONES}granite>weathered</a>, and <a href=/slate>slate</a>",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Kin:
    """Four pages of two sites and a fifth known by a link alone; bags with words, titles, links' words, citing pages and
    linked ones."""
    return index_web(
        tmp_path_factory.mktemp("small"), WEB, choose_strategy(settings=["links.scale=1", "signature.m=16"])
    ).corpus.kin


def rewritten(
    kin: Kin, folder: Path, arrays: dict[str, Array] | None = None, facts: dict[str, Any] | None = None
) -> list[Finding]:
    """What the check says about a copy of a collection in which some arrays and facts of the index are others."""
    with KinWriter(folder / "copy.kin", "test") as writer:
        for name, array in {**kin.arrays, **(arrays or {})}.items():
            writer.put(name, array)
        writer.commit({**kin.facts, "index": {**kin.facts["index"], **(facts or {})}})
    assert list(check_files(folder / "copy.kin")) == []
    findings = list(check_index(open_kin(folder / "copy.kin")))
    assert all(len(finding.what.split()) >= 4 for finding in findings), "a finding is a sentence"
    return findings


def with_arrays(kin: Kin, arrays: dict[str, Array]) -> Kin:
    """The same collection with some other arrays: what opening a rewritten copy would give."""
    return Kin(kin.path, kin.manifest, {**kin.arrays, **arrays})


def with_facts(kin: Kin, facts: dict[str, Any]) -> Kin:
    """The same collection with some other facts of the index."""
    index = {**kin.facts["index"], **facts}
    return Kin(kin.path, {**kin.manifest, "facts": {**kin.facts, "index": index}}, kin.arrays)


def index_arrays(kin: Kin) -> list[str]:
    return [name for name in kin.arrays if name.startswith(INDEX_ARRAYS)]


def test_a_whole_index_yields_nothing(small: Kin, demo: RelatedIndex, tmp_path: Path) -> None:
    assert list(check_index(small)) == []
    assert list(check_index(demo.corpus.kin)) == []
    assert rewritten(small, tmp_path) == []


@pytest.mark.parametrize(
    "settings",
    [
        ["signature.maker=paper"],
        ["signature.min_inlinks=1"],
        ["signature.min_inlinks=99"],
        ["content.scale=0", "title.scale=0"],
        ["words=letters", "stemming=nostem", "anchors.scale=0"],
    ],
    ids=str,
)
def test_whatever_the_strategy_a_new_index_is_whole(tmp_path: Path, settings: list[str]) -> None:
    assert list(check_index(index_web(tmp_path, WEB, choose_strategy(settings=settings)).corpus.kin)) == []


def test_a_collection_without_an_index_has_nothing_to_check(small: Kin) -> None:
    arrays = {name: array for name, array in small.arrays.items() if not name.startswith(INDEX_ARRAYS)}
    facts = {name: fact for name, fact in small.facts.items() if name != "index"}
    assert list(check_index(Kin(small.path, {**small.manifest, "facts": facts}, arrays))) == []
    (finding,) = check_index(Kin(small.path, {**small.manifest, "facts": facts}, small.arrays))
    assert "not the strategy that made them" in finding.what


# -- one value ------------------------------------------------------------------------------------------------------


def next_number(value: Any) -> Any:
    return value + 1


def highest_bit(value: Any) -> Any:
    return value ^ (1 << (8 * value.dtype.itemsize - 1))


CHANGES: dict[str, list[Callable[[Any], Any]]] = {
    "bag.url": [next_number, highest_bit],
    "bag.offsets": [next_number, highest_bit],
    "bag.terms": [next_number, highest_bit],
    "bag.weights": [lambda weight: 2 * weight, lambda weight: -weight, lambda weight: weight * np.nan],
    "bag.from": [lambda _: 0, lambda origins: origins ^ 8, lambda origins: origins ^ 16, lambda origins: origins | 32],
    "bag.counts": [lambda count: 1 - np.minimum(count, 1)],
    "bag.inlinks": [next_number, lambda count: count * 0 + 7],
    "bag.site": [next_number],
    "bagterm.hash": [highest_bit],
    "bagterm.order": [next_number, highest_bit],
    "bagterm.df": [next_number],
    "bagterm.pages": [next_number],
    "bagterm.shown": [next_number, highest_bit],
    "signature.rows": [next_number, highest_bit],
    "list.words": [next_number, highest_bit],
    "list.starts": [next_number, highest_bit],
    "list.positions": [next_number, lambda place: place * 0 - 1],
    "copy.rows": [next_number, highest_bit],
    "epoch.factor": [next_number],
    "link.out_offsets": [next_number, highest_bit],
    "link.out": [next_number, highest_bit],
    "link.in_offsets": [next_number, highest_bit],
    "link.into": [next_number, highest_bit],
    "link.out_weight": [next_number],
    "link.in_weight": [next_number],
    "link.lists": [lambda listed: listed + 2],
    "link.use": [lambda use: use + 1],
}


def test_every_array_of_the_index_is_put_to_the_test(small: Kin) -> None:
    empty = {"epoch.furniture", "epoch.navigation", "epoch.lists"}  # of so small a web; tests of the epoch change them
    assert set(CHANGES) == set(index_arrays(small)) - empty
    assert not any(len(small[name]) for name in empty)


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_value_is_noticed_wherever_it_stands(small: Kin, name: str) -> None:
    """In a small collection, where nothing is left out."""
    length = len(small[name])
    for place in np.unique(np.linspace(0, length - 1, 25).astype(int)).tolist():
        for number, change in enumerate(CHANGES[name]):
            array = np.array(small[name])
            with np.errstate(over="ignore"):
                array[place] = change(array[place])
            findings = list(check_index(with_arrays(small, {name: array})))
            assert findings, (name, place, number)
            assert all(len(finding.what.split()) >= 4 for finding in findings), "a finding is a sentence"


@pytest.mark.parametrize("name", CHANGES)
def test_an_array_that_is_missing_too_short_or_too_long_is_noticed(small: Kin, name: str) -> None:
    for array in (small[name][:-1], small[name][1:], np.append(small[name], small[name][-1:])):
        assert name in {finding.where for finding in check_index(with_arrays(small, {name: array}))}
    if name == "link.use":  # earlier versions did not write it
        return
    without = {other: array for other, array in small.arrays.items() if other != name}
    (finding,) = check_index(Kin(small.path, small.manifest, without))
    assert (finding.where, finding.what) == (name, "is missing from the index")


# -- values that fit, in the wrong place ----------------------------------------------------------------------------

SHIFTED = [name for name in CHANGES if name not in ("bag.offsets", "list.starts", "list.positions", "bag.url")]


@pytest.mark.parametrize("name", SHIFTED)
def test_values_of_a_real_collection_that_moved_by_one_are_noticed(
    demo: RelatedIndex, tmp_path: Path, name: str
) -> None:
    """As if a batch had been written twice: all numbers are possible, and all are wrong."""
    kin = demo.corpus.kin
    assert rewritten(kin, tmp_path, {name: np.roll(kin[name], 1)}), name


def packed_again(kin: Kin, change: Callable[[int, Array], Array]) -> dict[str, Array]:
    """The lists of a collection, with the pairs of each position changed."""
    lists = PackedLists.of(kin, kin.facts["index"]["bags"])
    words, starts, positions = [], [], [0]
    for j in range(len(lists.positions) - 1):
        own, begins = pack_lists(change(j, lists.pairs(j)), lists.bucket_bits, lists.document_bits)
        words.append(own)
        starts.append(begins)
        positions.append(positions[-1] + 8 * len(own))
    return {
        "list.words": np.concatenate([*words, np.zeros(1, np.uint64)]),
        "list.starts": np.concatenate(starts).astype(np.uint32),
        "list.positions": np.array(positions),
    }


def test_lists_that_are_packed_again_are_the_same(small: Kin) -> None:
    for name, array in packed_again(small, lambda _j, pairs: pairs).items():
        np.testing.assert_array_equal(array, small[name])


def shared(pairs: Array) -> Array:
    """The places of pairs with the key of the one before."""
    return np.flatnonzero(pairs[1:] >> np.uint64(32) == pairs[:-1] >> np.uint64(32)) + 1


@pytest.mark.parametrize("of_many", [True, False])
def test_a_document_that_is_missing_from_its_list_is_noticed(small: Kin, of_many: bool) -> None:
    def leave_out(j: int, pairs: Array) -> Array:
        others = np.setdiff1d(np.arange(len(pairs)), np.append(shared(pairs), shared(pairs) - 1))
        places = shared(pairs) if of_many else others
        return np.delete(pairs, places[:1]) if j == 3 else pairs

    changed = packed_again(small, leave_out)
    assert len(changed["list.words"]) <= len(small["list.words"])
    facts = {"listed": small.facts["index"]["listed"] - 1, "list_words": len(changed["list.words"])}
    kin = with_facts(with_arrays(small, changed), facts)
    (finding,) = check_index(kin)
    assert "once and in order at position 3" in finding.what
    if of_many:
        (finding,) = check_index(with_facts(kin, {"singles_left_out": True}))
        assert "once and in order at position 3" in finding.what
    else:
        fewer = {"lists": small.facts["index"]["lists"] - 1, "singles_left_out": True}
        assert list(check_index(with_facts(kin, fewer))) == [], "no other document has the value"


def test_a_document_of_another_list_is_noticed(small: Kin) -> None:
    def move(j: int, pairs: Array) -> Array:
        low = np.uint64(0xFFFFFFFF)
        return np.sort(pairs & ~low | np.roll(pairs & low, 1)) if j == 5 else pairs

    changed = packed_again(small, move)
    kin = with_facts(with_arrays(small, changed), {"list_words": len(changed["list.words"])})
    (finding,) = check_index(kin)
    assert "does not invert the signatures at position 5" in finding.what


def test_lists_of_an_earlier_version_are_to_be_made_again(small: Kin) -> None:
    arrays = {name: array for name, array in small.arrays.items() if name != "list.words"}
    earlier = Kin(small.path, small.manifest, {**arrays, "list.docs": np.zeros(3, np.uint32)})
    with pytest.raises(KinError, match=f"Index it again: pagekin index {small.path}"):
        RelatedIndex(Corpus(earlier))
    facts = {name: fact for name, fact in small.facts["index"].items() if name != "listed"}
    manifest = {**small.manifest, "facts": {**small.facts, "index": facts}}
    findings = list(check_index(Kin(small.path, manifest, earlier.arrays)))
    assert [finding.where for finding in findings] == ["manifest.json"]


def test_signatures_of_another_seed_are_noticed_though_the_lists_invert_them(small: Kin, tmp_path: Path) -> None:
    other = index_web(
        tmp_path, WEB, choose_strategy(settings=["links.scale=1", "signature.m=16", "signature.seed=2"])
    ).corpus.kin
    names = [name for name in index_arrays(other) if name.startswith(("signature.", "list."))]
    findings = rewritten(
        small,
        tmp_path,
        {name: other[name] for name in names},
        {fact: other.facts["index"][fact] for fact in ("lists", "listed", "list_words")},
    )
    assert [finding.where for finding in findings] == ["signature.rows"]


def test_rising_weights_that_still_sum_to_1_are_noticed_by_the_signatures(small: Kin, tmp_path: Path) -> None:
    offsets, weights = small["bag.offsets"].astype(int), np.array(small["bag.weights"])
    part = weights[offsets[0] : offsets[1]]
    part[:] = part[::-1]
    if np.array_equal(part, small["bag.weights"][offsets[0] : offsets[1]]):
        pytest.fail("the bag reads the same from both ends, so the test shows nothing")
    assert [finding.where for finding in rewritten(small, tmp_path, {"bag.weights": weights})] == ["signature.rows"]


def first_entry(kin: Kin, kind: str, of_read_pages: bool = True) -> int:
    """Where in the bags of read (or of other) pages the first word, citing page or linked page stands."""
    index, offsets = kin.facts["index"], kin["bag.offsets"].astype(int)
    ends = np.cumsum([0, index["bag_words"], index["bag_links"], index["bag_outlinks"]])
    low, high = {"word": ends[:2], "citing": ends[1:3], "linked": ends[2:]}[kind]
    terms = kin["bag.terms"].astype(int)
    is_read = np.repeat(np.isin(kin["bag.url"], kin["page.url"]), np.diff(offsets))
    return int(np.flatnonzero((terms >= low) & (terms < high) & (is_read == of_read_pages))[0])


@pytest.mark.parametrize(
    ("kind", "of_read_pages", "origin"),
    [
        ("word", True, Origin.OUTLINKS),
        ("word", True, Origin.CONTENT | Origin.OUTLINKS),
        ("citing", True, Origin.OUTLINKS),
        ("citing", False, Origin.OUTLINKS),
        ("linked", True, Origin.LINKS),
        ("linked", True, Origin.LINKS | Origin.OUTLINKS),
        ("linked", True, Origin.CONTENT),
    ],
)
def test_an_origin_that_is_not_the_terms_own_is_noticed(
    small: Kin, tmp_path: Path, kind: str, of_read_pages: bool, origin: Origin
) -> None:
    origins = np.array(small["bag.from"])
    place = first_entry(small, kind, of_read_pages)
    assert origins[place] != origin
    origins[place] = origin
    (finding,) = rewritten(small, tmp_path, {"bag.from": origins})
    assert (finding.where, "from where it cannot have it" in finding.what) == ("bag.from", True)


def test_a_linked_page_in_the_bag_of_a_page_that_nobody_read_is_noticed(small: Kin, tmp_path: Path) -> None:
    """Who was not read has no links: the term fits its origin, and both are impossible there."""
    offsets, terms, origins = (
        small["bag.offsets"].astype(int),
        np.array(small["bag.terms"]),
        np.array(small["bag.from"]),
    )
    (bag,) = np.flatnonzero(~np.isin(small["bag.url"], small["page.url"]))
    last = offsets[bag + 1] - 1
    linked = int(terms[first_entry(small, "linked")])
    assert linked not in terms[offsets[bag] : offsets[bag + 1]]
    terms[last], origins[last] = linked, Origin.OUTLINKS
    findings = rewritten(small, tmp_path, {"bag.terms": terms, "bag.from": origins})
    assert "bag.from" in {finding.where for finding in findings}


def test_linked_pages_counted_as_citing_ones_are_noticed(small: Kin, tmp_path: Path) -> None:
    """The numbers of terms sum to the same: the border between the two kinds has moved."""
    index = small.facts["index"]
    assert index["bag_links"] and index["bag_outlinks"]
    for moved in (1, -1):
        facts = {"bag_links": index["bag_links"] + moved, "bag_outlinks": index["bag_outlinks"] - moved}
        folder = tmp_path / str(moved)
        folder.mkdir()
        assert {finding.where for finding in rewritten(small, folder, facts=facts)} >= {"bag.from", "bagterm.hash"}


# -- facts ----------------------------------------------------------------------------------------------------------


def test_a_strategy_that_did_not_make_the_index_is_noticed(small: Kin, tmp_path: Path) -> None:
    strategy = choose_strategy(settings=["links.scale=1", "signature.m=16", "window.size=7"])
    (finding,) = rewritten(small, tmp_path, facts={"strategy": strategy.as_dict()})
    assert (finding.where, "digest differs" in finding.what) == ("manifest.json", True)
    (finding,) = rewritten(small, tmp_path, facts={"strategy": {"moods": {"gloom": 1}}})
    assert "unknown strategy" in finding.what


def test_a_rule_for_sites_that_does_not_hold_is_noticed(small: Kin, tmp_path: Path) -> None:
    (finding,) = rewritten(small, tmp_path, facts={"site_rule": "none"})
    assert finding.where == "bag.site"
