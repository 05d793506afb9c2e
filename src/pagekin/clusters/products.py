"""Names of sites: the product, project or institution that their titles repeat, and the pages that belong to it."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext import Corpus, fold_case, host_of
from pagekin.text import tokens

NOBODY = -1
_FEWEST = 5
"""Pages of a site that must repeat its name."""
_REPEATED = 0.2
"""The share of a host's pages that repeat its name in their titles, at least."""
_WHOLE = 0.8
"""A longer name is taken for its beginning if this share of the pages has it: Qt Core is one of several, Qt is all."""
_SECTION = 0.5
"""The share of a folder's pages that repeat a name which is then the folder's."""
_SECTION_PAGES = 20
_FOLDERS = 4
"""Folders of an address that are looked at, at most."""
_MENTIONED = 0.5
"""A part of a host's name, or a home page's title, names the site if this share of its pages hold its words."""
_LOOKED_AT = 100
"""Pages whose words are looked at for that, at most."""
_HOMES = 3
"""Pages nearest to the root of a host that may be its home page."""
_SHORT, _INSIDE = 3, 4
"""Letters of a word that may be the name of a site, at least: as a part of the host's name, or inside one (libboost)."""
_CAPITAL = 0.02
"""The share of a word's uses with a capital letter from which on it is a name."""
_SUBJECT = 0.25
"""The share of a host's pages that mention a name more often than its template does, from which on they are about it."""
_TEMPLATE = 10
"""The percentile of the times that pages of a host hold a word which is taken for those that its template has."""
_HOST_PARTS = re.compile(r"[\W\d_]+")
_LONGEST = 5
"""Words of a name, at most."""
_BORDER = re.compile(r"\s+[-–—|·»:/]+\s+|\s*[|»]\s*|:\s+|\s*[()]\s*")
"""Separators between the parts of a title."""
_NUMBER = re.compile(r"v?\d[\w.+~-]*", re.IGNORECASE)
_GENERIC = frozenset(
    (
        "a an and api at base book by class classes code contents core cover developer development devel doc docs document "
        "documentation edition example examples faq file files for from full function functions general guide handbook help "
        "home homepage html in index internals introduction latest list main manual manuals member members "
        "module namespace of official on online overview package page pages project public reference release root s site "
        "source stable start table test the to toc top tutorial tutorials unstable user users version web website welcome "
        "wiki with www com org net edu gov co uk de example debian"
    ).split()
)
"""Words for the kind of a text, such as documentation, which are not part of a product's name."""


@dataclass(frozen=True)
class Products:
    """The products that pages belong to."""

    of_page: npt.NDArray[np.int32]
    """The product of each page, NOBODY if its site has no name."""
    names: tuple[str, ...]

    def counts(self, pages: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return how many of some pages belong to each product."""
        owned = self.of_page[pages]
        return np.bincount(owned[owned >= 0], minlength=len(self.names))


def find_products(corpus: Corpus, pages: Sequence[int], fit: Callable[[int], bool] = lambda _page: True) -> Products:
    """Find the products of some pages: by what titles repeat, by hosts' names that pages mention, by home pages' titles.

    A host whose titles agree is one product. Otherwise its folders may be products; if they are not most of it, it is one by
    its name, or that of a home page, if most pages mention it. Products of the same name are one. Pages that are not `fit`
    name nothing. Cost: a pass over the titles of the pages.
    """
    of_page = np.full(len(corpus), NOBODY, np.int32)
    numbers: dict[str, int] = {}
    names: list[str] = []
    by_host: defaultdict[str, list[TitledPage]] = defaultdict(list)
    for page in pages:
        url = corpus.page_url(page)
        by_host[host_of(url)].append(TitledPage(page, url, corpus.titles.text(page) if fit(page) else ""))
    products = [one for host, held in by_host.items() for one in _products_of_host(corpus, host, held)]
    subjects = {fold_case(one.name): one.subject for one in products if one.subject}  # mirrors have another host
    for named in products:
        name = subjects.get(fold_case(named.name), named.name)
        number = numbers.setdefault(fold_case(name), len(numbers))
        names += [name] if number == len(names) else []
        of_page[[one.page for one in named.pages]] = number
    return Products(of_page, tuple(names))


class TitledPage(NamedTuple):
    """A page with its address and its title."""

    page: int
    url: str
    title: str


class NamedPages(NamedTuple):
    """Pages of a product, and what they are about if that says more than the name."""

    name: str
    pages: Sequence[TitledPage]
    subject: str = ""


def _products_of_host(corpus: Corpus, host: str, held: Sequence[TitledPage]) -> list[NamedPages]:
    """Return the products of a host."""
    products = _products_of_folder(held, 0)
    if len(products) == 1 and len(products[0].pages) == len(held):
        return [NamedPages(products[0].name, held, _subject(corpus, host, held, products[0].name))]
    if 2 * sum(len(one.pages) for one in products) >= len(held):
        return products
    name = _mentioned_name(corpus, host, held)
    return [NamedPages(name, held)] if name else products


def _products_of_folder(held: Sequence[TitledPage], depth: int) -> list[NamedPages]:
    """Return the product of a folder whose titles agree, or of the folders in it if these are several products."""
    name, share = repeated_name(one.title for one in held)
    if share >= _WHOLE or depth == _FOLDERS:
        return [NamedPages(name, held)] if share >= _SECTION else []

    def folder(one: TitledPage) -> str:
        parts = one.url.partition("?")[0].split("/")[3:-1]
        return parts[depth] if depth < len(parts) else ""

    inside = [list(some) for below, some in groupby(sorted(held, key=folder), folder) if below]
    products = [one for some in inside if len(some) >= _SECTION_PAGES for one in _products_of_folder(some, depth + 1)]
    covered = sum(len(one.pages) for one in products)
    if 2 * covered >= len(held) and len({fold_case(one.name) for one in products}) > 1:
        return products
    return [NamedPages(name, held)] if name and (not depth or share >= _SECTION) else products


def _subject(corpus: Corpus, host: str, held: Sequence[TitledPage], name: str) -> str:
    """Return the word in a host's name that its pages are about, if they never mention the name in their titles.

    The pages of birds.example may all be titled "… - Feather Notes": where only the template says so, a person would still
    call them birds. '' if there is no such word, or if texts use the name.
    """
    parts = [word for word in _HOST_PARTS.split(host) if len(word) > _SHORT and word not in _GENERIC]
    known = [word for word in dict.fromkeys(parts) if corpus.term_number(word) >= 0]
    if len(held) < _FEWEST or not known or {*tokens(name)[:1]} & {*parts}:
        return ""
    texts = [corpus.text_bytes(page)[0].decode("utf-8", "ignore") for page in _spread([one.page for one in held])]
    if _mention(texts, re.compile(rf"\b{re.escape(name)}\b")) >= _SUBJECT:
        return ""
    patterns = {word: re.compile(rf"\b(?:{'|'.join(_numbers(word))})\b", re.IGNORECASE) for word in known}
    share, best = max((_mention(texts, pattern), word) for word, pattern in patterns.items())
    return best.capitalize() if share >= _SUBJECT else ""


def _mention(texts: Sequence[str], pattern: re.Pattern[str]) -> float:
    """Return the share of texts that mention something more often than their common template does."""
    times = [len(pattern.findall(text)) for text in texts]
    return float(np.mean(np.array(times) > np.percentile(times, _TEMPLATE)))


def _numbers(word: str) -> list[str]:
    """Return an English word and what may be its singular."""
    endings = {"s": "", "es": "", "ies": "y"}
    return [word, *(word.removesuffix(end) + other for end, other in endings.items() if word.endswith(end))]


def _spread(pages: Sequence[int]) -> Sequence[int]:
    """Return an evenly spaced sample of pages."""
    return pages[:: max(len(pages) // _LOOKED_AT, 1)][:_LOOKED_AT]


def _mentioned_name(corpus: Corpus, host: str, held: Sequence[TitledPage]) -> str:
    """Return a part of a host's name, or the title of a home page, that most of its pages mention; '' if there is none."""
    some = _spread([one.page for one in held])
    words = [set(corpus.words(page).tolist()) for page in some]

    def is_mentioned(name: str) -> bool:
        terms = [corpus.term_number(word) for word in tokens(name)]
        share = sum(all(term in page for term in terms) for page in words) / len(words)
        return bool(terms) and min(terms) >= 0 and share >= _MENTIONED

    common = Counter(term for page in words for term in page)
    likely = {corpus.word(term) for term, times in common.items() if times >= _MENTIONED * len(words)} - _GENERIC
    parts = set(_HOST_PARTS.split(host))
    chosen = [
        word
        for word in likely
        if (word in parts and len(word) > 2) or (len(word) >= _INSIDE and word in host and word.isalpha())
    ]
    if chosen:
        best = min(chosen, key=lambda word: (word not in parts, -len(word), word))
        if name := _find_capitalised(corpus, best, some):
            return name
    homes = sorted(held, key=lambda one: (one.url.count("/"), "index" not in one.url, len(one.url), one.page))
    names = (clean_name(one.title) for one in homes[:_HOMES])
    return next((name for name in names if name and is_mentioned(name)), "")


def _find_capitalised(corpus: Corpus, word: str, pages: Sequence[int]) -> str:
    """Return a word in its capitalised spelling, as pages write it; '' if they hardly ever capitalise it."""
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    texts = (corpus.text_bytes(page)[0].decode("utf-8", "ignore") for page in pages)
    forms: Counter[str] = Counter(form for text in texts for form in pattern.findall(text))
    capital = {form: times for form, times in forms.items() if form[0].isupper()}
    if sum(capital.values()) < _CAPITAL * forms.total():
        return ""
    return max(capital, key=lambda form: (not form.isupper(), capital[form], form))


def title_parts(title: str) -> list[str]:
    """Return the parts of a title, between its separators."""
    return [part for part in _BORDER.split(title) if part.strip()]


def clean_name(part: str) -> str:
    """Return a part of a title without versions, and without words at its ends that say what kind of text it is."""
    words = [word for word in part.split() if not _NUMBER.fullmatch(word.strip(".,;()[]"))]
    while words and (fold_case(words[-1]).strip(".,:;!") in _GENERIC or not tokens(words[-1])):
        words.pop()
    while words and (fold_case(words[0]).strip(".,:;!'") in _GENERIC or not tokens(words[0])):
        words.pop(0)
    name = " ".join(words).strip(" .,:;!")
    return name if words and len(words) <= _LONGEST and re.search(r"[^\W\d_]{2}|\w\+\+|\w#", name) else ""


def repeated_name(titles: Iterable[str]) -> tuple[str, float]:
    """Return the part that most titles share, and the share of titles that have it; '' if there is none.

    Only titles of several parts count. Where parts differ but begin alike, what they share is the name.
    """
    held: Counter[tuple[str, ...]] = Counter()
    first: dict[tuple[str, ...], int] = {}
    wordings: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    total = 0
    for title in titles:
        total += 1
        parts = title_parts(title)
        if len(parts) < 2:
            continue
        seen = set()
        for place, part in enumerate(parts):
            words = clean_name(part).split()
            for length in range(1, len(words) + 1):
                key = tuple(map(fold_case, words[:length]))
                if key not in seen and key[-1] not in _GENERIC:
                    seen.add(key)
                    wordings[key][" ".join(words[:length])] += 1
                    first.setdefault(key, place)
        held.update(seen)
    most = max(held.values(), default=0)
    if most < max(_FEWEST, _REPEATED * total):
        return "", 0.0
    likely = [key for key in held if held[key] >= _WHOLE * most]
    best = min(likely, key=lambda key: (-len(key), first[key], -held[key], key))
    name = clean_name(max(wordings[best], key=lambda text: (wordings[best][text], text)))
    return name, held[best] / total
