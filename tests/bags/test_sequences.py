"""Links to the next page and the one before, which are left out with their words though these are titles of pages."""

import random
from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest

from pagekin.bags import (
    LinkUse,
    Strategy,
    choose_strategy,
    classify_links,
    judge_links,
    sequences,
)
from pagekin.bags.furniture import classify_by_epoch
from pagekin.hypertext import Corpus

from .webs import judged_in_shards, make, plainly, read_web

SITE = "http://book.example/"
PAGES = 50


def title(number: int) -> str:
    """The title of a page: no two have a word in common but one."""
    return f"chapter{number} of it"


def to(number: int, text: str = "", attributes: str = "") -> str:
    return f"<a href=/{number} {attributes}>{text or title(number)}</a>"


def book(around: Callable[[int, int, int], str], pages: int = PAGES) -> dict[str, str]:
    """A ring of pages, each with a link in its text to one far away, and what `around` makes of (before, number, after)."""
    return {
        f"{SITE}{number}": f"<title>{title(number)}</title><p>Our text {number} mentions {to((7 * number + 3) % pages)} once."
        + around((number - 1) % pages, number, (number + 1) % pages)
        for number in range(pages)
    }


def left_out(corpus: Corpus, *settings: str) -> set[tuple[int, int]]:
    """(page, target) of the links that are left out, by their numbers."""
    uses = classify_links(corpus, choose_strategy(settings=settings))
    return {
        (
            int(corpus.page_url(page).removeprefix(SITE)),
            int(corpus.url(int(corpus.anchors.target[anchor])).removeprefix(SITE)),
        )
        for page in range(len(corpus))
        for anchor in corpus.anchors_out(page)
        if uses[anchor] != LinkUse.COUNTS
    }


NEIGHBOURS = {(page, (page + step) % PAGES) for page in range(PAGES) for step in (-1, 1)}
SIDEBAR = book(lambda a, n, b: f"<h4>Previous topic</h4>{to(a)}<h4>Next topic</h4>{to(b)}<p>This page")


@pytest.mark.parametrize(
    "around",
    [
        lambda a, n, b: f"<h4>Previous topic</h4>{to(a)}<h4>Next topic</h4>{to(b)}",
        lambda a, n, b: f"<p>Next: {to(b)}, Previous: {to(a)}, Top",
        lambda a, n, b: f"<nav>{to(a, f'Zurück {title(a)}')} {to(b, f'Weiter {title(b)}')}</nav>",
        lambda a, n, b: f"<nav>{to(a, '', 'rel=prev')} {to(b, '', 'rel=next')}</nav>",
    ],
    ids=["two words before", "a word before", "the first word", "rel"],
)
def test_links_to_the_next_page_and_the_one_before_are_left_out_with_their_words(
    around: Callable[[int, int, int], str],
) -> None:
    corpus = read_web(book(around))
    assert left_out(corpus) == NEIGHBOURS
    bags = make(corpus, plainly("content.scale=1", "outlinks.scale=1", "content.furniture=0.2"))
    words = set(bags.terms(f"{SITE}20"))
    assert {"chapter43", f"{SITE}43"} <= words  # what its text mentions
    assert not {"chapter19", "chapter21", f"{SITE}19", f"{SITE}21"} & words


@pytest.mark.parametrize("parser", ["strict", "fast"])
def test_rel_is_read_and_kept_by_both_readers(parser: str) -> None:
    web = {SITE: "<a href=/1 rel='Nofollow NEXT'>x</a><a href=/2 rel=previous>y</a><a href=/3 rel=nextish>z</a>"}
    corpus = read_web(web, parser=parser)
    assert corpus.anchors.flags.tolist() == [17, 16, 0]
    assert [link["kind"] for link in corpus.view_anchors(range(3))] == ["a"] * 3


def test_every_link_counts_where_nothing_is_furniture() -> None:
    corpus = read_web(book(lambda a, n, b: f"{to(a, '', 'rel=prev')} Next topic {to(b)}"))
    assert left_out(corpus, "content.furniture=1", "anchors.listing=1") == set()


@pytest.mark.parametrize(
    "around",
    [
        lambda a, n, b: f"<p>After this comes {to(b)}",  # nobody leads back
        lambda a, n, b: f"<p>The opposite is {to(n ^ 1)}",  # the same label leads back
        lambda a, n, b: f"<p>The author was {to(n // 8)}",  # many have the same one
        lambda a, n, b: f"<p>See {to(a)}, see {to(b)}, see {to((n + 9) % PAGES)}",  # several a page
    ],
    ids=["one way", "pairs", "authors", "several"],
)
def test_labels_that_make_no_chain_there_and_back_say_something(around: Callable[[int, int, int], str]) -> None:
    assert left_out(read_web(book(around))) == set()


def test_a_short_chain_may_be_a_ring_of_friends() -> None:
    few = sequences.FEWEST_LABELLED - 1
    assert left_out(read_web(book(lambda a, n, b: f"Before me {to(a)}, after me {to(b)}", few))) == set()


def test_the_words_before_links_that_are_furniture_anyway_are_no_labels() -> None:
    web = book(lambda a, n, b: f"<p>All about quartz. {to(a, 'previous')} {to(b, 'next')}")
    web[f"{SITE}{PAGES}"] = f"<p>More of quartz {to(5)} and more."
    assert (PAGES, 5) not in left_out(read_web(web))


def test_an_epoch_judges_as_all_links_did() -> None:
    corpus = read_web(SIDEBAR | book(lambda a, n, b: to(a, "", "rel=prev"), 12))
    judged = judge_links(corpus, Strategy())
    assert np.any(judged.uses)
    again = classify_by_epoch(corpus, judged.common, judged.navigation, judged.listing)
    assert np.array_equal(again, judged.uses)


def test_shards_judge_a_sequence_that_runs_through_all_of_them_as_one_does() -> None:
    whole = read_web(SIDEBAR)
    parts = [read_web(dict(list(SIDEBAR.items())[part::3])) for part in range(3)]
    left = judged_in_shards(parts)
    assert left == {(f"{SITE}{page}", f"{SITE}{target}") for page, target in left_out(whole)} != set()


def sequence_labels(pages: dict[int, list[tuple[str, int]]], enough: float) -> set[str]:
    """Say plainly which labels are those of a sequence, given the (label, target) of every page's links."""
    steps: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for page, linked in pages.items():
        for label, target in linked:
            if target in pages and target != page:
                steps[label].add((page, target))
    plain = {
        label: pairs
        for label, pairs in steps.items()
        if len(having := {page for page, _ in pairs}) >= enough
        and len(pairs) <= 1.25 * len(having)
        and len({target for _, target in pairs}) >= 0.8 * len(pairs)
    }
    every = set().union(*plain.values()) if plain else set()
    return {
        label
        for label, pairs in plain.items()
        if sum((b, a) in every and (b, a) not in pairs for a, b in pairs) >= 0.6 * len(pairs)
        and sum(b in {page for page, _ in pairs} for _, b in pairs) >= 0.8 * len(pairs)
    }


def test_random_chains_are_judged_as_plain_python_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "FEWEST_LABELLED", 6)
    chance = random.Random(5)
    seen = set()
    for _ in range(60):
        pages: dict[int, list[tuple[str, int]]] = {number: [] for number in range(14)}
        torn = chance.choice([0, 0, 0.1, 0.2, 0.3])
        for label, step in (("forth", 1), ("back", -1), ("leap", 5), ("twin", 0)):
            if chance.random() < 0.8:
                for number in pages:
                    target = number ^ 1 if label == "twin" else (number + step) % 14
                    if chance.random() < torn:
                        target = chance.randrange(14)
                    pages[number].append((label, target))
        # A stray word before each label, so that two words before a link are no label; and one behind the first of its own.
        words = iter(f"w{number}" for number in range(10_000))
        web = {
            f"{SITE}{number}": "".join(
                f"<p>{next(words)} {label} <a href=/{target}>{next(words)}</a>" for label, target in linked
            )
            for number, linked in pages.items()
        }
        corpus = read_web(web)
        two_others = [{target for _, target in linked} - {number} for number, linked in pages.items()]
        wanted = sequence_labels(pages, max(6, 0.75 * sum(len(others) > 1 for others in two_others)))
        uses = classify_links(corpus, choose_strategy(settings=["anchors.listing=1", "content.furniture=0.75"]))
        found = set()
        for page in range(len(corpus)):
            for anchor in corpus.anchors_out(page):
                if uses[anchor] == LinkUse.FURNITURE:
                    word = int(corpus.stream(page).words[int(corpus.anchors.start[anchor]) - 1])
                    found.add(corpus.word(word))
        assert found == wanted
        seen.add(frozenset(wanted))
    assert frozenset() in seen
    assert frozenset({"forth", "back"}) in seen
