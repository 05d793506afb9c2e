"""Names that authors gave to a topic: the title of its overview page, and the common beginning of its titles."""

import re
from collections import Counter
from functools import cached_property

import numpy as np

from pagekin.bags import STOP_WORDS
from pagekin.clusters.chapters import PARTS_OF_BOOKS, Chapters
from pagekin.clusters.furniture import is_furniture
from pagekin.clusters.hierarchy import Tree
from pagekin.clusters.levels import PageLinks
from pagekin.clusters.products import title_parts
from pagekin.clusters.shown import ShownPhrases
from pagekin.clusters.written_phrases import is_question
from pagekin.hypertext import AnchorKind, ShortTitles, fold_case
from pagekin.store import is_among, row_entries
from pagekin.text import tokens

_FEWEST = 12
"""Pages of a topic that has an overview, at least: of a few pages one is often linked with most others by chance."""
_LISTED = 0.5
"""The share of a topic's pages to which its overview page links, at least; or that link to it, if it only lists pages."""
_OWN = 0.4
"""The share of the overview page's links that lead into the topic, at least: the home page of a site lists everything."""
_CENTRAL = 4
"""Central pages that may be the overview."""
_NEARLY, _SEVERAL = 0.8, 2
"""If more central pages than this are linked nearly as much with the others, the links are navigation."""
_SMALLEST = 6
"""Pages of a topic that has a contents page, at least."""
_SAME, _UP = 0.7, 0.6
"""How much the links of a contents page agree with the topic if this share of the pages that it lists link up to it."""
_SURE, _FIVE = 0.85, 5
"""How much they must agree if fewer do, and how many pages it must then list."""
_LONGEST_CONTENTS = 8
"""Words of its title, at most."""
_LEAD = 0.8
"""The next best page may agree with the topic by this share as much: otherwise the links are navigation."""
_BEGIN = 0.6
"""The share of a topic's titles that begin alike, at least."""
_ELSEWHERE = 0.1
"""The share of the other pages whose titles may begin so, too."""
_TITLES = 60
"""Titles that are compared, about."""
_LONGEST = 6
"""Words of a name, at most."""
_NUMBERED = re.compile(
    rf"^(?:(?:{PARTS_OF_BOOKS})\s+[\dA-Z][\w.]*[.:]?(?:\s+[-–—])?\s+|第\s*[\d一二三四五六七八九十]+\s*[章部编節节篇]\s*[.:]?\s*|"
    r"[\dA-Z]{1,3}(?:\.\d+)*[.)]\s+|\d+(?:\.\d+)+\s+)",
    re.IGNORECASE,
)
"""What stands before the title of a part of a book."""
_DOCUMENT = re.compile(
    r"[\s,:-]+(?:(?:reference|user['’]?s?['’]?|users['’]?|programmer['’]?s)\s+)?(?:manual|guide|documentation|handbook|index|contents|overview|"
    r"introduction)$",
    re.IGNORECASE,
)
"""What says that a title is of a document, not what it is about."""
_ARTICLE = re.compile(r"^(?:the|a|an)\s+(?=\w)", re.IGNORECASE)
_BEFORE = re.compile(
    r"^(?:an?\s+)?(?:overview of|introduction to|introduction (?:à|aux?))\s+(?:the\s+|la\s+|les?\s+)?(?=\w)",
    re.IGNORECASE,
)
"""What says before a subject that a title is of a document."""
_PARTICLE = re.compile(r"^[のをは](?=[\u3400-\u9fff\u30a0-\u30ff])")
"""What is left of a Japanese title whose first word is the site's name."""
_QUOTED = re.compile(r"^(?:[\w-]+[\s'’]+){0,3}[«“]\s*([^«»“”]+?)\s*[»”](?:\s\w+){0,2}$")
"""A title that names a thing in quotation marks, and says in a few words what it is: The “Colors” Menu."""
_PATH = re.compile(r"(\.|::)")
"""Borders between the modules in a name in code."""
_INSIDE = re.compile(r"(?<=[A-Za-z])(?=[_:.-]\w)|(?<=[a-z])(?=[A-Z])")
"""Borders inside the name of a class or a function."""


class Overviews:
    """The authors' names for the topics of a tree."""

    def __init__(self, tree: Tree, shown: ShownPhrases, links: PageLinks) -> None:
        self._tree, self._shown, self._links = tree, shown, links
        self._known: dict[int, str] = {}

    def title(self, node: int, least: float = _LISTED) -> str:
        """Return the title of the central page that is linked with most of a topic, `least` of its pages; '' if there is none.

        Cost: a pass over the topic's links.
        """
        if node not in self._known:
            self._known[node] = self._find(node, least)
        return self._known[node]

    def _find(self, node: int, least: float) -> str:
        pages, links = self._tree.pages_of(node), self._links
        central = self._tree.descriptions[node].central[:_CENTRAL]
        if len(pages) < _FEWEST:
            return ""
        held = np.zeros(len(links.starts) - 1, np.bool_)
        held[pages] = True
        inside = links.targets[row_entries(links.starts, pages)]
        linked, worth = dict.fromkeys(central, 0), dict.fromkeys(central, 0.0)
        for page in central:
            targets = links.targets[links.starts[page] : links.starts[page + 1]]
            listed, citing = int(np.count_nonzero(held[targets])), int(np.count_nonzero(inside == page))
            linked[page] = listed + citing
            # Of a page that only lists others no links are known; others are cited because they are famous.
            known = listed if len(targets) else citing
            if known >= least * (len(pages) - 1) and listed >= _OWN * len(targets):
                worth[page] = listed * listed / len(targets) if len(targets) else citing
        best = max(central, key=lambda page: worth[page], default=-1)
        if best < 0 or not worth[best] or sum(one >= _NEARLY * linked[best] for one in linked.values()) > _SEVERAL:
            return ""
        return self.clean(self._chapters.bare_title(best))

    def contents(self, node: int, least: float = _SAME) -> str:
        """Return the title of the page whose links are the pages of a topic, nearly; '' if there is none.

        They must agree by the share `least`, of the pages on both sides.

        It is the contents page of the topic: a chapter's, a menu's. It may stand outside, and then counts as one page more.
        Cost: a pass over the links to the topic's pages.
        """
        pages, links = self._tree.pages_of(node), self._links
        if len(pages) < _SMALLEST:
            return ""
        sources = links.backward.targets[row_entries(links.backward.starts, pages)]
        likely, listed = np.unique(sources, return_counts=True)
        inside = is_among(likely, pages)
        agreed = 2 * (listed + inside) / (links.starts[likely + 1] - links.starts[likely] + 1 + len(pages))
        agreed[self._shown.unfit[likely]] = 0
        order = np.lexsort((likely, -agreed))
        if not len(order) or (len(order) > 1 and agreed[order[1]] > _LEAD * agreed[order[0]]):
            return ""
        best = int(likely[order[0]])
        upward = links.backward.targets[links.backward.starts[best] : links.backward.starts[best + 1]]
        linked_up = int(np.count_nonzero(is_among(upward, pages)))
        few = linked_up < _UP * listed[order[0]]
        if agreed[order[0]] < (_SURE if few else least) or (few and listed[order[0]] < _FIVE):
            return ""
        title = self._chapters.bare_title(best)
        return "" if is_question(title) else self.clean(title, _LONGEST_CONTENTS)

    def chapter(self, node: int) -> str:
        """Return the title of the chapter or section that contains most pages of a topic; '' if there is none.

        Cost: a pass over the topic's pages.
        """
        head = self._chapters.head([page for page in self._tree.pages_of(node).tolist() if not self._shown.unfit[page]])
        return self.clean(self._chapters.bare_title(head)) if head >= 0 else ""

    def central_title(self, node: int) -> str:
        """Return the title of the most central page with a meaningful title; '' if there is none."""
        fit = [page for page in self._tree.descriptions[node].central if not self._shown.unfit[page]]
        return self.clean(self._chapters.bare_title(fit[0])) if fit else ""

    def target_title(self, node: int) -> str:
        """Return the title of the page to which most stub pages lead; '' if there is none.

        Cost: a pass over the topic's links.
        """
        corpus = self._shown.corpus
        anchors = row_entries(np.asarray(corpus.pages.anchors, np.int64), self._tree.pages_of(node))
        flags = np.asarray(corpus.anchors.flags)[anchors]
        leading = anchors[(flags >> 1) & 7 == AnchorKind.REFRESH]
        targets = Counter(np.asarray(corpus.anchors.target)[leading].tolist())
        url, times = targets.most_common(1)[0] if targets else (0, 0)
        pages = corpus.pages_of(url)
        return self.clean(self._chapters.bare_title(pages[0])) if pages and 2 * times > len(leading) else ""

    @cached_property
    def _chapters(self) -> Chapters:
        return Chapters(self._shown.corpus, self._titles, self._shown.looked_at)

    @cached_property
    def _titles(self) -> ShortTitles:
        return ShortTitles(self._shown.corpus)

    @staticmethod
    def clean(title: str, longest: int = _LONGEST) -> str:
        """Return a title without chapter numbers and words for documents; '' if nothing meaningful is left."""
        title = _QUOTED.sub(r"\1", _NUMBERED.sub("", title.strip()))
        name = _NUMBERED.sub("", (title_parts(title) or [""])[0].strip())
        while (shorter := _DOCUMENT.sub("", name)) != name:
            name = shorter
        bare = _ARTICLE.sub("", name)
        bare = _PARTICLE.sub("", _BEFORE.sub("", bare))
        name = name if bare == name else bare[:1].upper() + bare[1:]
        words = tokens(name)
        telling = any(word not in STOP_WORDS and len(word) > 1 for word in words)
        return name if telling and len(words) <= longest and not is_furniture(name) else ""

    def common_beginning(self, node: int) -> str:
        """Return the (two or more) words with which most titles of a topic begin, but few others; '' if there are none."""
        mine = self._some_titles(self._tree.pages_of(node))
        counts = Counter(key for title in mine for key in {*_beginnings(title)})
        likely = [key for key, times in counts.items() if times >= max(_BEGIN * len(mine), 3)]
        if not likely:
            return ""
        best = max(likely, key=lambda key: (len(key), counts[key]))
        others = self._some_titles(np.setdiff1d(self._tree.pages_of(0), self._tree.pages_of(node), assume_unique=True))
        if sum(best in _beginnings(title) for title in others) > _ELSEWHERE * len(others):
            return ""
        written = Counter(" ".join(title.split()[: len(best)]) for title in mine if best in _beginnings(title))
        name = written.most_common(1)[0][0].strip(" ,:;-–—.")
        return "" if is_furniture(name) else name

    def prefix(self, node: int) -> str:
        """Return the prefix of most titles if these are names in code (wx for wxFrame, wxWindow); '' if there is none."""
        mine = self._some_titles(self._tree.pages_of(node))
        counts = Counter(word[: at.start()] for word in mine if " " not in word for at in _INSIDE.finditer(word))
        likely = [part for part, times in counts.items() if times >= max(_BEGIN * len(mine), 3) and len(part) > 1]
        return max(likely, key=len, default="")

    def module(self, node: int) -> str:
        """Return the module in which most of a topic's titles are, but few others; '' if there is none.

        Titles are then names in code, with points or double colons between their parts: `mail.smtp` is in `mail`.
        """
        counts = Counter(module for title in self._some_titles(self._tree.pages_of(node)) for module in _modules(title))
        least = max(_BEGIN * counts[""], 3)
        likely = [module for module, times in counts.items() if module and times >= least]
        if counts[""] < 3 or not likely:
            return ""
        best = max(likely, key=lambda module: (len(module), module))
        others = np.setdiff1d(self._tree.pages_of(0), self._tree.pages_of(node), assume_unique=True)
        elsewhere = self._some_titles(others)
        return "" if sum(best in _modules(title) for title in elsewhere) > _ELSEWHERE * len(elsewhere) else best

    def _some_titles(self, pages: np.ndarray) -> list[str]:
        some = pages[:: max(len(pages) // _TITLES, 1)]
        fit = some[~self._shown.unfit[some]]
        if 2 * len(fit) < len(some):  # pages of a few words are alike, but have titles of their own
            fit = some[~self._shown.notices[some]]
        return [_NUMBERED.sub("", self._titles.text(page)) for page in fit.tolist()]


def _modules(title: str) -> list[str]:
    """Return '' for any title, and if it is a name in code, the modules that it is in, and itself."""
    parts = _PATH.split(title)
    if len(parts) < 3 or not all(part.isidentifier() for part in parts[::2]):
        return [""]
    return ["", *("".join(parts[:end]) for end in range(1, len(parts) + 1, 2))]


def _beginnings(title: str) -> list[tuple[str, ...]]:
    """Return the beginnings of a title, of two or more words, that end with an informative word."""
    words = [fold_case(word).strip(",:;.") for word in title.split()[:_LONGEST]]
    return [
        tuple(words[:length])
        for length in range(2, len(words) + 1)
        if words[length - 1].isalpha() and words[length - 1] not in STOP_WORDS
    ]
