"""Phrases of pages: the kernel finds what a slow twin finds, and what a person would point at."""

from collections import defaultdict

import numpy as np
import pytest

from pagekin.bags import LinkUse, Strategy, classify_links, make_vocabulary
from pagekin.clusters import phrases
from pagekin.clusters.phrases import IN_TEXT, LEAST, MOST_CONTENT, PhraseFinder, find_phrases
from pagekin.clusters.shown import STEMS
from pagekin.hypertext import Attribute, Boundary, Corpus
from tests.bags.webs import read_web

WORDS = "granite slate owl wren the of history map quarry and nest birds".split()
LONGEST, LONGEST_TEXT, OFTEN = 5, 3, 2
Found = dict[tuple[int, tuple[int, ...]], int]


def random_web(seed: int) -> dict[str, str]:
    rng = np.random.default_rng(seed)

    def some(most: int) -> str:
        return " ".join(rng.choice(WORDS, int(rng.integers(1, most))).tolist())

    pages = {}
    for number in range(12):
        links = " ".join(f'<a href="/{rng.integers(0, 12)}">{some(4)}</a> {some(3)}' for _ in range(3))
        crumbs = f'<nav class="breadcrumb"><a href="/0">{some(3)}</a> &gt; <a href="/1">{some(3)}</a></nav>'
        pages[f"http://a.example/{number}"] = (
            f"<title>{some(7)}</title>{crumbs}<h1>{some(5)}</h1><p>{some(30)}. {some(9)}<p>{links}"
        )
    return pages


def slow_phrases(corpus: Corpus, stem_of: np.ndarray, site_words: np.ndarray) -> Found:
    """Find (page, stems and stop words) -> rank, word by word."""
    furniture = classify_links(corpus, Strategy()) == LinkUse.FURNITURE
    every: list[dict[tuple[int, ...], int]] = []
    for page in range(len(corpus)):
        stream = corpus.stream(page)
        kinds = [
            4 if bits & Attribute.TITLE else 2 if bits & Attribute.HEADER else 0 for bits in stream.attributes.tolist()
        ]
        title = [at for at, kind in enumerate(kinds) if kind == 4]
        begin, end = site_words[page].tolist()
        for at in [*title[:begin], *(title[-end:] if end else [])]:
            kinds[at] = 0
        breaks = set(stream.boundary_at.tolist())
        marks = list(zip(stream.boundary_at.tolist(), stream.boundary_kind.tolist(), strict=True))
        starts = [at for at, kind in marks if kind == Boundary.CRUMBS_START]
        ends = [at for at, kind in marks if kind == Boundary.CRUMBS_END]
        for first, last in zip(starts, ends, strict=True):
            for at in range(first, last):
                kinds[at] = max(kinds[at], 3)
        for anchor in corpus.anchors_out(page):
            first = int(corpus.anchors.start[anchor])
            last = first + int(corpus.anchors.length[anchor])
            breaks |= {first, last} if last > first else {last}
            for at in range(first, last):
                if kinds[at] <= 1:
                    kinds[at] = 5 if furniture[anchor] else 1
        tokens = [2 * int(stem_of[word]) if stem_of[word] >= 0 else 2 * int(word) + 1 for word in stream.words.tolist()]
        found: dict[tuple[int, ...], int] = {}
        for kind in (4, 3, 2, 1):
            for run in runs([at for at in range(len(kinds)) if kinds[at] == kind], breaks):
                for phrase, alone in phrases_of([tokens[at] for at in run], LONGEST, title=kind == 4):
                    found[phrase] = max(found.get(phrase, 0), 2 * kind + alone)
        times: defaultdict[tuple[int, ...], int] = defaultdict(int)
        for run in runs([at for at in range(len(kinds)) if kinds[at] < 2], breaks):
            for phrase, _alone in phrases_of([tokens[at] for at in run], LONGEST_TEXT, title=False):
                times[phrase] += 1
        for phrase, count in times.items():
            if count >= OFTEN:
                found[phrase] = found.get(phrase, 0) + IN_TEXT
        every.append(found)
    shown: defaultdict[tuple[int, ...], int] = defaultdict(int)
    for found in every:
        for phrase, rank in found.items():
            shown[phrase] += rank % IN_TEXT > 0
    return {
        (page, phrase): rank
        for page, found in enumerate(every)
        for phrase, rank in found.items()
        if shown[phrase] >= LEAST
    }


def runs(places: list[int], breaks: set[int]) -> list[list[int]]:
    """Divide places where one is left out, or a border lies."""
    made: list[list[int]] = []
    for at in places:
        if made and made[-1][-1] == at - 1 and at not in breaks:
            made[-1].append(at)
        else:
            made.append([at])
    return made


def phrases_of(run: list[int], longest: int, title: bool) -> list[tuple[tuple[int, ...], bool]]:
    content = [at for at, token in enumerate(run) if token % 2 == 0]
    if not content:
        return []
    run = run[content[0] : content[-1] + 1]
    made = []
    for first in range(len(run)):
        for last in range(first, min(first + longest, len(run))):
            phrase = tuple(run[first : last + 1])
            if phrase[0] % 2 or phrase[-1] % 2 or sum(token % 2 == 0 for token in phrase) > MOST_CONTENT:
                continue
            ends = last == len(run) - 1 or (title and run[last + 1] % 2 == 1)
            begins = first == 0 or (title and run[first - 1] % 2 == 1)
            made.append((phrase, begins and ends and (first == 0 or last == len(run) - 1)))
    return made


@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_finds_what_the_slow_twin_finds(seed: int) -> None:
    corpus = read_web(random_web(seed))
    words = make_vocabulary(corpus, STEMS)
    site_words = np.random.default_rng(seed).integers(0, 2, (len(corpus), 2))
    phrases = find_phrases(PhraseFinder(corpus, words, site_words))
    found: Found = {}
    for page in range(len(corpus)):
        stream = corpus.words(page)
        for entry in range(phrases.offsets[page], phrases.offsets[page + 1]):
            place, length = int(phrases.places[entry]), int(phrases.words[entry])
            terms = stream[place : place + length].tolist()
            key = tuple(2 * int(words.stem_of[term]) if words.stem_of[term] >= 0 else 2 * term + 1 for term in terms)
            assert (page, key) not in found
            found[page, key] = int(phrases.ranks[entry])
    assert found == slow_phrases(corpus, words.stem_of, site_words)
    assert len(found) > 80
    assert phrases.count == len({key for _page, key in found})


def test_a_page_that_shows_nothing_is_passed_over() -> None:
    corpus = read_web(random_web(1))
    site_words = np.zeros((len(corpus), 2), np.int64)
    site_words[3] = -1
    phrases = find_phrases(PhraseFinder(corpus, make_vocabulary(corpus, STEMS), site_words))
    sizes = np.diff(phrases.offsets)
    assert sizes[3] == 0
    assert np.all(np.delete(sizes, 3) > 0)


def test_threads_change_no_phrase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases, "_BATCH_WORDS", 60)  # so that there are several batches
    corpus = read_web(random_web(4))
    words, none = make_vocabulary(corpus, STEMS), np.zeros((len(corpus), 2), np.int64)
    one, several = (find_phrases(PhraseFinder(corpus, words, none, threads)) for threads in (1, 3))
    for name in ("offsets", "phrases", "ranks", "places", "words"):
        assert getattr(one, name).tolist() == getattr(several, name).tolist()
    assert one.count == several.count > 0


@pytest.mark.parametrize("threads", [1, 3])
def test_known_phrases_are_found_on_other_pages_with_the_same_ranks(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(phrases, "_BATCH_WORDS", 60)
    corpus = read_web(random_web(5))
    finder = PhraseFinder(corpus, make_vocabulary(corpus, STEMS), np.zeros((len(corpus), 2), np.int64), threads)
    every = find_phrases(finder)
    wanted = np.arange(0, every.count, 3)
    found = [
        column.tolist() for column in map(np.concatenate, zip(*finder.find_known(every.hashes[wanted]), strict=True))
    ]
    kept = np.isin(every.phrases, wanted)
    expected = every.pages_of(np.flatnonzero(kept)), np.searchsorted(wanted, every.phrases[kept]), every.ranks[kept]
    assert sorted(zip(*found, strict=True)) == sorted(zip(*(column.tolist() for column in expected), strict=True))
    assert len(found[0]) > 20
