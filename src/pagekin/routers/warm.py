"""What is opened and compiled before anybody is let in, so that no first question waits for it, nor all others behind it."""

import logging
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from pagekin.labels import Budget, ContentLabel
from pagekin.labels.membership import Filter, term_key
from pagekin.labels.merge import router_label
from pagekin.labels.model import VERSION, SubCluster
from pagekin.labels.model import Terms as LabelTerms
from pagekin.routers.leaf import Leaf
from pagekin.routers.messages import (
    Found,
    Item,
    RefineRequest,
    RelatedRequest,
    RouterError,
    SearchRequest,
    ShowRequest,
    SuggestRequest,
    TogetherRequest,
)
from pagekin.routers.open_leaf import OpenLeaf
from pagekin.routers.refinement import LabelThesaurus
from pagekin.routers.results import merged
from pagekin.routers.router import Router
from pagekin.routers.routing import RoutingTable, asked_words, parsed
from pagekin.text import ANALYSER, QueryError

_log = logging.getLogger("pagekin.routers")
_COMMON = "the"
"""What is asked for where no word is known."""


def warm(services: Iterable[Leaf | Router], progress: Callable[[int], None] = lambda _done: None) -> None:
    """Ask leaves what first questions would, one of them all of it, and bring labels together if there are routers.

    What a leaf opens for any search it opens now; for phrases, related pages and terms only the first does, since that takes
    longer, and what all share is then there.
    """
    every = list(services)
    whole = True
    for done, service in enumerate(every, 1):
        if isinstance(service, Leaf) and not service.error:
            warm_leaf(service, whole)
            whole = False
        progress(done)
    if any(isinstance(service, Router) for service in every):
        _bring_labels_together()


def warm_leaf(leaf: Leaf, wholly: bool = True) -> None:
    """Open what a search needs, and with `wholly` what all other questions need, too; what fails will be told who asks."""
    try:
        _run_through(_asked(leaf.now, wholly))
    except Exception as error:
        _log.info("%s: %r before it listens", leaf.name, error)
        leaf.suspected(error)


def _run_through(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run what waits for nothing, as a collection's answers do, without an event loop."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise RuntimeError("a collection's answer waits for something")


async def _asked(now: OpenLeaf, wholly: bool) -> None:
    """Ask a collection."""
    if not len(now.corpus):
        return
    word = next((word for word in now.label.heaviest if word.isalnum()), _COMMON)
    found = await now.search(SearchRequest(query=word, limit=1))
    url = found.results[0].url if found.results else now.corpus.page_url(0)
    item = Item("document", url)
    await now.show(ShowRequest(query=word, items=(item,)))
    if not wholly:
        return
    for more in _others(now, word, item):
        # There need not be an index of related pages, nor a word that can be asked for.
        with suppress(RouterError, QueryError):
            await more


def _others(now: OpenLeaf, word: str, item: Item) -> Iterable[Coroutine[Any, Any, Any]]:
    """What a search does not open."""
    yield now.search(SearchRequest(query=f'"{word} {word}"', limit=1))
    yield now.refine(RefineRequest(query=word))
    yield now.together(TogetherRequest(query=word))
    yield now.suggest(SuggestRequest(items=(item,)))
    yield now.related(RelatedRequest(url=item.url, limit=1))
    yield _by_bag(now, item.url)


async def _by_bag(now: OpenLeaf, url: str) -> None:
    """Compare a page that came from elsewhere."""
    bag = await now.bag(RelatedRequest(url=url))
    await now.related(RelatedRequest(bag=bag, limit=1))


def _bring_labels_together() -> None:
    """Do once what routers do with labels, with two that are made up."""
    labels = {name: _label(name) for name in ("one", "other")}
    router_label("both", labels, Budget(clusters=1))
    table = RoutingTable(labels)
    query = parsed("one")
    table.judge(query, ask=1)
    table.stats(query)
    table.words_held(["one"])
    LabelThesaurus(labels).suggest(asked_words(query), 1)
    merged([Found(kind="document", url=f"http://{name}.example/") for name in labels], 1)


def _label(name: str) -> ContentLabel:
    """A label of two documents about a word each."""
    words = tuple(sorted((name, "page")))
    both = Filter.of(np.array([term_key(word) for word in words], np.uint64))
    clusters = tuple(
        SubCluster(
            number, word, 1, 1, 1, urls=(f"http://{name}.example/{number}",), heaviest=(word,),
            terms=LabelTerms((number * 6,), (1,), (1,)), filters=(both,),
        )
        for number, word in enumerate(words, 1)
    )  # fmt: skip
    return ContentLabel(
        VERSION, ANALYSER, name, 2, 2, 2, True, heaviest=words, words=words, terms=LabelTerms((6, 6), (1, 1), (1, 1)),
        filters=(both,), clusters=clusters, num_words=2,
    )  # fmt: skip
