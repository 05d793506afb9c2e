"""Terms to refine a query with, from labels: against the slow, obvious way."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekin.collection import LabelThesaurus
from pagekin.labels import LABEL_VERSION, ContentLabel, SubCluster
from pagekin.labels.model import Term, pack_terms
from pagekin.text import ANALYSER, analyse
from tests.labels.invented import labels

WORDS = "wolf lynx bear otter heron finch plover swift trout perch carp moss fern oak elm".split()
Clusters = list[tuple[int, dict[tuple[str, str], tuple[int, int]]]]
"""(documents, (tf, df) of each attribute and word) of sub-clusters."""


def label_of(clusters: Clusters) -> ContentLabel:
    groups = [[Term(*pair, tf, df) for pair, (tf, df) in terms.items()] for _size, terms in clusters]
    words, packed = pack_terms([[], *groups])
    made = tuple(
        SubCluster(number, "", size, 0, len(group), terms=terms)
        for number, ((size, _terms), group, terms) in enumerate(zip(clusters, groups, packed[1:], strict=True), 1)
    )
    return ContentLabel(
        LABEL_VERSION, ANALYSER, "x", sum(size for size, _ in clusters), 0, 10**6, True, words=words, clusters=made
    )


def invented(seed: int) -> Clusters:
    """Sub-clusters with words of different spread."""
    chance = random.Random(seed)
    made: Clusters = []
    for _cluster in range(chance.randint(4, 10)):
        size = chance.randint(3, 30)
        terms = {}
        for place, word in enumerate(WORDS):
            if chance.random() < 0.15 + 0.06 * (place % 8):
                for attribute in chance.sample(["text", "title"], chance.randint(1, 2)):
                    df = chance.randint(1, size)
                    terms[attribute, word] = (df + chance.randint(0, 20), df)
        made.append((size, terms))
    return made


class Oracle:
    """Each word's tf and df in each sub-cluster, in dictionaries."""

    def __init__(self, parts: Sequence[Clusters]) -> None:
        self.sizes: list[int] = []
        self.tf: list[Counter[str]] = []
        self.df: list[dict[str, int]] = []
        for clusters in parts:
            for size, terms in clusters:
                tf: Counter[str] = Counter()
                df: defaultdict[str, int] = defaultdict(int)
                for (_attribute, word), (times, documents) in terms.items():
                    tf[word] += times
                    df[word] = max(df[word], documents)
                self.sizes.append(size)
                self.tf.append(tf)
                self.df.append(dict(df))
        self.words = sorted({word for df in self.df for word in df})

    def collocated1996(self, asked: Sequence[str]) -> dict[str, float]:
        holding = [c for c, df in enumerate(self.df) if all(word in df for word in asked)]
        documents = sum(self.sizes[c] for c in holding)
        found = (
            {word: sum(self.df[c].get(word, 0) for c in holding) / documents for word in self.words} if holding else {}
        )
        return {word: value for word, value in found.items() if value and word not in asked}

    def thesaurus1996(self) -> tuple[set[str], dict[str, dict[str, float]]]:
        """(possible high terms by spread, likeness of every word to every other)."""
        spread = {word: sum(word in df for df in self.df) for word in self.words}
        kept = [word for word in self.words if 1 < spread[word] <= len(self.sizes) / 2]
        return set(kept), {a: {b: self._cosine(a, b) for b in kept} for a in kept}

    def _cosine(self, a: str, b: str) -> float:
        dot = sum(tf[a] * tf[b] for tf in self.tf)
        lengths = (math.sqrt(sum(tf[word] ** 2 for tf in self.tf)) for word in (a, b))
        return dot / math.prod(lengths)

    def default(self, asked: Sequence[str]) -> dict[str, tuple[str, float]]:
        """word -> (list, value) for words that stand out."""
        shares = [
            math.prod(df.get(word, 0) / size for word in asked) for df, size in zip(self.df, self.sizes, strict=True)
        ]
        question = sum(share * size for share, size in zip(shares, self.sizes, strict=True))
        found = {}
        for word in self.words:
            df = sum(one.get(word, 0) for one in self.df)
            both = sum(one.get(word, 0) * share for one, share in zip(self.df, shares, strict=True))
            if word in asked or df < 3 or not both:
                continue
            part = both / question
            lift = part / (df / sum(self.sizes))
            if lift <= 1:
                continue
            if df > 1.5 * question and part >= 0.25:
                found[word] = ("broader", part * math.log(lift))
            elif df < 0.7 * question and both / df >= 0.25:
                found[word] = ("narrower", both * lift)
            else:
                found[word] = ("collocated", part * math.log(lift))
        return found


def best_first(words: Sequence[str], values: Mapping[str, float]) -> bool:
    """Whether values fall along the words, up to rounding."""
    return all(values[a] >= values[b] - 1e-9 for a, b in pairwise(words))


@pytest.mark.parametrize("seed", range(25))
def test_the_preset_of_1996_is_what_the_paper_says(seed: int) -> None:
    parts = [invented(seed), invented(seed + 1000)]
    thesaurus = LabelThesaurus({str(n): label_of(one) for n, one in enumerate(parts)})
    oracle = Oracle(parts)
    kept, likeness = oracle.thesaurus1996()
    spread = {word: sum(word in df for df in oracle.df) for word in kept}
    highs = math.ceil(len(kept) / 3)
    least = sorted(spread.values(), reverse=True)[highs - 1] if kept else 0
    for asked in (["wolf"], ["oak"], ["wolf", "finch"], ["heron", "swift", "moss"], ["elm", "fern"]):
        known = [word for word in asked if word in oracle.words]
        found = thesaurus.suggest([(None, word) for word in asked], 8, plain=True)
        values = oracle.collocated1996(known) if known else {}
        assert len(found.collocated) == min(8, len(values))
        assert best_first(found.collocated, values)
        outside = [values[word] for word in values if word not in found.collocated]
        assert not outside or min(values[word] for word in found.collocated) >= max(outside) - 1e-9
        holding = [df for df in oracle.df if known and all(word in df for word in known)]
        assert found.pages == len(holding)
        for broader in found.broader:
            children = [word for word in known if word in kept and spread[word] <= spread[broader]]
            assert spread[broader] >= least
            sure = [word for word in kept if spread[word] > least]
            assert any(
                likeness[word][broader] >= max([likeness[word][high] for high in sure], default=0) - 1e-6
                for word in children
            )
        for narrower in found.narrower:
            assert narrower in kept and spread[narrower] <= least
            sure = [word for word in kept if spread[word] > least]
            most = max([likeness[narrower][high] for high in sure], default=0)
            assert any(word in kept and likeness[narrower][word] >= most - 1e-6 for word in known)
        for few in (found.collocated, found.broader, found.narrower):
            assert len(set(few)) == len(few)
            assert not set(few) & set(asked)


def test_broader_and_narrower_of_1996_by_hand() -> None:
    """Twelve sub-clusters. animal is in six, so high; wolf and bear go with it, fern goes with plant."""
    made: Clusters = [(5, {("text", f"own{n}"): (1, 1)}) for n in range(12)]
    for word, where in (
        ("animal", range(6)), ("plant", range(6, 12)), ("wolf", (0, 1)), ("bear", (2, 3)), ("fern", (7, 8)), ("oak", (9, 10)),
    ):  # fmt: skip
        for place in where:
            made[place][1]["text", word] = (4, 2)
    thesaurus = LabelThesaurus({"x": label_of(made)})
    down = thesaurus.suggest([(None, "animals")], 8, plain=True)
    assert sorted(down.narrower) == ["bear", "wolf"]
    assert down.broader == ()
    up = thesaurus.suggest([("title", "wolf")], 8, plain=True)
    assert up.broader == ("animal",)
    assert up.narrower == ()
    both = thesaurus.suggest([(None, "wolf"), (None, "animal")], 8, plain=True)
    assert both.broader == () and both.narrower == ("bear",), "what was asked is no suggestion"
    assert both.pages == 2


@pytest.mark.parametrize("seed", range(25))
def test_the_default_takes_what_stands_out_where_the_words_do(seed: int) -> None:
    parts = [invented(seed), invented(seed + 500)]
    thesaurus = LabelThesaurus({str(n): label_of(one) for n, one in enumerate(parts)})
    oracle = Oracle(parts)
    for asked in (["wolf"], ["oak"], ["heron", "swift"], ["elm", "fern"]):
        known = [word for word in asked if word in oracle.words]
        found = thesaurus.suggest([(None, word) for word in asked], 5)
        if not known or not found.pages:
            assert found.collocated == found.broader == found.narrower == ()
            continue
        expected = oracle.default(known)
        for name in ("collocated", "broader", "narrower"):
            shown = getattr(found, name)
            values = {word: value for word, (kind, value) in expected.items() if kind == name}
            # A lift of 1 up to rounding may fall on either side.
            shown = [word for word in shown if word in values or _doubtful(oracle, known, word)]
            assert list(shown) == list(getattr(found, name))
            assert len(shown) >= min(5, len(values)) - 1
            assert best_first([word for word in shown if word in values], values)


def _doubtful(oracle: Oracle, asked: Sequence[str], word: str) -> bool:
    df = sum(one.get(word, 0) for one in oracle.df) / sum(oracle.sizes)
    shares = [math.prod(one.get(w, 0) / n for w in asked) for one, n in zip(oracle.df, oracle.sizes, strict=True)]
    both = sum(one.get(word, 0) * share for one, share in zip(oracle.df, shares, strict=True))
    return abs(both / sum(s * n for s, n in zip(shares, oracle.sizes, strict=True)) / df - 1) < 1e-6


def test_words_are_one_by_their_stem_and_shown_as_most_often_written() -> None:
    made: Clusters = [
        (9, {("text", "river"): (3, 3), ("text", "rivers"): (8, 4), ("text", "boat"): (5, 5)}),
        (9, {("text", "river"): (3, 3), ("text", "boats"): (9, 8)}), (9, {("text", "sand"): (9, 9)}),
    ]  # fmt: skip
    thesaurus = LabelThesaurus({"x": label_of(made)})
    for word in ("river", "rivers"):
        for plain in (True, False):
            found = thesaurus.suggest([(None, word)], 8, plain)
            assert found.pages == 2
            assert (*found.collocated, *found.broader) == ("boats",)
    assert thesaurus.suggest([(None, "boat")], 8, plain=True).collocated == ("rivers",)


def test_unknown_words_and_empty_labels_suggest_nothing() -> None:
    for thesaurus in (
        LabelThesaurus({}),
        LabelThesaurus({"x": label_of([])}),
        LabelThesaurus({"x": label_of(invented(1))}),
    ):
        for plain in (True, False):
            found = thesaurus.suggest([(None, "nowherefound")], 8, plain)
            assert (found.pages, found.collocated, found.broader, found.narrower) == (0, (), (), ())
            assert thesaurus.suggest([], 8, plain).pages == 0


@given(st.dictionaries(st.sampled_from("abc"), labels(), max_size=2), st.integers(1, 5), st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_any_label_gives_lists_without_the_words_asked_for(
    parts: dict[str, ContentLabel], count: int, plain: bool
) -> None:
    thesaurus = LabelThesaurus(parts)
    known = [term.word for label in parts.values() for cluster in label.clusters for term in label.rows(cluster.terms)]
    asked = [(None, word) for word in known[:2]]
    found = thesaurus.suggest(asked, count, plain)
    forms = set(analyse([word for _attribute, word in asked]))
    for shown in (found.collocated, found.broader, found.narrower):
        assert len(shown) <= count
        assert len(set(shown)) == len(shown)
        assert not set(analyse(shown)) & forms
