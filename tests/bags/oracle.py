"""Bags made the slow, obvious way: one word, one link, one page at a time, as the paper and our reading of it say.

Nothing here is shared with the code that makes bags, beyond the list of stop words and Porter's stemmer.
"""

import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache

import Stemmer

from pagekin.bags import STOP_WORDS, Strategy
from pagekin.hypertext import Attribute, Boundary, Corpus, site_of

PORTER = Stemmer.Stemmer("porter")
PARAGRAPH_BORDERS = {Boundary.PARAGRAPH, Boundary.HEADING, Boundary.LIST_END, Boundary.TABLE_END}
"""A heading begins a paragraph; a list's and a table's end, which have marks of their own, end one."""
VANISHED = 1e-30
UNITS = 2**24
"""Occurrences weigh whole units of 2^-24, at least one if they weigh anything."""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Porter's stem; his rules are about English, so other than plain letters stay."""
    return str(PORTER.stemWord(word)) if word.isascii() else word


STOPPED_STEMS = {stem(word) for word in STOP_WORDS}


@lru_cache(maxsize=1 << 18)
def form(word: str, words: str, stemming: str) -> str:
    """What goes into a bag for a word, '' if nothing does."""
    letters = [char for char in word if unicodedata.category(char)[0] == "L"]
    if words == "letters":
        word = "".join(letters)
    elif words == "mixed" and not letters:
        return ""
    if stemming == "nostem":
        return "" if word in STOP_WORDS else word
    if stem(word) in STOPPED_STEMS:
        return ""
    return stem(word) if stemming == "stem" else word


@dataclass
class Link:
    """An anchor of a page, from the page's view: where it leads, and its words as places in the stream."""

    target: int
    start: int
    end: int


@dataclass
class PlainPage:
    """A page as plain Python values."""

    url: int
    host: str
    words: list[str]
    running: list[bool]
    """Which words are of the running text, alternative texts among them; windows neither hold nor count others."""
    in_title: list[bool]
    borders: list[tuple[int, int]]
    links: list[Link]

    def text(self, link: Link) -> tuple[str, ...]:
        """Return the words of a link, stop words too."""
        return tuple(self.words[link.start : link.end])


def plain_pages(corpus: Corpus) -> list[PlainPage]:
    """All pages of a corpus; of several captures of a URL the newest alone."""
    kin = corpus.kin
    target, start, length = (kin[f"anchor.{name}"].tolist() for name in ("target", "start", "length"))
    pages: list[PlainPage] = []
    for page, url in enumerate(kin["page.url"].tolist()):
        if page not in corpus.pages_of(url)[:1]:
            continue
        stream = corpus.stream(page)
        borders = list(zip(stream.boundary_at.tolist(), stream.boundary_kind.tolist(), strict=True))
        links = [Link(target[a], start[a], start[a] + length[a]) for a in corpus.anchors_out(page)]
        words = [corpus.word(int(word)) for word in stream.words]
        running = (stream.attributes & (Attribute.TEXT | Attribute.ALT) > 0).tolist()
        in_title = (stream.attributes & Attribute.TITLE > 0).tolist()
        host = corpus.url(url).split("/")[2].rpartition("@")[2]
        pages.append(PlainPage(url, host, words, running, in_title, borders, links))
    return pages


def window_ends(page: PlainPage, kind: str) -> set[int]:
    """The places in a page's stream, each before the word there, that no window reaches across."""
    ends: set[int] = set()
    sentence_ended_at = -1
    for at, border in page.borders:
        if border == Boundary.SENTENCE:
            sentence_ended_at = at
        if kind == "syntactic" and (
            border in PARAGRAPH_BORDERS
            or border in (Boundary.CELL, Boundary.ITEM)
            or (border == Boundary.BREAK and sentence_ended_at == at)
        ):
            ends.add(at)
        if kind == "topical" and border in (Boundary.HEADING, Boundary.LIST_END, Boundary.TABLE_END):
            ends.add(at)
    return ends


@dataclass
class Bag:
    """One URL's bag before weighting: units of all occurrences added up, and where they come from."""

    sums: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    origins: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """How often the page itself says a word."""

    def add(self, term: str, weight: float, origin: str) -> None:
        """Count an occurrence, unless it has no weight."""
        if weight > 0:
            self.sums[term] += max(1, round(weight * UNITS))
            self.origins[term].add(origin)
            if origin in ("content", "title"):
                self.counts[term] += 1


@dataclass
class Made:
    """What the oracle says: all by URL, link terms being URLs too (no word has a slash)."""

    weights: dict[str, dict[str, float]]
    origins: dict[str, dict[str, set[str]]]
    counts: dict[str, dict[str, int]]
    df: Counter[str]
    citing_pages: dict[str, int]
    mean_left: float
    mean_right: float


class Oracle:
    """Bag making for one corpus."""

    def __init__(self, corpus: Corpus, not_citing: Collection[str] = ()) -> None:
        self.url = [corpus.url(number) for number in range(len(corpus.urls))]
        self.pages = plain_pages(corpus)
        self.not_citing = set(not_citing)
        self.site = [site_of(url.split("/")[2].rpartition("@")[2]) for url in self.url]

    def make(self, strategy: Strategy) -> Made:
        """All bags by a strategy."""
        self.strategy = strategy
        bags: dict[int, Bag] = defaultdict(Bag)
        cited: dict[int, set[int]] = defaultdict(set)
        texts: set[tuple[int, str, tuple[str, ...]]] = set()
        lefts: list[int] = []
        rights: list[int] = []
        common, repeated, menus = self._common_targets(), self._navigation(), self._menus()
        furniture_of = {
            page.url: [
                link
                for link in page.links
                if (page.host, link.target) in common
                or (page.host, page.text(link)) in repeated
                or (self._folder(page), page.text(link), link.target) in menus
                or (page.host, page.text(link), link.target) in menus
            ]
            for page in self.pages
        }
        listing = self._listing_pages(furniture_of)
        for page in self.pages:
            forms = [form(word, strategy.words, strategy.stemming) for word in page.words]
            furniture = furniture_of[page.url]
            left_out = page.links if page.url in listing else furniture
            for link in furniture:
                forms[link.start : link.end] = [""] * (link.end - link.start)
            kept = [word if running else "" for word, running in zip(forms, page.running, strict=True)]
            titled = [word if in_title else "" for word, in_title in zip(forms, page.in_title, strict=True)]
            self._add_own_words(bags[page.url], kept, titled)
            self._add_own_links(bags[page.url], page, kept, left_out)
            ends = window_ends(page, strategy.window.kind)
            for link in page.links:
                text = tuple(word for word in kept[link.start : link.end] if word)
                left = self._window(kept, range(link.start - 1, -1, -1), ends, to_the_left=True)
                right = self._window(kept, range(link.end, len(kept)), ends, to_the_left=False)
                if link not in left_out:
                    lefts.append(len(left))
                    rights.append(len(right))
                if link.target == page.url or self.url[page.url] in self.not_citing:
                    continue
                is_new = page.url not in cited[link.target]
                cited[link.target].add(page.url)
                if link in left_out:
                    continue
                if self.site[page.url] == self.site[link.target] and not strategy.anchors.within_site:
                    continue
                bag = bags[link.target]
                if is_new:
                    bag.add(self.url[page.url], strategy.links.scale, "links")
                if strategy.anchors.repeat == "once":
                    if (link.target, page.host, text) in texts:
                        continue
                    texts.add((link.target, page.host, text))
                for distance, word in [(0, word) for word in text] + left + right:
                    bag.add(word, strategy.anchors.scale * self._near(distance), "anchors")
        found = {url: bag for url, bag in bags.items() if bag.sums}
        df = Counter(term for bag in found.values() for term in bag.sums)
        return Made(
            {self.url[url]: self._weighed(bag, df, len(found)) for url, bag in found.items()},
            {self.url[url]: dict(bag.origins) for url, bag in found.items()},
            {self.url[url]: dict(bag.counts) for url, bag in found.items()},
            df,
            {self.url[url]: len(cited[url]) for url in found},
            sum(lefts) / max(len(lefts), 1),
            sum(rights) / max(len(rights), 1),
        )

    def _add_own_words(self, bag: Bag, kept: list[str], titled: list[str]) -> None:
        """The content, and the title: once per URL, at distance 0 where there are distances."""
        at_distance_0 = self._near(0) if self.strategy.anchors.scale else 1.0
        for place, word in enumerate(filter(None, kept)):
            bag.add(word, self.strategy.content.scale * self._lead(place), "content")
        for word in filter(None, titled):
            bag.add(word, self.strategy.title.scale * at_distance_0, "title")

    def _common_targets(self) -> set[tuple[str, int]]:
        """(host, page of it) where so many of the host's pages link to the page that these links are furniture."""
        host_of = {page.url: page.host for page in self.pages}
        sizes = Counter(host_of.values())
        linking = {(page.url, link.target) for page in self.pages for link in page.links if link.target != page.url}
        inside = Counter(target for source, target in linking if host_of.get(target) == host_of[source])
        share = self.strategy.content.furniture
        return {
            (host_of[target], target)
            for target, count in inside.items()
            if share < 1 and count >= 4 and count >= share * sizes[host_of[target]]
        }

    def _navigation(self) -> set[tuple[str, tuple[str, ...]]]:
        """(host, words) where so many of the host's pages have a link of these words, most to a target of its own."""
        sizes = Counter(page.host for page in self.pages)
        using: dict[tuple[str, tuple[str, ...]], set[int]] = defaultdict(set)
        targets: dict[tuple[str, tuple[str, ...]], set[int]] = defaultdict(set)
        for page in self.pages:
            for link in page.links:
                if page.text(link):
                    using[page.host, page.text(link)].add(page.url)
                    targets[page.host, page.text(link)].add(link.target)
        share = self.strategy.content.furniture
        return {
            key
            for key, pages in using.items()
            if share < 1 and len(pages) >= max(4, share * sizes[key[0]]) and len(targets[key]) >= max(4, len(pages) / 2)
        }

    def _folder(self, page: PlainPage) -> str:
        return self.url[page.url].partition("?")[0].rpartition("/")[0]

    def _menus(self) -> set[tuple[str, tuple[str, ...], int]]:
        """(host or folder, words, target) of links that most of its pages have; of a folder, those of a menu or a template."""
        share = self.strategy.content.furniture
        everywhere = self._repeated([page.host for page in self.pages]) if share < 1 else set()
        host_of = {self._folder(page): page.host for page in self.pages}
        in_folders = {
            (folder, words, target)
            for folder, words, target in (self._repeated(list(map(self._folder, self.pages))) if share < 1 else set())
            if (host_of[folder], words, target) not in everywhere
        }
        sizes = Counter(map(self._folder, self.pages))
        folder_of = {page.url: self._folder(page) for page in self.pages}
        targets: dict[str, set[int]] = defaultdict(set)
        meant: dict[tuple[str, tuple[str, ...]], set[int]] = defaultdict(set)
        for folder, words, target in in_folders:
            targets[folder].add(target)
            meant[host_of[folder], words].add(target)

        def is_menu(folder: str) -> bool:
            inside = [target for target in targets[folder] if folder_of.get(target) == folder]
            return len(inside) >= max(6, sizes[folder] / 2) or len(targets[folder]) >= 20

        return everywhere | {
            (folder, words, target)
            for folder, words, target in in_folders
            if is_menu(folder) or len(meant[host_of[folder], words]) >= 4
        }

    def _repeated(self, owners: list[str]) -> set[tuple[str, tuple[str, ...], int]]:
        """(owner, words, target) of links that most pages of an owner have, given the owner of each page."""
        having: dict[tuple[str, tuple[str, ...], int], set[int]] = defaultdict(set)
        for page, owner in zip(self.pages, owners, strict=True):
            for link in page.links:
                if page.text(link):
                    having[owner, page.text(link), link.target].add(page.url)
        sizes = Counter(owners)
        share = max(0.6, self.strategy.content.furniture)
        return {key for key, pages in having.items() if len(pages) >= 6 and len(pages) >= share * sizes[key[0]]}

    def _listing_pages(self, furniture_of: dict[int, list[Link]]) -> set[int]:
        """Pages that link to a large share of their host's pages, and alphabetical indexes."""
        host_of = {page.url: page.host for page in self.pages}
        sizes = Counter(host_of.values())
        share = self.strategy.anchors.listing
        found = set()
        for page in self.pages if share < 1 else []:
            links = [link for link in page.links if link not in furniture_of[page.url]]
            linked = len({link.target for link in links if host_of.get(link.target) == page.host})
            entries = [page.words[link.start] for link in links if link.end > link.start]
            in_links = sum(link.end - link.start for link in page.links)
            if linked >= max(32, share * sizes[page.host]):
                found.add(page.url)
            elif linked >= 20 and len(entries) >= 50 and in_links >= 0.7 * len(page.words):
                in_order = sum(entries[i] <= entries[i + 1] for i in range(len(entries) - 1))
                commonest = Counter(word[0] for word in entries).most_common(1)[0][1]
                if in_order >= 0.7 * (len(entries) - 1) and (
                    commonest >= 0.35 * len(entries) or len(entries) >= 3 * linked
                ):
                    found.add(page.url)
        return found

    def _add_own_links(self, bag: Bag, page: PlainPage, kept: list[str], furniture: list[Link]) -> None:
        """The addresses that the page links to, every link for itself; marked, as a citing page may be the same one."""
        if self.url[page.url] in self.not_citing:
            return
        for link in page.links:
            same_site = self.site[page.url] == self.site[link.target]
            if (
                link not in furniture
                and link.target != page.url
                and (self.strategy.anchors.within_site or not same_site)
            ):
                before = sum(1 for word in kept[: link.start] if word)
                bag.add(f">{self.url[link.target]}", self.strategy.outlinks.scale * self._lead(before), "outlinks")

    def _lead(self, before: int) -> float:
        return 1 / (1 + before / self.strategy.content.lead) ** 2 if self.strategy.content.lead else 1.0

    def _window(self, kept: list[str], places: range, ends: set[int], to_the_left: bool) -> list[tuple[int, str]]:
        """(distance, word) of the words at `places`, nearest first, up to the window's end."""
        size = self.strategy.window.size
        if self.strategy.window.kind != "basic":
            size = min(size, 32)
        found: list[tuple[int, str]] = []
        for at in places:
            border = at + 1 if to_the_left else at  # what must be crossed to reach the word
            if border in ends or len(found) == size:
                break
            if kept[at]:
                found.append((len(found) + 1, kept[at]))
        return found

    def _near(self, distance: int) -> float:
        if self.strategy.weight.distance == "none":
            return 1.0
        return max(0.0, math.log2(32 / (1 + distance)))

    def _weighed(self, bag: Bag, df: Counter[str], bags: int) -> dict[str, float]:
        """tf times the weight by df, divided by the sum."""
        weights = {term: self._scaled(tf / UNITS) * self._by_df(df[term], bags) for term, tf in bag.sums.items()}
        total = sum(weights.values())
        if total <= VANISHED:
            return dict.fromkeys(weights, 1 / len(weights))
        return {term: weight / total for term, weight in weights.items()}

    def _scaled(self, tf: float) -> float:
        scaling = self.strategy.weight.tf
        if scaling == "sqrt":
            return math.sqrt(tf)
        return 1 + math.log2(tf) if scaling == "log" and tf > 1 else tf

    def _by_df(self, df: int, bags: int) -> float:
        weight = self.strategy.weight
        if weight.frequency == "log":
            return 1 / (1 + math.log2(df))
        if weight.frequency == "sqrt":
            return 1 / math.sqrt(df)
        if weight.frequency == "nmdf":
            mu = weight.level * math.log(bags)
            if weight.centre is not None:
                mu = math.log(weight.centre * bags)
            if weight.mu is not None:
                mu = weight.mu
            return math.exp(-0.5 * ((math.log(df) - mu) / weight.sigma) ** 2)
        return 1.0
