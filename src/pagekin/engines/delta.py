"""Make deltas: a shard with what an update touches, beside a base that stays unchanged.

A delta has all new and changed pages since its base was made, and the old ones whose incoming links changed, with all that is
known of them: so it is made from the parts of all updates since, and takes the place of the delta before. Pages and documents of
the base that it replaces, or that are gone, are hidden.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import (
    NOWHERE,
    Bags,
    BagWorkshop,
    BaseReader,
    Visits,
    Vocabulary,
    learn_vocabulary,
    make_delta_bags,
    strategy_of_index,
    touched_targets,
)
from pagekin.clusters import (
    DOCUMENTS_TREE,
    PageTopics,
    Tree,
    join_clusters,
    match_some,
    put_trees,
    read_trees,
    topics_over_delta,
)
from pagekin.errors import PagekinError
from pagekin.hypertext import (
    Corpus,
    OptOuts,
    PartsForDelta,
    divide_unchanged,
    host_of,
    join_corpora,
    leave_out,
    merge_parts,
    named_in_parts,
    open_delta,
    pick_records,
    put_hidden,
    recorded_names,
    site_of,
    vanished_names,
)
from pagekin.labels import PagesOf, put_label_over_delta
from pagekin.similarity import make_index
from pagekin.store import (
    DELTA,
    Array,
    Finding,
    Kin,
    KinError,
    KinWriter,
    RaggedBytes,
    is_among,
    join_strings,
    open_kin,
)
from pagekin.text import VisitingTexts, learn_forms, make_text, read_visiting_texts


class NotInDeltaError(PagekinError):
    """An update that cannot become a delta; the message says why the collection is rebuilt."""


@dataclass(frozen=True)
class DeltaReport:
    """The changes in a delta since its base was made."""

    pages: int
    """Its pages."""
    hidden: int
    """Pages of the base that it replaces, or that are gone."""
    added: int
    changed: int
    removed: int
    erasable: bool = False
    """Whether bytes of what is left out for good are still in the base, or in parts."""


def without_delta(kin: Kin) -> Kin:
    """Return a collection's base, as if it had no delta."""
    facts = {name: value for name, value in kin.facts.items() if name != DELTA}
    return replace(kin, manifest={**kin.manifest, "facts": facts})


@dataclass(frozen=True)
class _TouchedAddresses:
    """The addresses of a base that an update touches, by number."""

    moved: npt.NDArray[np.int64]
    """Addresses whose documents are made anew in the delta."""
    removed: npt.NDArray[np.int64]
    """Addresses that are left out for good."""
    names: list[bytes]
    """All addresses of moved documents, their other names with them, and new ones."""
    losing: npt.NDArray[np.int64]
    """Addresses to which pages have links that change or go."""
    decided: set[bytes]
    """Those of the names, with their other names, of which a record says something new: what they are is chosen anew."""


class DeltaMaker:
    """Makes the delta of a base from the base's parts and those read since."""

    def __init__(self, base: Kin, parts: PartsForDelta, opt_outs: OptOuts, work: Path) -> None:
        self.base, self.old, self.new, self.opt_outs, self.work = base, parts.old, parts.new, opt_outs, work
        self.corpus, self.bags = Corpus(base), Bags(base)
        self._vanished, lost = set[bytes](), set[bytes]()
        if parts.replaced:
            same, self.new = divide_unchanged(parts.new, self.corpus, work / "divided")
            self.old = [*parts.old, *same]
            self._vanished, lost = vanished_names(self.old, self.corpus)
        self._lost = lost - recorded_names(self.new).changed if lost else lost
        self.strategy = strategy_of_index(base.facts["index"])
        self.reader = BaseReader(self.corpus, self.strategy)

    @property
    def has_changes(self) -> bool:
        """Return whether a delta would differ from its base at all."""
        marked = bool(self.opt_outs) and bool(self.opt_outs.mark(self.corpus.urls).any())
        return bool(self.new or self._vanished or self._lost or marked)

    def make(self, writer: KinWriter, most: int, threads: int = 1) -> tuple[dict[str, Any], DeltaReport]:
        """Write a delta of at most this many pages with its own writer; return its facts or raise NotInDeltaError."""
        with ExitStack() as self._scratch:
            return self._make(writer, most, threads)

    def _make(self, writer: KinWriter, most: int, threads: int) -> tuple[dict[str, Any], DeltaReport]:
        new = self._read_new()
        touched = self._find_touched(new)
        copied = self._pages_to_copy(touched)
        narrow = self._merge(touched, new, len(copied), most)
        self._compare_aliases(narrow)
        self._compare_sites(touched.names)
        hidden = np.union1d(touched.moved, touched.removed)
        stays = np.ones(len(self.corpus), np.bool_)
        stays[self._pages_at(hidden)] = False
        citing = self.reader.find_citing(touched.moved)
        citing = citing[stays[citing]]
        is_target = np.zeros(len(self.corpus.urls), np.bool_)
        is_target[touched.moved] = True
        visits = self.reader.visits(citing, is_target, touched.losing)
        called = self._read_texts(narrow, copied, touched.moved, citing) if "text" in self.base.facts else None
        facts = self._join(narrow, copied, visits, called, writer)
        corpus = Corpus(writer.view(facts))
        self._learn_words(corpus, called is not None)
        mine = np.zeros(len(corpus.urls), np.bool_)
        places = corpus.urls.find_all(touched.names)
        mine[places[places >= 0]] = True
        if not bool(mine[np.asarray(corpus.pages.url)].all()):
            raise NotInDeltaError("pages are there again that were not")
        facts["shard"] = {
            "number": 1, "of": 2, "first_page": len(self.corpus), "first_document": self.base.facts["index"]["bags"],
        }  # fmt: skip
        index = make_delta_bags(corpus, self.base, self.strategy, visits, mine, hidden, writer, threads)
        index |= make_index(writer.view(facts | {"index": index}), self.strategy, writer, threads=threads)
        facts |= {"index": index, "seeds": self.base.facts["seeds"]}
        put_hidden(writer, np.flatnonzero(~stays), touched.removed)
        if called is not None:
            facts |= make_text(writer, corpus, threads=threads, link_texts=called)
        facts |= self._put_trees(corpus, writer, threads, stays, called.words if called else ())
        return facts, self._report(corpus, np.flatnonzero(~stays), bool(len(touched.removed)) or self.parts != self.new)

    # -- what is touched ------------------------------------------------------------------------------------------------

    def _read_new(self) -> Corpus | None:
        """Return the corpus of only the new parts, for the links of new pages."""
        self.parts = leave_out(self.new, self.opt_outs, self._folder("left")) if self.opt_outs else self.new
        if not self.parts:
            return None
        return self._merge_parts(self.parts, "new")

    def _folder(self, name: str) -> Path:
        folder = self.work / name
        folder.mkdir()
        return folder

    @cached_property
    def _trees(self) -> list[Tree]:
        """Return the base's hierarchies."""
        return read_trees(self.base)

    def _home(self, address: bytes) -> int:
        """Return the number of an address in the base, aliases resolved; -1 if it is unknown."""
        number = self.corpus.urls.find(address)
        return self.corpus.home(number) if number >= 0 else -1

    def _pages_at(self, urls: Array) -> npt.NDArray[np.int64]:
        """Return the base's pages at some addresses."""
        page_url = np.asarray(self.corpus.pages.url)
        place = np.minimum(np.searchsorted(page_url, urls), len(page_url) - 1)
        return np.asarray(place[page_url[place] == urls]) if len(urls) else np.zeros(0, np.int64)

    def _find_touched(self, new: Corpus | None) -> _TouchedAddresses:
        """Return what new, changed and removed pages touch."""
        if self._lost:
            raise NotInDeltaError(
                f"{min(self._lost).decode('utf-8', 'replace')} does not stand for another address any more"
            )
        recorded = recorded_names(self.parts)
        self._recorded = recorded.changed | recorded.seen_again | self._vanished
        self._leading = {name for name, _target in recorded.leads}
        for name, target in recorded.leads:
            if (number := self._home(name)) >= 0 and number != self._home(target):
                raise NotInDeltaError(f"{name.decode('utf-8', 'replace')} leads to another address")
        named = set(recorded.changed) | self._vanished | recorded.claimed | {target for _name, target in recorded.leads}
        named |= {name for name in recorded.seen_again if not self.corpus.pages_of(self._home(name))}
        linked = set[bytes]()
        if new is not None:
            named |= set(new.urls.select(np.asarray(new.pages.url)))
            linked = set(new.urls.select(touched_targets(new, self.base)))
        removed = np.flatnonzero(self.opt_outs.mark(self.corpus.urls)) if self.opt_outs else np.zeros(0, np.int64)
        homes = self._homes_of(named)
        # Old links of pages that change or go lead to documents that change with them; so do those of pages that lose links
        # to what is removed, since its words stand in the windows of others.
        changing = self._pages_at(np.union1d(homes, removed))
        changing = np.union1d(changing, self.reader.find_citing(removed))
        losing = self.reader.targets(changing)
        moved = {*losing.tolist(), *homes.tolist(), *self._homes_of(linked).tolist()}
        # Links to what is removed vanish, and addresses that had no bag may have one now: their citing pages change, too.
        touched = np.array(sorted(moved), np.int64)
        citing = self.reader.find_citing(np.union1d(removed, touched[self.bags.documents(touched) < 0]))
        moved |= set(np.asarray(self.corpus.pages.url)[citing].tolist())
        moved = self._with_documents(moved) - set(removed.tolist())
        numbers = np.array(sorted(moved), np.int64)
        gone = set(self.corpus.urls.select(removed))
        decided = (named | self._names_of(set(homes.tolist()))) - gone
        names = sorted((self._names_of(moved) | named | linked) - gone)
        return _TouchedAddresses(numbers, removed, names, losing, decided)

    def _names_of(self, moved: set[int]) -> set[bytes]:
        """Return addresses of the base with their aliases."""
        numbers = np.array(sorted(moved), np.int64)
        names, homes = (np.asarray(one) for one in self.corpus.aliases())
        others = names[np.isin(homes, numbers)]
        return set(self.corpus.urls.select(np.append(numbers, others)))

    def _homes(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the base's canonical addresses of some of its addresses."""
        names, targets = (np.asarray(one).astype(np.int64) for one in self.corpus.aliases())
        if not len(names):
            return numbers
        place = np.minimum(np.searchsorted(names, numbers), len(names) - 1)
        return np.where(names[place] == numbers, targets[place], numbers)

    def _homes_of(self, names: Collection[bytes]) -> npt.NDArray[np.int64]:
        """Return the sorted canonical addresses of some names in the base, without those that it does not know."""
        known = self.corpus.urls.find_all(sorted(names))
        return np.unique(self._homes(known[known >= 0]))

    def _with_documents(self, moved: set[int]) -> set[int]:
        """Return addresses with all other pages of their composite documents."""
        tree = next((tree for tree in self._trees if tree.name == DOCUMENTS_TREE), None)
        if tree is None:
            return moved
        of_page = np.repeat(np.arange(len(tree)), np.diff(tree.offsets))
        urls = np.asarray(self.corpus.pages.url)[tree.pages].astype(np.int64)
        is_moved = np.zeros(len(tree), np.bool_)
        is_moved[of_page[is_among(urls, np.array(sorted(moved), np.int64))]] = True
        return moved | set(urls[is_moved[of_page]].tolist())

    # -- its corpus -----------------------------------------------------------------------------------------------------

    def _pages_to_copy(self, touched: _TouchedAddresses) -> npt.NDArray[np.int64]:
        """Return the touched pages of the base of which nothing new was read: they are copied as they are.

        Where pages are removed, those that link to them lose these links, and are taken from parts like all others.
        """
        if len(touched.removed):
            return np.zeros(0, np.int64)
        decided = self.corpus.urls.find_all(sorted(touched.decided))
        return self._pages_at(np.setdiff1d(touched.moved, decided))

    def _merge(self, touched: _TouchedAddresses, new: Corpus | None, copied: int, most: int) -> Corpus:
        """Return the corpus of new pages, and of old ones that are not copied."""
        names = touched.names if len(touched.removed) else sorted(touched.decided)
        known = self.corpus.urls.find_all(names)
        pages = self._pages_at(np.unique(known[known >= 0]))
        if len(pages) + copied > most:
            raise NotInDeltaError(f"it touches {len(pages) + copied:,} pages, and {most:,} are the most for a delta")
        page_url = np.asarray(self.corpus.pages.url)
        # A page without other names that claims to be another one was not believed.
        urls = page_url[pages]
        plain = list(self.corpus.urls.select(urls[~np.isin(urls, self.corpus.aliases()[1])]))
        picked = pick_records(self.old, names, plain, self.work / "picked")
        if self.opt_outs:
            picked = leave_out(picked, self.opt_outs, self._folder("picked-left"))
        narrow = new if new is not None and not picked else self._merge_parts([*picked, *self.parts], "narrow")
        if len(narrow) + copied > most:
            raise NotInDeltaError(f"it has {len(narrow) + copied:,} pages, and {most:,} are the most for a delta")
        return narrow

    def _merge_parts(self, parts: list[Path], name: str) -> Corpus:
        """Return the corpus of some parts, in a folder of this name; nothing is committed, as nobody opens it later."""
        writer = self._scratch.enter_context(KinWriter(self.work / f"{name}.kin", "pagekin update"))
        return Corpus(writer.view(merge_parts(parts, writer, False, lambda _share: None)))

    def _compare_aliases(self, corpus: Corpus) -> None:
        """Refuse a delta in which an address has another canonical address than in the base."""
        names, homes = (np.asarray(urls).tolist() for urls in corpus.aliases())
        fresh = []
        for name, home in zip(names, homes, strict=True):
            number = self.corpus.urls.find(corpus.urls[name])
            if number < 0:
                # That a page names a canonical one may be a mistake of many, which the base knows.
                fresh += [corpus.urls[one] for one in ((name,) if corpus.urls[name] in self._leading else (name, home))]
            elif self.corpus.urls[self.corpus.home(number)] != corpus.urls[home]:
                raise NotInDeltaError(f"{corpus.url(name)} stands for another address than before")
        if known := named_in_parts(self.old, fresh):
            raise NotInDeltaError(f"{min(known).decode('utf-8', 'replace')} has another name now")
        # Of the base's aliases only those count of which, or of whose pages, something is new.
        old_names, old_homes = (np.asarray(urls) for urls in self.corpus.aliases())
        fresh_urls = self.corpus.urls.find_all(sorted(self._recorded))
        for place in np.flatnonzero(np.isin(old_names, fresh_urls) | np.isin(old_homes, fresh_urls)).tolist():
            number = corpus.urls.find(self.corpus.urls[int(old_names[place])])
            if number < 0 or corpus.home(number) == number:
                raise NotInDeltaError(
                    f"{self.corpus.url(int(old_names[place]))} does not stand for another address any more"
                )

    def _compare_sites(self, names: Sequence[bytes]) -> None:
        """Refuse new sites if the base has a single site and therefore distinguishes hosts, or nothing."""
        rule = self.base.facts["index"]["site_rule"]
        if rule == "domain":
            return
        own = host_of(self.corpus.url(int(self.bags.urls[0])))
        for name in names:
            host = host_of(name.decode("utf-8", "replace"))
            if host != own and (rule == "none" or site_of(host) != site_of(own)):
                raise NotInDeltaError(f"{host} is the first host of another site")

    def _read_texts(
        self, narrow: Corpus, copied: Array, moved: Array, citing: npt.NDArray[np.int64]
    ) -> VisitingTexts:  # fmt: skip
        """Return what links on pages of the base that stay call pages of the delta."""
        own = self.corpus.urls.find_all(narrow.urls.select(np.asarray(narrow.pages.url)))
        urls = np.union1d(own, np.asarray(self.corpus.pages.url)[copied])
        return read_visiting_texts(self.corpus, np.intersect1d(moved, urls), citing)

    def _join(
        self, narrow: Corpus, copied: npt.NDArray[np.int64], visits: Visits, called: VisitingTexts | None, writer: KinWriter
    ) -> dict[str, Any]:  # fmt: skip
        """Write the corpus with all names that links of the base use; return the facts about it."""
        words = self.reader.terms_of(visits.hashes)
        if called:
            by_name = np.asarray(self.corpus.term_table.order)
            words = np.append(words, self.corpus.terms.find_all(called.words, by_name))
        addresses = [RaggedBytes(visits.targets, visits.target_offsets)]
        if self.strategy.links.scale:
            addresses.append(RaggedBytes(visits.citing, visits.citing_offsets))
        more = RaggedBytes(*join_strings(addresses))
        facts = join_corpora(narrow, self.corpus, copied, self._recorded, more, words, writer)
        shared = ("parser", "limits", "exclude", "content", "sources", "pagekin")
        return facts | {name: self.base.facts[name] for name in shared if name in self.base.facts}

    def _learn_words(self, corpus: Corpus, forms: bool) -> Vocabulary:
        """Return the bag words of a corpus, most of which the base knows; with `forms`, let it know those of searches, too."""
        places = self.corpus.terms.find_all(
            corpus.terms, np.asarray(self.corpus.term_table.order), np.asarray(corpus.term_table.order)
        )
        if forms:
            learn_forms(corpus, self.base, places)
        return learn_vocabulary(corpus, self.strategy, self.reader.words, places)

    # -- clusters -------------------------------------------------------------------------------------------------------

    def _put_trees(
        self, corpus: Corpus, writer: KinWriter, threads: int, stays: npt.NDArray[np.bool_], called: Sequence[bytes]
    ) -> dict[str, Any]:  # fmt: skip
        """Write the trees with the delta's pages, new ones in their nearest cluster, and the label of the whole."""
        trees = self._trees
        if not trees:
            return {}
        workshop = BagWorkshop(corpus, self._folder("workshop"), threads)
        joined: list[Tree] = join_clusters(corpus, self.corpus, trees, workshop, threads)
        came, went = self._find_changes(corpus, np.flatnonzero(~stays))
        self._find_topics(corpus, came, joined[0].facts["method"] == "default", workshop, threads).put(writer)
        facts = put_trees(writer, joined)
        return facts | put_label_over_delta(
            writer, PagesOf(self.corpus, trees, went, stays),
            PagesOf(corpus, joined, came, np.ones(len(corpus), np.bool_)), called, threads,
        )  # fmt: skip

    def _find_topics(
        self, corpus: Corpus, came: Array, phrases: bool, workshop: BagWorkshop, threads: int
    ) -> PageTopics:  # fmt: skip
        """Return what the delta's pages are about; what the base says of pages that did not change is copied."""
        known = PageTopics.read(self.base)
        if known is None or phrases != (known.offered is not None):
            return PageTopics.of(corpus, threads, phrases, workshop)
        page_before = match_some(self.corpus, corpus)
        page_before[came] = -1
        return topics_over_delta(corpus, known, page_before, workshop, threads)

    def _find_changes(self, corpus: Corpus, hidden: npt.NDArray[np.int64]) -> tuple[Array, Array]:
        """Return (new or changed pages of the delta, removed or changed pages of the base)."""
        own = list(
            zip(_page_names(corpus, np.arange(len(corpus))), np.asarray(corpus.pages.digest).tolist(), strict=True)
        )
        digests = np.asarray(self.corpus.pages.digest)[hidden].tolist()
        old = list(zip(_page_names(self.corpus, hidden), digests, strict=True))
        known, still = set(old), set(own)
        came = [page for page, one in enumerate(own) if one not in known]
        went = [page for page, one in zip(hidden.tolist(), old, strict=True) if one not in still]
        return np.array(came, np.int64), np.array(went, np.int64)

    def _report(self, corpus: Corpus, hidden: npt.NDArray[np.int64], erasable: bool) -> DeltaReport:
        """Count the new, changed and removed pages."""
        every = np.arange(len(corpus))
        pages, before = (
            dict(zip(_page_names(of, some), np.asarray(of.pages.digest)[some].tolist(), strict=True))
            for of, some in ((corpus, every), (self.corpus, hidden))
        )
        changed = sum(pages[name] != digest for name, digest in before.items() if name in pages)
        came, went = len(pages.keys() - before.keys()), len(before.keys() - pages.keys())
        return DeltaReport(len(pages), len(hidden), came, changed, went, erasable)


def _page_names(corpus: Corpus, pages: Array) -> list[bytes]:
    """Return the addresses of some pages."""
    return list(corpus.urls.select(np.asarray(corpus.pages.url)[pages]))


def check_delta(kin: Kin) -> Iterator[Finding]:
    """Yield where a delta does not fit its collection; the delta itself is checked separately."""
    try:
        delta = open_delta(kin)
    except KinError as error:
        yield Finding(str(kin.facts[DELTA]["folder"]), f"cannot be used: {error}")
        return
    if delta is None:
        return
    if delta.facts["index"]["epoch"]["identity"] != kin.facts["index"]["epoch"]["identity"]:
        yield Finding(delta.path.name, "has bags of another epoch")
    bags = kin.facts["index"]["bags"]
    for name, most in (
        ("hidden.page", kin.facts["pages"]), ("hidden.address", kin.facts["urls"]), ("replaced.document", bags),
        ("replaced.citing", bags), ("replaced.cited", bags),
    ):  # fmt: skip
        numbers = np.asarray(delta[name]).astype(np.int64)
        if bool(np.any(np.diff(numbers) <= 0)) or int(numbers.max(initial=-1)) >= most:
            yield Finding(f"{delta.path.name}/{name}", "names what its base does not have")
    by = np.asarray(delta["replaced.by"]).astype(np.int64)
    if bool(np.any((by != NOWHERE) & ((by < bags) | (by >= bags + delta.facts["index"]["bags"])))):
        yield Finding(f"{delta.path.name}/replaced.by", "names documents that the delta does not have")


def commit_delta(
    writer: KinWriter, base: Kin, make: Callable[[KinWriter], tuple[dict[str, Any], DeltaReport]]
) -> DeltaReport:
    """Make a delta and commit it beside its base, whose files stay, with the collection's writer."""
    folder = writer.work / "delta"
    with KinWriter(folder, "pagekin update", writer.memory) as own:
        facts, report = make(own)
        own.commit(facts)
    delta_kin = open_kin(folder)
    name = f"delta-{delta_kin.manifest['checksum'][:12]}.kin"
    writer.adopt(folder, name)
    delta = {"folder": name, "checksum": delta_kin.manifest["checksum"], **asdict(report)}
    writer.commit({**without_delta(base).facts, DELTA: delta}, base.manifest["files"])
    return report
