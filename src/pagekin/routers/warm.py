"""Opens and compiles what first questions need before the server listens, so that no client waits for it."""

import logging
from collections.abc import Iterable
from contextlib import suppress

from pagekin.collection import (
    Collection,
    CooccurrencesRequest,
    Hit,
    Item,
    LabelThesaurus,
    RefineRequest,
    RelatedOptions,
    RelatedRequest,
    SearchRequest,
    Service,
    ServiceError,
    ShowRequest,
    SuggestRequest,
    Whole,
    fold_hits,
    parse_query,
    query_words,
)
from pagekin.labels import LABEL_VERSION, ContentLabel, LabelBudget, router_label
from pagekin.routers.routing import RoutingTable
from pagekin.text import ANALYSER, QueryError

_log = logging.getLogger("pagekin.routers")
_COMMON, _OTHER = "the", "page"
"""The query used if no word is known."""


def warm(services: Iterable[Service]) -> None:
    """Ask leaves what first questions would ask, and merge labels if there are routers, so that no visitor waits.

    Each leaf opens now what any search needs. Only the first opens what phrases, related pages and terms need: that
    takes longer, and what all leaves share of it is then there.
    """
    every = list(services)
    whole = True
    for service in every:
        whole = not warm_leaf(service, whole) and whole
    if not all(service.leaf for service in every):
        _merge_empty_labels()


def warm_leaf(leaf: Service, wholly: bool = True) -> bool:
    """Open what a search needs, and with `wholly` what all other questions need, too; return whether that was possible.

    What cannot be opened is reported to those who ask later.
    """
    try:
        if leaf.whole is not None:
            for number, part in enumerate(leaf.whole.parts):
                _ask(part, wholly and not number)
            if wholly and len(leaf.whole.parts) > 1:
                _ask_whole(leaf.whole)
            return True
    except ServiceError:  # it cannot be opened, and says so to those who ask
        return False
    except Exception as error:
        _log.info("%s: %r before it listens", leaf.name, error)
        leaf.explain_fault(error)
    return False


def _ask(collection: Collection, wholly: bool) -> None:
    """Ask a collection what first questions would ask."""
    if not len(collection.corpus):
        return
    words = collection.label.heaviest if collection.has_label else ()
    word = next((word for word in words if word.isalnum()), _COMMON)
    answer = collection.search(SearchRequest(query=word, limit=1))
    url = answer.results[0].url if answer.results else collection.corpus.page_url(0)
    item = Item("document", url)
    collection.show(ShowRequest(query=word, items=(item,)))
    if not wholly:
        return
    one = RelatedOptions(k=1)
    for question in (
        lambda: collection.search(SearchRequest(query=f'"{word} {word}"', limit=1)),
        lambda: collection.search(SearchRequest(query=f"title:{word} OR {word}", limit=1)),
        lambda: collection.search(SearchRequest(query=f"{word} {_OTHER}", limit=1, match="some")),
        lambda: collection.refine(RefineRequest(query=word)),
        lambda: collection.cooccurrences(CooccurrencesRequest(query=word)),
        lambda: collection.suggest(SuggestRequest(items=(item,))),
        lambda: collection.related(RelatedRequest(url=url, options=one)),
        lambda: collection.related(RelatedRequest(bag=collection.bag(RelatedRequest(url=url)), options=one)),
    ):
        # There need not be an index of related pages, nor a word that can be asked for.
        with suppress(ServiceError, QueryError):
            question()


def _ask_whole(whole: Whole) -> None:
    """Ask shards together what first questions would ask."""
    if len(whole.pages):
        with suppress(ServiceError):
            whole.related(RelatedRequest(url=whole.page_url(0), options=RelatedOptions(k=1)))


def _merge_empty_labels() -> None:
    """Merge two empty labels once, so that the code that merges labels is compiled."""
    labels = {name: ContentLabel(LABEL_VERSION, ANALYSER, name, 0, 0, 0, True) for name in ("one", "other")}
    router_label("both", labels, LabelBudget(clusters=1))
    table = RoutingTable(labels)
    query = parse_query("one")
    table.judge(query, ask=1)
    table.stats(query)
    table.words_held(["one"])
    LabelThesaurus(labels).suggest(query_words(query), 1)
    fold_hits([Hit(kind="document", url=f"http://{name}.example/") for name in labels], 1)
