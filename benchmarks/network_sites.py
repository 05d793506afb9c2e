"""The sites of a network opened in this process: the truth that a network's answers are held against, and queries."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pagekin.bags import bag_forms, preset_strategy
from pagekin.clusters import TERM_PRESET, document_of, read_trees
from pagekin.collection import Answer, Collection, parse_query, query_words
from pagekin.routers import Network
from pagekin.store import KinError
from pagekin.text import QueryError

Document = tuple[str, int]
"""The site, and the document's number there."""
_TRIES = 10_000


@dataclass(frozen=True)
class Drawn:
    """A query whose words all stand on one page."""

    text: str
    site: str
    url: str


class Sites:
    """All sites of a network."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.leaves: dict[str, Collection] = {}
        self.left_out: list[str] = []
        for node in network.nodes:
            path = network.collection_of(node)
            if node.leaf and path is not None:
                try:
                    self.leaves[node.name] = Collection(node.name, path)
                except KinError:
                    self.left_out.append(node.name)
        self.pages = sum(len(leaf.corpus) for leaf in self.leaves.values())
        self.documents = sum(leaf.label.num_docs for leaf in self.leaves.values())
        self._document_of = {}
        for name, leaf in self.leaves.items():
            trees = {tree.name: tree for tree in read_trees(leaf.corpus.kin)}
            self._document_of[name] = document_of(trees.get("documents"), len(leaf.corpus))

    @cached_property
    def by_url(self) -> dict[str, Document]:
        """The document of each page."""
        return {
            leaf.corpus.page_url(page): (name, int(self._document_of[name][page]))
            for name, leaf in self.leaves.items()
            for page in range(len(leaf.corpus))
        }

    def matching(self, text: str) -> dict[str, set[Document]]:
        """The documents of each site that match, of those sites where some do: every site is asked."""
        query = parse_query(text)
        found = {}
        for name, leaf in self.leaves.items():
            documents = self._document_of[name]
            if pages := leaf.text.search(query, len(leaf.text), documents=documents).pages:
                found[name] = {(name, int(documents[page])) for page in pages}
        return found

    def named(self, answer: Answer) -> set[Document]:
        """The documents that an answer names, as results or as copies of results; an unknown address has the site ''."""
        urls = (url for one in answer.results for url in (one.url, *one.copies))
        return {self.by_url.get(url, ("", hash(url))) for url in urls}

    def rarest(self, text: str) -> int:
        """On how many pages of all sites the rarest word of a query stands."""
        counts: dict[str, int] = {}
        for leaf in self.leaves.values():
            for form, df in leaf.text.stats_of(parse_query(text)).df.items():
                counts[form] = counts.get(form, 0) + df
        return min(counts.values())

    # -- queries --------------------------------------------------------------------------------------------------------

    def draw(
        self, rng: np.random.Generator, stop_words: bool, sites: Sequence[str] | None = None,
        fits: Callable[[str], bool] = lambda _text: True,
    ) -> Drawn:  # fmt: skip
        """A query of two or three different words, drawn by occurrence from a page drawn evenly."""
        names = list(self.leaves) if sites is None else [name for name in sites if name in self.leaves]
        ends = np.cumsum([len(self.leaves[name].corpus) for name in names])
        for _try in range(_TRIES):
            at = int(rng.integers(ends[-1]))
            name = names[int(np.searchsorted(ends, at, side="right"))]
            corpus = self.leaves[name].corpus
            page = int(rng.integers(len(corpus)))
            words = [corpus.word(int(term)) for term in _some(rng, corpus.words(page), 12)]
            if not stop_words:
                words = [
                    word
                    for word, form in zip(words, bag_forms(words, preset_strategy(TERM_PRESET)), strict=True)
                    if form
                ]
            chosen = list(dict.fromkeys(words))[: int(rng.integers(2, 4))]
            text = " ".join(chosen)
            if len(chosen) > 1 and _is_plain(text, chosen) and fits(text):
                return Drawn(text, name, corpus.page_url(page))
        raise SystemExit("the pages hold too few words to draw queries from")

    def draws(self, seed: int, count: int, stop_words: bool, **more: Any) -> list[Drawn]:
        """Some queries."""
        rng = np.random.default_rng(seed)
        return [self.draw(rng, stop_words, **more) for _ in range(count)]


def _some(rng: np.random.Generator, words: npt.NDArray[Any], count: int) -> Iterable[int]:
    return [int(word) for word in rng.choice(words, min(count, len(words)), replace=False)] if len(words) else []


def _is_plain(text: str, words: Sequence[str]) -> bool:
    """Whether the query asks for just these words."""
    try:
        return query_words(parse_query(text)) == [(None, word) for word in words]
    except QueryError:
        return False
