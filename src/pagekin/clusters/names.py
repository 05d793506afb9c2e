"""Names that people would write, from the product of a topic and the phrases that its pages show."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

import numpy as np
import numpy.typing as npt

from pagekin.bags import STOP_WORDS
from pagekin.clusters.furniture import is_furniture
from pagekin.clusters.hierarchy import ClusterDescription, Tree
from pagekin.clusters.levels import PageLinks
from pagekin.clusters.naming import Candidate
from pagekin.clusters.overviews import Overviews
from pagekin.clusters.products import NOBODY, title_parts
from pagekin.clusters.shown import ShownPhrases
from pagekin.clusters.unspaced import is_unspaced
from pagekin.hypertext import fold_case, repeated_title
from pagekin.text import analyse, tokens

TERMS = 12
NOTICES = "Moved or missing pages"
"""The name of a topic of servers' notices."""
_OTHER = "Other pages"
_NOTICES = 0.9
"""A topic has that name if more than this share of its pages are notices; if nothing else names it, more than half."""
_IN_NAME = 3
_COVERED = 0.7
"""A group of topics is named by them if the best phrase for it is shown by less than this share of its pages."""
_SURE = 0.85
"""How much the links of a contents page must agree with a group of topics whose name it gives."""
_LONGER = 0.85
"""A longer phrase is taken for one that is part of it if this share of the pages that show the one show the other."""
_LONGER_WORD = 0.6
"""The same for a weak phrase of a single word."""
_WEAK = 0.01
"""The least score of a name: with less, few pages show the phrase, others do too, and it is rarely on its own."""
_OTHER_TITLES = 0.1
"""Notices of a server have one title; if less than this share of a topic has the same, they are stubs of a site."""
_KIND = 0.8
"""Then the topic is named by its kind first, which this share of its pages show, though others do as well."""
_TITLES = 50
"""Pages of a topic whose titles are compared, about."""
_PART = 0.1
"""The least share of a node's pages that a part has whose name goes into the node's."""
_ENOUGH = 0.5
"""A name needs no further phrase if those it has are shown by this share of the pages."""
_TOGETHER = 0.05
"""The least share of pages with all phrases of a name, so that a search for the name finds some."""
_WORTH = 0.3
"""A further phrase is as good as this share of the first, at least."""
_FEW, _BROAD, _BROADLY = 0.45, 0.3, 0.66
"""If fewer pages than this share show the best phrase, one with this share of its score that this share shows is better."""
_EQUAL = 0.75
"""A second phrase with this score need not share pages with the first: a topic may have two kinds of pages."""
_SECOND = 0.2
"""The share of a topic's pages that such a phrase adds, at least."""
_OWNED = 0.85
"""A topic is a product's if this share of its pages are, and no other product has as many as are listed."""
_WHOLE = 0.6
"""It has the product's name alone if it holds this share of the product's pages."""
_LOUD = 5
"""Letters of a word in capitals that may be an abbreviation, at most; a longer one is the name of a file or a command."""
_NEARLY = 0.15
"""The share of the score of a name in code that is enough for a phrase of words to be preferred to it."""
_LEAST = 0.05
"""The same if as many pages show the phrase, half of the topic's, and it is sure to be one.

It is if it has several words, or is an abbreviation, and the topic's own."""
_HALF, _NEARLY_ALL = 0.5, 0.65
"""The share of the pages which show a name in code that show such a phrase, at least; and of those which show a small word."""
_OWN = 0.3
"""The share of all pages which show such a phrase that are the topic's, at least: File and Globals are on pages of any topic."""
_CODE = re.compile(r"\w_\w|\w:{1,2}\w|\(\)|[a-z]{2}\.[a-z]{3}|\w/\w.*[-_.]|[a-z][A-Z]\w*[a-z][A-Z]")
_LISTED = 0.1
"""The least share of a topic's pages that a product has which is named among several."""
_MOSTLY = 0.8
"""The share of a group's pages that one part has whose name then begins the group's, whatever phrase covers it."""
_LIST_COVERS = 0.7
"""Products are named if those named have this share of the pages together."""


@dataclass
class TreeNames:
    """The choice of names for the nodes of a tree, from the root down.

    `found` are the candidates of each node, `kept` names that some nodes have in any case. The tree has descriptions
    already, with names of words for nodes that neither a product nor a phrase fits.
    """

    tree: Tree
    shown: ShownPhrases
    found: Sequence[Sequence[Candidate]]
    kept: Mapping[int, str]
    overviews: Overviews
    names: list[str] = field(init=False)
    sizes: list[int] = field(init=False)
    large: list[dict[int, int]] = field(init=False)
    """The products that have a good share of each node's pages, the largest first, and how many pages these are."""
    owner: list[int] = field(init=False)
    """The product that each node belongs to, NOBODY for most."""

    def __post_init__(self) -> None:
        tree, products = self.tree, self.shown.products
        self.names = [""] * len(tree)
        self.sizes = [len(tree.pages_of(node)) for node in range(len(tree))]
        fit = [tree.pages_of(node)[~self.shown.notices[tree.pages_of(node)]] for node in range(len(tree))]
        self.notices = [size - len(pages) for size, pages in zip(self.sizes, fit, strict=True)]
        self.of_products = products.counts(fit[0])
        self.large = [_largest(products.counts(pages), _LISTED * len(pages)) for pages in fit]
        self.groups = {node for one in tree.facts.get("shown", ()) for node in tree.path(one)[:-1]}
        self.owner = [NOBODY] * len(tree)
        for node, large in enumerate(self.large):
            if len(large) == 1 and sum(large.values()) >= _OWNED * len(fit[node]):
                self.owner[node] = next(iter(large))

    def choose(self) -> None:
        """Name all nodes: no node has the name of a sibling or of a node above it."""
        for siblings in [[0], *self.tree.children]:
            if not siblings:
                continue
            above = [self.names[node] for node in self.tree.path(siblings[0])[:-1] if node]
            taken: set[str] = set()
            for name in (*above, *(self.kept[node] for node in siblings if node in self.kept)):
                taken |= {fold_case(name), fold_case(name.partition(": ")[2])}
            for node in siblings:
                name = self.kept.get(node) or _make_unique(self._name(node, taken), taken)
                self.names[node] = name
                taken |= {fold_case(name), fold_case(name.partition(": ")[2])}

    def _name(self, node: int, taken: set[str]) -> str:
        """Return the name of a node, given the names already taken."""
        free = [one for one in self._beside_product(node) if not _is_taken(one.form, taken)]
        if self.notices[node] > (_NOTICES if free else 0.5) * self.sizes[node]:
            return self._led_to(node, taken) or NOTICES
        title = self._same_title(node)
        if title and (fold_case(title) not in taken or not free):
            return title
        product = self.product(node)
        if product and self._is_whole(node) and fold_case(product) not in taken:
            return product
        given = self._authors_name(node, free, taken)
        name = given or self._list_parts(node, free)
        if not name:
            chosen = choose_phrases(free, self.sizes[node])
            prefix = self.overviews.prefix(node) if len(chosen) != 1 else ""
            name = prefix if fold_case(prefix) not in taken else ""
            name = name or ", ".join(one.form for one in chosen)
        name = name or self._words(node)
        if not given and free and free[0].score < _WEAK and (kind := self._kind(node)) and not _overlap(kind, name):
            name = f"{kind}: {name}"
        return f"{product}: {name}" if product and not _overlap(product, name) else name

    def _own_name(self, node: int) -> str:
        """Return the name that a node would get on its own, without its product; the first of several phrases."""
        name, product = self._name(node, set()), self.product(node)
        return name.removeprefix(f"{product}: ").partition(", ")[0]

    def _authors_name(self, node: int, free: Sequence[Candidate], taken: set[str]) -> str:
        """Return the authors' name for a node: an overview page, its titles or a module; '' for none.

        Where neither an overview nor a good phrase says in words what the node is, the module that its titles are in is its name.
        """
        phrase = free[0].form if free else ""
        covered = len(free[0].pages) >= _ENOUGH * self.sizes[node] if free else False
        is_good = covered and free[0].score >= _WEAK
        given = self._given_name(node, phrase, covered, is_good, taken)
        if _says_words(given) or (is_good and _says_words(phrase)):
            return given
        module = self.overviews.module(node)
        return module if module and fold_case(module) not in taken else given

    def _given_name(self, node: int, phrase: str, covered: bool, is_good: bool, taken: set[str]) -> str:
        """Return the name that an overview page or the beginning of the titles gives a node; '' if it is taken or no better.

        A phrase that covers the node is not replaced by the name of a module (Common Test, not ct) or by itself with more words
        (Terminals, not Complete list of terminals).
        """
        product = self.shown.products.names[self.owner[node]] if self.owner[node] != NOBODY else ""
        own = set(tokens(product))
        least = _COVERED if node in self.groups else _ENOUGH
        ways: list[Callable[[], str]] = [
            lambda: self.overviews.chapter(node),
            lambda: self.overviews.contents(node, *([_SURE] if node in self.groups else [])),
            lambda: self.overviews.title(node, least),
            lambda: self.overviews.common_beginning(node),
        ]
        for name in (way() for way in ways):
            if name and fold_case(name) not in taken and not set(tokens(name)) <= own:
                return self._better(name, phrase, covered, is_good)
        return ""

    def _led_to(self, node: int, taken: set[str]) -> str:
        """Return the title of the page to which notices with their own titles lead; '' for server notices."""
        if node in self.groups and self.tree.children[node]:
            return ", ".join(
                [title for part in self.tree.children[node] if (title := self._led_to(part, taken))][:_IN_NAME]
            )
        corpus, pages = self.shown.corpus, self.tree.pages_of(node)
        counts = Counter(corpus.titles.text(page) for page in pages[:: max(len(pages) // _TITLES, 1)].tolist())
        is_server = counts.most_common(1)[0][1] >= max(_OTHER_TITLES * counts.total(), 2)
        title = "" if is_server else self.overviews.central_title(node) or self.overviews.target_title(node)
        return "" if fold_case(title) in taken else title

    @staticmethod
    def _better(title: str, phrase: str, covered: bool, is_good: bool) -> str:
        """Return a better name from a title, or the phrase in the other number (Birds, not Bird); '' if it is no better.

        Most pages may show the phrase (`covered`), which makes a name that is not too weak a good one (`is_good`).
        """
        words, others = ({*analyse(tokens(text))} for text in (title, phrase))
        if words == others:
            return max(title, phrase, key=len)
        is_file = phrase.isupper() and len(phrase) > _LOUD
        if (is_small(phrase) or is_file) and others < words and phrase not in title:
            return title
        is_module = title.islower() and " " not in title
        if "_" in title and phrase and not is_code(phrase):
            return ""
        return "" if (covered and is_module) or (is_good and others <= words) else title

    def _same_title(self, node: int) -> str:
        """Return the title that nearly all pages of a node have, without the site's part; '' if titles differ.

        A title that all topics have names none of them.
        """
        corpus, pages = self.shown.corpus, self.tree.pages_of(node)
        counts = Counter(corpus.titles.text(page) for page in pages[:: max(len(pages) // _TITLES, 1)].tolist())
        title, times = counts.most_common(1)[0] if counts else ("", 0)
        if node and title == self._title_of_all:
            return ""
        return title_parts(title)[0] if title_parts(title) and times >= max(_KIND * counts.total(), 3) else ""

    @cached_property
    def _title_of_all(self) -> str:
        """Return the title that most pages have; '' for none."""
        titles = self.shown.corpus.titles
        return repeated_title([titles.text(page) for page in self.tree.pages_of(0).tolist()])

    def _kind(self, node: int) -> str:
        """Return the best phrase of the topics above, or a shared one, that covers a node; '' if there is none.

        A phrase that nearly all pages of the collection show says nothing: a template has it.
        """
        pages, owner = self.tree.pages_of(node), self.owner[node]
        words = set(tokens(self.shown.products.names[owner])) if owner != NOBODY else set()
        for above in reversed(self.tree.path(node)):
            for one in self.found[above]:
                share = len(np.intersect1d(one.pages, pages, assume_unique=True)) / max(len(pages), 1)
                is_template = one.everywhere >= _KIND * self.sizes[0]
                if one.score >= _WEAK and share >= _KIND and not is_template and not set(tokens(one.form)) <= words:
                    parent = self.names[self.tree.path(node)[-2]] if node else ""
                    return (
                        "" if fold_case(parent).startswith(fold_case(one.form)) else one.form[0].upper() + one.form[1:]
                    )
        return ""

    def _beside_product(self, node: int) -> list[Candidate]:
        """Return the candidates of a node that are more than the name of the product that it belongs to."""
        owner = self.owner[node]
        words = set(tokens(self.shown.products.names[owner])) if owner != NOBODY else set()
        free = [one for one in self.found[node] if not set(tokens(one.form)) <= words]
        return prefer_words(free, self.sizes[node])

    def _words(self, node: int) -> str:
        """Return a name made of characteristic words."""
        words = [word for word in self.tree.descriptions[node].terms if not is_furniture(word)]
        return ", ".join(words[:_IN_NAME]) or _OTHER

    def product(self, node: int) -> str:
        """Return the name of the product that a node belongs to, '' if there is none or if it goes without saying.

        It does where all pages are of one product, and below the topics that are shown where the topic above is of the same.
        """
        owner, above = self.owner[node], self.tree.path(node)[:-1]
        if owner == NOBODY or owner == self.owner[0]:
            return ""
        is_below = not self.groups or (node not in self.groups and above[-1] not in self.groups)
        return "" if is_below and self.owner[above[-1]] == owner else self.shown.products.names[owner]

    def _is_whole(self, node: int) -> bool:
        """Return whether a node holds most of its product's pages."""
        owner = self.owner[node]
        return bool(self.large[node][owner] >= _WHOLE * self.of_products[owner])

    def _list_parts(self, node: int, free: Sequence[Candidate]) -> str:
        """Return the names of a topic's largest products, or of its parts if it is a group; '' if a phrase covers it."""
        several = list(self.large[node])[:_IN_NAME]
        own = {word for one in several for word in tokens(self.shown.products.names[one])}
        rest = [one for one in free if not set(tokens(one.form)) <= own]
        covered = len(rest[0].pages) / max(self.sizes[node], 1) if rest else 0.0
        enough = node == 0 or sum(self.large[node][one] for one in several) >= _LIST_COVERS * self.sizes[node]
        known = set(several) <= set(list(self.large[self.tree.path(node)[-2]])[:_IN_NAME]) if node else False
        needed = 0.0 if known and rest else _ENOUGH
        is_most = several and self.large[node][several[0]] >= _WHOLE * self.of_products[several[0]]
        whole = len(several) > 1 or (is_most and several[0] not in self.large[0])
        if whole and enough and covered < (_COVERED if node in self.groups else needed):
            return ", ".join(self.shown.products.names[one] for one in several)
        parts = self.tree.children[node]
        is_one = max((self.sizes[part] for part in parts), default=0) >= _MOSTLY * self.sizes[node]
        if node not in self.groups or len(parts) < 2 or (covered >= _COVERED and not is_one):
            return ""
        forms: list[str] = []
        for part in sorted(parts, key=lambda part: -self.sizes[part]) if is_one else parts:
            product = self.product(part) if self.owner[part] != self.owner[node] else ""
            own_name = self._own_name(part)
            likely = (product, own_name, *(one.form for one in self._beside_product(part)))
            same = _is_part if own_name not in ("", _OTHER, NOTICES) else _overlap
            form = next((one for one in likely if one and not any(same(one, other) for other in forms)), "")
            if form and (self.sizes[part] >= _PART * self.sizes[node] or len(forms) == 1):
                forms.append(form)
        return ", ".join(forms[:_IN_NAME])


def name_tree(
    tree: Tree, shown: ShownPhrases, candidates: Sequence[Sequence[Candidate]], links: PageLinks,
    kept: Mapping[int, str] | None = None,
) -> list[ClusterDescription]:  # fmt: skip
    """Return descriptions with names for all nodes, and with characteristic phrases before the characteristic words.

    `candidates` are the candidates of each node; `kept` are names that some nodes have in any case.
    """
    names = TreeNames(tree, shown, candidates, kept or {}, Overviews(tree, shown, links))
    names.choose()
    descriptions = []
    for node, described in enumerate(tree.descriptions):
        phrases = [one.form for one in distinct(candidates[node])]
        seen = {word for form in phrases for word in tokens(form)} | shown.site_words
        terms = [*phrases, *(word for word in described.terms if fold_case(word) not in seen)][:TERMS]
        descriptions.append(replace(described, name=names.names[node], terms=tuple(terms)))
    return descriptions


def _largest(counts: npt.NDArray[np.int64], least: float) -> dict[int, int]:
    """Return (number, count) of everything that occurs at least this often, the most frequent first."""
    frequent = np.flatnonzero(counts >= max(least, 1)).tolist()
    return {one: int(counts[one]) for one in sorted(frequent, key=lambda one: (-counts[one], one))}


def _make_unique(name: str, taken: set[str]) -> str:
    """Return a name with a number if it is taken."""
    numbered = (f"{name} ({number})" for number in count(2))
    return name if fold_case(name) not in taken else next(one for one in numbered if fold_case(one) not in taken)


def distinct(candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    """Yield candidates that are not part of an earlier one."""
    seen: set[frozenset[str]] = set()
    for one in candidates:
        key = frozenset(tokens(one.form))
        if not any(key <= other or other <= key for other in seen):
            seen.add(key)
            yield one


def is_code(form: str) -> bool:
    """Return whether a phrase is a name in code or a command, not something that people say: ei_x_encode, xOpen, DROP ROLE."""
    is_command = " " in form and form.isupper()
    is_camel = form[:1].islower() and form.isalnum() and any(map(str.isupper, form))
    return is_command or is_camel or bool(_CODE.search(form))


def is_small(form: str) -> bool:
    """Return whether a phrase is a word in lower case even in titles and headings: a command such as postqueue."""
    return form.islower() and " " not in form and not is_code(form)


def _says_words(form: str) -> bool:
    """Return whether a name is made of words, not a name in code or a command."""
    return bool(form) and not is_small(form) and not is_code(form)


def prefer_words(candidates: list[Candidate], size: int = 0) -> list[Candidate]:
    """Return candidates without names in code if the best is one and a phrase of words is nearly as good; `size` is the topic's.

    If another has the words of which the name in code is made, these are the best: Foreign Data Wrapper.
    """
    small = bool(candidates) and is_small(candidates[0].form)
    if not candidates or not (small or is_code(candidates[0].form)):
        return candidates
    words = [one for one in candidates if not is_code(one.form) and not (small and is_small(one.form))]
    spoken = re.compile(rf"\b{re.escape(candidates[0].form.replace('_', ' '))}\b", re.IGNORECASE)
    said = next(filter(None, (spoken.search(one.form) for one in words)), None) if "_" in candidates[0].form else None
    if said:
        return [replace(candidates[0], form=said.group()), *words]
    for one in words:
        is_phrase = (" " in one.form or one.form[0].isupper()) and not any(map(str.isdigit, one.form))
        as_many = len(one.pages) >= len(candidates[0].pages)
        enough = len(one.pages) >= (_NEARLY_ALL if small else _HALF) * len(candidates[0].pages)
        is_sure = len(one.pages) >= _OWN * one.everywhere and (" " in one.form or one.form.isupper())
        least = _LEAST if as_many and is_sure and len(one.pages) >= _HALF * size else _NEARLY
        if is_phrase and enough and (is_sure or not small) and one.score >= least * candidates[0].score:
            return [one, *(other for other in words if other is not one)]
    return candidates


def choose_phrases(candidates: Sequence[Candidate], size: int) -> list[Candidate]:
    """Return the phrases of a name: the best one, and others that cover further pages if it covers few.

    A phrase that nearly all pages show is preferred to one of few, if it is not much worse and has several words, or words of
    the other: Handlers to DevOps Handler.
    """
    chosen = list(candidates[:1])
    if chosen and len(chosen[0].pages) < _FEW * size:
        least = _BROAD * chosen[0].score
        broad = (one for one in candidates if len(one.pages) >= _BROADLY * size and one.score >= max(least, _WEAK))
        own = (one for one in broad if len(one.pages) >= _OWN * one.everywhere and _says_words(one.form))
        chosen = [next((one for one in own if " " in one.form or _is_part(one.form, chosen[0].form)), chosen[0])]
    covered = both = chosen[0].pages if chosen else np.zeros(0, np.int64)
    while chosen and len(chosen) < _IN_NAME and len(covered) < _ENOUGH * size:
        best, most = None, (_WORTH if len(chosen) == 1 else _EQUAL) * chosen[0].score
        for one in candidates:
            shared = np.intersect1d(one.pages, both, assume_unique=True)
            new = len(one.pages) - len(np.intersect1d(one.pages, covered, assume_unique=True))
            worth = one.score * new / len(one.pages)
            is_equal = worth >= _EQUAL * chosen[0].score and new >= _SECOND * size
            if (
                worth > most
                and (is_equal or len(shared) >= max(_TOGETHER * size, 3))
                and not any(_overlap(one.form, other.form) for other in chosen)
            ):
                best, most = one, worth
        if best is None:
            break
        chosen.append(best)
        covered = np.union1d(covered, best.pages)
        both = np.intersect1d(both, best.pages, assume_unique=True)
    return [_lengthen(one, candidates) for one in chosen]


def _lengthen(short: Candidate, candidates: Sequence[Candidate]) -> Candidate:
    """Return the best longer phrase on most pages that show a phrase: Georgia Institute of Technology.

    Of one word, more pages may do without the longer phrase: "loss" is less of a name than "data loss".
    """
    words = tokens(short.form)
    inside = f" {' '.join(words)} "
    longer = (
        one
        for one in candidates
        if len(tokens(one.form)) > len(words)
        and inside in f" {' '.join(tokens(one.form))} "
        and (is_code(short.form) or not is_code(one.form))
    )
    share = _LONGER if len(words) > 1 or short.score >= _WEAK else _LONGER_WORD
    return next((one for one in longer if len(one.pages) >= share * len(short.pages)), short)


def _is_taken(form: str, taken: set[str]) -> bool:
    """Return whether a name is taken, or a part of a word that is: in scripts without spaces a phrase may be half a word."""
    folded = fold_case(form)
    return folded in taken or (is_unspaced(form) and any(folded in name and ", " not in name for name in taken))


def _is_part(one: str, other: str) -> bool:
    """Return whether the words of one phrase are all among those of another."""
    a, b = ({word[:5] for word in tokens(text) if word not in STOP_WORDS} for text in (one, other))
    return one == other or (bool(a and b) and (a <= b or b <= a))


def _overlap(one: str, other: str) -> bool:
    """Return whether two phrases share a word, or the beginning of a long one."""
    a, b = ({word[:5] for word in tokens(text) if word not in STOP_WORDS} for text in (one, other))
    return bool(a & b)
