"""Link texts across shards: counted in the shard of the link, added up in the shard of the target.

Which forms stand for one word (see `languages`), and which word shows a form, is decided by the words of all shards, added up in
ranges of their hashes. Everything that travels are words, forms and addresses by their names.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, host_of
from pagekin.store import Array, Names, RaggedBytes, Workspace
from pagekin.text.analysis import ANALYSER, analyse
from pagekin.text.languages import are_of_language, language_uses, stem_words
from pagekin.text.link_texts import LinkTexts, find_strength, read_said, sum_said


class WordUses(NamedTuple):
    """Words of a shard with their counts, in all and in languages that have stemmers."""

    words: Names
    totals: npt.NDArray[np.int64]
    """(words)"""
    languages: Names
    uses: npt.NDArray[np.int64]
    """(languages × words)"""


class LanguageWords(NamedTuple):
    """Words that mostly occur on pages in one language."""

    languages: Names
    words: Names


class SameForms(NamedTuple):
    """Forms, each with the least form that stands for the same word."""

    forms: Names
    least: Names


class SaidWords(NamedTuple):
    """Words of a shard with their counts, by the least form that stands for the same word."""

    forms: Names
    words: Names
    counts: npt.NDArray[np.int64]


class WantedForms(NamedTuple):
    """Forms in link texts to pages of some shards."""

    forms: Names
    shards: npt.NDArray[np.int64]


class ShownForms(NamedTuple):
    """For each form the most common word behind it, of all shards."""

    forms: Names
    words: Names


class CalledAddresses(NamedTuple):
    """Texts of links from one shard to pages of another, or of its own."""

    targets: Names
    links: npt.NDArray[np.int64]
    """(targets): how many pages link to each."""
    forms: Names
    form: npt.NDArray[np.int64]
    """(pairs): places among the forms."""
    target: npt.NDArray[np.int64]
    """(pairs): places among the targets."""
    said: npt.NDArray[np.int64]
    """(pairs): how many pages call the target so."""


def _ranges(names: Sequence[bytes], count: int) -> npt.NDArray[np.int64]:
    """Return the range of hashes of each name."""
    hashed = (int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "little") for name in names)
    return np.fromiter((number * count >> 64 for number in hashed), np.int64, len(names))


def _texts(names: Iterable[bytes]) -> list[str]:
    return [name.decode("utf-8", "replace") for name in names]


# -- forms that stand for the same word ---------------------------------------------------------------------------------


def count_uses(corpus: Corpus, ranges: int) -> list[WordUses]:
    """Count the words of a shard in each language that has a stemmer, by range of hashes."""
    words, totals = list(corpus.terms), np.asarray(corpus.term_table.count).astype(np.int64)
    languages, uses = [], [np.zeros((0, len(words)), np.int64)]
    for language, counts in language_uses(corpus):
        languages.append(language.encode())
        uses.append(counts[None])
    every, of_word = np.concatenate(uses), _ranges(words, ranges)
    parts = []
    for number in range(ranges):
        own = np.flatnonzero(of_word == number)
        parts.append(
            WordUses(Names.of(words[place] for place in own.tolist()), totals[own], Names.of(languages), every[:, own])
        )
    return parts


def find_languages(parts: Iterable[WordUses]) -> LanguageWords:
    """Return the words of a range of hashes that mostly occur in one language, given the counts of all shards."""
    totals: dict[bytes, int] = {}
    uses: dict[bytes, dict[bytes, int]] = {}
    for part in parts:
        words = part.words.strings()
        for word, total in zip(words, part.totals.tolist(), strict=True):
            totals[word] = totals.get(word, 0) + total
        for language, row in zip(part.languages.strings(), part.uses, strict=True):
            counts = uses.setdefault(language, {})
            for place in np.flatnonzero(row).tolist():
                counts[words[place]] = counts.get(words[place], 0) + int(row[place])
    language_words: list[tuple[bytes, bytes]] = []
    for language, counts in sorted(uses.items()):
        are_of = are_of_language(np.array([*counts.values()]), np.array([totals[word] for word in counts]))
        language_words += sorted((language, word) for word, is_of in zip(counts, are_of, strict=True) if is_of)
    return LanguageWords(
        Names.of(language for language, _word in language_words), Names.of(word for _language, word in language_words)
    )


def unite_forms(parts: Iterable[LanguageWords]) -> SameForms:
    """Return the forms that stand for the same word as lesser ones, given the words of all ranges."""
    by_language: dict[str, list[str]] = {}
    for part in parts:
        for name, word in zip(part.languages.strings(), _texts(part.words.strings()), strict=True):
            by_language.setdefault(name.decode(), []).append(word)
    same: dict[str, str] = {}

    def find(form: str) -> str:
        while (lesser := same.get(form, form)) != form:
            form = lesser
        return form

    for language, words in by_language.items():
        forms, first = analyse(words), dict[str, str]()
        for place, stem in stem_words(language, words):
            form = find(forms[place])
            other = find(first.setdefault(stem, form))
            least, most = sorted((form, other), key=str.encode)
            if least != most:
                same[most] = least
    joined = sorted(same, key=str.encode)
    return SameForms(Names.of(map(str.encode, joined)), Names.of(find(form).encode() for form in joined))


# -- what links say -----------------------------------------------------------------------------------------------------


class Calls(NamedTuple):
    """The link texts and words that a shard sends to the others."""

    called: list[CalledAddresses]
    """For each shard what its pages are called."""
    said: list[SaidWords]
    """For each range of hashes."""
    wanted: list[WantedForms]
    """For each range of hashes."""


def call_pages(corpus: Corpus, same: SameForms, captured: Array, url_cuts: Sequence[int], room: Workspace) -> Calls:
    """Return the texts of a shard's links to pages of all shards, and the words behind their forms.

    `captured` marks the addresses that have a page in some shard; those of shard i are numbered from `url_cuts[i]` on.
    """
    words, shards = list(corpus.terms), len(url_cuts) - 1
    lesser = dict(zip(_texts(same.forms.strings()), _texts(same.least.strings()), strict=True))
    forms = [lesser.get(form, form) for form in analyse(_texts(words))]
    names = sorted(set(forms), key=str.encode)
    number = {name: place for place, name in enumerate(names)}
    of_term = np.fromiter((number[form] for form in forms), np.uint32, len(forms))
    packed = [name.encode() for name in names]
    of_form = _ranges(packed, shards)
    links = np.zeros(len(corpus.urls), np.int64)
    link_texts = read_said(corpus, of_term, *_find_hosts(corpus, captured))
    rows = [np.zeros((3, 0), np.int64)]
    rows += [
        np.stack([form, url, said.astype(np.int64)])
        for form, url, said in sum_said(link_texts, links, len(names), room)
    ]
    form, url, said = np.concatenate(rows, axis=1)
    called, wanted = [], []
    for low, high in pairwise(url_cuts):
        own = (url >= low) & (url < high)
        linked = low + np.flatnonzero(links[low:high])
        in_use = np.unique(form[own])
        called.append(
            CalledAddresses(
                Names.of(corpus.urls[one] for one in linked.tolist()), links[linked],
                Names.of(packed[one] for one in in_use.tolist()), np.searchsorted(in_use, form[own]),
                np.searchsorted(linked, url[own]), said[own],
            )
        )  # fmt: skip
        wanted.append(in_use)
    counts = np.asarray(corpus.term_table.count).astype(np.int64)
    return Calls(
        called,
        [_say(words, packed, of_term, counts, np.flatnonzero(of_form[of_term] == one)) for one in range(shards)],
        [_want(packed, [some[of_form[some] == one] for some in wanted]) for one in range(shards)],
    )


def _say(words: list[bytes], forms: list[bytes], of_term: Array, counts: Array, terms: Array) -> SaidWords:
    places = terms.tolist()
    return SaidWords(
        Names.of(forms[of_term[term]] for term in places), Names.of(words[term] for term in places), counts[terms]
    )


def _want(forms: list[bytes], wanted: Sequence[Array]) -> WantedForms:
    shards = np.repeat(np.arange(len(wanted)), list(map(len, wanted)))
    return WantedForms(Names.of(forms[one] for some in wanted for one in some.tolist()), shards)


def _find_hosts(corpus: Corpus, captured: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (the hosts of addresses that have a page, -1 for others; the newest own page of each address, or -1)."""
    page_of, hosts = np.full((2, len(corpus.urls)), -1, np.int64)
    page_of[np.asarray(corpus.pages.url)[::-1]] = np.arange(len(corpus))[::-1]
    hosts[corpus.pages.url] = corpus.pages.host
    number = {name: place for place, name in enumerate(corpus.hosts)}
    for url in np.flatnonzero(captured & (page_of < 0)).tolist():
        hosts[url] = number.get(host_of(corpus.url(url)).encode(), -1)
    return hosts, page_of


def show_forms(
    said: Iterable[SaidWords], wanted: Iterable[WantedForms], shards: int
) -> tuple[list[ShownForms], int]:  # fmt: skip
    """Return (for each shard, the words behind its pages' link texts; the number of distinct forms) of a range."""
    counts: dict[bytes, int] = {}
    form_of: dict[bytes, bytes] = {}
    for part in said:
        for form, word, count in zip(part.forms.strings(), part.words.strings(), part.counts.tolist(), strict=True):
            counts[word], form_of[word] = counts.get(word, 0) + count, form
    best: dict[bytes, bytes] = {}
    for word, form in form_of.items():
        if form not in best or (-counts[word], word) < (-counts[best[form]], best[form]):
            best[form] = word
    asked: list[set[bytes]] = [set() for _ in range(shards)]
    for some in wanted:
        for form, shard in zip(some.forms.strings(), some.shards.tolist(), strict=True):
            asked[shard].add(form)
    shown = [ShownForms(Names.of(sorted(forms)), Names.of(best[form] for form in sorted(forms))) for forms in asked]
    return shown, len(set(analyse(_texts(form_of))))


def join_called(
    corpus: Corpus, called: Sequence[CalledAddresses], shown: Iterable[ShownForms]
) -> tuple[LinkTexts, list[bytes]]:
    """Return (the link texts to a shard's pages from all shards, the words behind their forms)."""
    word_of: Mapping[bytes, bytes] = {
        form: word for part in shown for form, word in zip(part.forms.strings(), part.words.strings(), strict=True)
    }
    names = sorted(word_of)
    number = {name: place for place, name in enumerate(names)}
    links = np.zeros(len(corpus), np.int64)
    pairs, said = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    width = max(len(corpus), 1)
    for part in called:
        targets = RaggedBytes(*part.targets)
        pages = np.array([corpus.pages_of(corpus.urls.find(address))[0] for address in targets], np.int64)
        np.add.at(links, pages, part.links)
        forms = np.array([number[form] for form in part.forms.strings()], np.int64)
        pairs.append(forms[part.form] * width + pages[part.target] if len(part.form) else part.form)
        said.append(part.said)
    different, place = np.unique(np.concatenate(pairs), return_inverse=True)
    summed = np.bincount(place, np.concatenate(said), len(different))
    form, page = np.divmod(different, width)
    words = [word_of[name] for name in names]
    return LinkTexts(
        analyse(_texts(words)), form, page, find_strength(summed, links[page]), np.zeros(0, np.int64)
    ), words  # fmt: skip


def describe_text(pages: int, forms: int) -> dict[str, Any]:
    """Return the facts about the full-text index of a collection in shards, without the sums over its shards."""
    return {"text": {"analyser": ANALYSER, "pages": pages, "forms": forms}}
