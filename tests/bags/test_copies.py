"""Sketches of pages: the compiled ones, the ones by numpy and the ones by hand agree, and tell copies."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from pagekin.bags import (
    EMPTY_PLACE,
    NEAR_COPY,
    SKETCH_PLACES,
    CopyIndex,
    are_copies,
    choose_strategy,
    common_words,
    fold_copies,
    page_sketch,
    word_hash,
)
from pagekin.bags import build as building
from pagekin.bags.copies import earlier_copies, sketch
from pagekin.hypertext import Corpus

from . import oracle
from .webs import MadeBags, bags_of, make

generated = settings(derandomize=True, database=None, deadline=None, max_examples=60)
MASK = (1 << 64) - 1


def sketch_by_hand(words: set[str]) -> list[int]:
    """In each of 64 places 16 bits of the least number of the words that fall there."""
    least: list[int | None] = [None] * 64
    for word in words:
        z = word_hash(word)
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        z ^= z >> 31
        held = least[z >> 58]
        least[z >> 58] = z if held is None else min(held, z)
    return [65_535 if z is None else min(z & 0xFFFF, 65_534) for z in least]


def rows(made: MadeBags) -> npt.NDArray[np.uint16]:
    return np.asarray(made.kin["copy.rows"]).reshape(-1, SKETCH_PLACES)


@pytest.mark.parametrize("together", ["", "words=letters stemming=nostem content.scale=0"])
def test_every_page_has_the_sketch_of_its_own_running_words(
    some_pages: Corpus, monkeypatch: pytest.MonkeyPatch, together: str
) -> None:
    monkeypatch.setattr(building, "BATCH_WORDS", 3_000)
    strategy = choose_strategy(settings=together.split())
    found = rows(make(some_pages, strategy))
    assert len(found) == len(some_pages)
    for number, (row, page) in enumerate(zip(found, oracle.plain_pages(some_pages), strict=True)):
        forms = [
            oracle.form(word, strategy.words, strategy.stemming)
            for word, running in zip(page.words, page.running, strict=True)
            if running
        ]
        assert row.tolist() == sketch_by_hand({form for form in forms if form})
        attributes = some_pages.stream(number).attributes.tolist()
        assert row.tolist() == page_sketch(page.words, attributes, strategy).tolist()


@generated
@given(some.sets(some.text(min_size=1, max_size=8), max_size=150))
def test_a_sketch_by_numpy_is_the_sketch_by_hand(words: set[str]) -> None:
    hashes = np.array([word_hash(word) for word in words], dtype=np.uint64)
    found = sketch(hashes)
    assert found.dtype == np.uint16
    assert found.tolist() == sketch_by_hand(words)
    assert sketch(np.concatenate([hashes[::-1], hashes])).tolist() == found.tolist(), "a set of words, in no order"


def numbered(start: int, end: int) -> npt.NDArray[np.uint16]:
    return sketch(np.array([word_hash(f"word{number}") for number in range(start, end)], dtype=np.uint64))


@pytest.mark.parametrize(("shared", "share"), [(2_000, 1.0), (1_600, 2 / 3), (1_000, 1 / 3), (0, 0.0)])
def test_agreement_estimates_the_share_of_common_words(shared: int, share: float) -> None:
    """Two pages of 2,000 words each; four standard deviations of a share among 64 places are at most 0.25."""
    one, other = numbered(0, 2_000), numbered(2_000 - shared, 4_000 - shared)
    (found,) = common_words(other[np.newaxis], one)
    assert found == pytest.approx(share, abs=0.25 if 0 < share < 1 else 0.02)
    assert are_copies(other[np.newaxis], one).tolist() == [found >= NEAR_COPY]


def test_copies_are_told_whatever_links_to_them() -> None:
    text = " ".join(f"stone{first}{second}" for first in "abcdefghij" for second in "klmnopqrst")
    web = {
        "http://a.example/": f"<title>Stones</title><p>{text}",
        "http://b.example/": f"<title>A mirror</title><div>{text} the <a href=http://a.example/>of</a>",
        "http://c.example/": "<p>granite mica quartz basalt",
        "http://d.example/": "<p>the",
        "http://e.example/": "<p>of",
    }
    found = rows(bags_of(web, choose_strategy()))
    assert are_copies(found, found[0]).tolist() == [True, True, False, False, False]
    assert are_copies(found, found[2]).tolist() == [False, False, True, False, False]
    assert are_copies(found, found[3]).tolist() == [False] * 5, "pages without words are nobody's copies"
    assert common_words(found, found[0])[:2].tolist() == [1.0, 1.0]
    assert (found[3] == EMPTY_PLACE).all()


@generated
@given(some.integers(0, 2**32 - 1), some.booleans())
def test_few_sketches_fold_as_many_do(seed: int, named: bool) -> None:
    rng = np.random.default_rng(seed)
    originals = rng.integers(0, 300, (6, SKETCH_PLACES)).astype(np.uint16)
    originals[rng.random(originals.shape) < rng.choice([0.0, 0.3, 0.98])] = EMPTY_PLACE
    rows = originals[rng.integers(0, 6, 40)]
    changed = rng.random(rows.shape) < rng.choice([0.02, 0.1, 0.2], (40, 1))
    rows = np.where(changed, rng.choice([7, EMPTY_PLACE], rows.shape), rows).astype(np.uint16)
    names = rng.integers(0, 30, 40).tolist() if named else None
    assert fold_copies(rows, names) == CopyIndex(rows).fold(names)
    assert earlier_copies(rows) == [
        np.flatnonzero(are_copies(rows[:place], row)).tolist() for place, row in enumerate(rows)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_many_sketches_are_folded_as_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    templates = rng.integers(0, 60_000, (5, SKETCH_PLACES)).astype(np.uint16)
    rows = templates[rng.integers(0, 5, 300)]
    # Some places differ from the template's, a few in copies and many in others; some are empty.
    for row, changed in zip(rows, rng.integers(0, 14, len(rows)).tolist(), strict=True):
        row[rng.integers(0, SKETCH_PLACES, changed)] = rng.integers(0, 60_000, changed)
        row[rng.integers(0, SKETCH_PLACES, int(rng.integers(0, 8)))] = EMPTY_PLACE
    rows[200:260] = rows[rng.integers(0, 200, 60)]  # the very same
    rows[::50] = EMPTY_PLACE
    index = CopyIndex(rows)
    assert index.fold_all().tolist() == CopyIndex(rows).fold()
    assert len(set(index.fold_all().tolist())) < len(rows)
