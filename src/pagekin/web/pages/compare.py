"""Compare several pages: what they share, how similar they are, and which pages are similar to all of them."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from litestar import Response
from litestar.params import Parameter
from msgspec import Struct

from pagekin.collection import (
    Answer,
    RelatedOptions,
    RelatedRequest,
    SearchRequest,
    Service,
    ServiceError,
    compare_pages,
)
from pagekin.routers import HttpRequest, ServedService, service_of
from pagekin.text import QueryError
from pagekin.web import addresses
from pagekin.web.collection_view import CollectionView, PageLink, in_collection
from pagekin.web.pages.page import UnknownView, check_url, resolve_address
from pagekin.web.pages.why import Similar, Term, link_by_address, similar_pages, terms_of, write_words
from pagekin.web.related_options import DEFAULTS, OPTIONS, Options, ask_related
from pagekin.web.rendering import redirect, render, view_route

MOST = 20
"""Pages that can be compared at once."""
TERMS = 12
_LONGEST_ADDED = 2_000
_WORDS = 24
"""Words of a title that are looked for."""
_WORD = re.compile(r"\w+")
_TITLES = 100
"""Pages among whose titles the one that is meant is looked for."""


class CompareView(Struct, frozen=True, kw_only=True):
    """A comparison of several pages."""

    pages: list[PageLink]
    most: int = MOST
    shared: list[Term] = []
    """What all of them hold, by its least weight in them; of a collection alone."""
    similarities: list[list[float]] = []
    """Of each page to each, exact; 1 on the diagonal. Of a collection alone."""
    similar: list[Similar] = []
    """Pages like all of them together."""
    note: str = ""
    """What could not be done, or why there are few or no similar pages."""
    partial: list[str] = []
    """In a network: why something may be missing."""
    options: RelatedOptions = DEFAULTS
    """How similar pages were chosen."""


Urls = Annotated[list[str] | None, Parameter(description="Addresses of pages, at most 20.")]
Add = Annotated[str, Parameter(description="A page to add, by its address or by words of its title.")]
Out = Annotated[str, Parameter(description="The address of a page to remove.")]


@view_route(
    ["/compare", "/compare.json"],
    CompareView,
    "What several pages share, and pages like all of them.",
    dependencies=OPTIONS,
)
async def compare(
    request: HttpRequest, options: Options, url: Urls = None, add: Add = "", out: Out = ""
) -> Response[Any]:
    """Return what several pages share, how similar they are, and pages that are similar to all of them."""
    here = service_of(request.scope)
    urls: list[str] = []
    for one in url or []:
        if one.strip():
            known = await _resolve(here.service, check_url(one))
            if isinstance(known, UnknownView):
                return render(request, "unknown.html", known, 404)
            urls.append(known)
    urls = list(dict.fromkeys(urls))
    if len(urls) > MOST:
        raise ServiceError(f"{len(urls)} pages are too many to compare; the limit is {MOST}.")
    note = ""
    if out.strip():
        gone = await _resolve(here.service, out.strip())
        return redirect(request, addresses.compare(one for one in urls if one != gone))
    if add.strip():
        added, note = await _find_page(here.service, add.strip()[:_LONGEST_ADDED], urls)
        if added:
            return redirect(request, addresses.compare([*urls, added]))
    return render(request, "compare.html", await view_comparison(here, urls, options, note))


async def _resolve(service: Service, url: str) -> str | UnknownView:
    """Return the whole address of a leaf's page; a router takes addresses unchanged."""
    if not service.leaf:
        return url
    return await in_collection(service, resolve_address, url)


async def _find_page(service: Service, add: str, urls: Sequence[str]) -> tuple[str, str]:
    """Return (the page that an address or words mean, why there is none)."""
    if len(urls) >= MOST:
        return "", f"{MOST} pages is the limit: remove one first."
    known = await _resolve(service, add) if service.leaf or "://" in add else ""
    if known in urls:
        return "", "That page is already in the list."
    if known and not isinstance(known, UnknownView):
        return known, ""
    words = _words(add)[:_WORDS]
    if "://" in add or not words:
        return "", f"“{add[:200]}” is not in this collection."
    # Words of titles first, then anywhere, then some of them; a word in small letters is never an operator.
    titles = await _search(service, " ".join(f"title:{word}" for word in words), urls)
    if titles:
        return min(titles, key=lambda url: _title_rank(titles[url], add)), ""
    for query in (" ".join(words), " OR ".join(words)):
        if matches := await _search(service, query, urls):
            return next(iter(matches)), ""
    return "", f"No other page matches “{add[:200]}”."


async def _search(service: Service, query: str, urls: Sequence[str]) -> dict[str, str]:
    """Return address -> title of the matching pages, the best first, without those already compared."""
    try:
        answer = await service.search(SearchRequest(query=query, limit=_TITLES))
    except QueryError:
        return {}
    return {hit.url: hit.title for hit in answer.results if hit.url not in urls}


def _title_rank(title: str, add: str) -> tuple[bool, int]:
    """Return a sort key for titles: the given one first, then the shortest."""
    return _words(title) != _words(add), len(title)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


async def view_comparison(
    here: ServedService, urls: Sequence[str], options: RelatedOptions = DEFAULTS, note: str = ""
) -> CompareView:
    """Return the view of several pages."""
    answer = Answer()
    if urls:
        answer = await ask_related(here, RelatedRequest(url=urls[0], also=tuple(urls[1:]), options=options))
    note = note or answer.note
    if not here.service.leaf:
        similar = similar_pages(answer.results, link_by_address, network=True)
        return CompareView(
            pages=[link_by_address(url) for url in urls], similar=similar, note=note, partial=list(answer.partial),
            options=options,
        )  # fmt: skip
    return await in_collection(here.service, _collection_view, urls, answer, options, note)


def _collection_view(
    collection: CollectionView, urls: Sequence[str], answer: Answer, options: RelatedOptions, note: str
) -> CompareView:
    """Return the view of several pages of one collection, compared only if all of them can be."""
    pages = [collection.link_to(url) for url in urls]
    if not answer.subjects:
        return CompareView(pages=pages, note=note, options=options)
    numbers = [collection.corpus.url_number(url) for url in urls]
    comparison = compare_pages(collection.collection, urls, TERMS)
    shared, similar = write_words(
        collection,
        numbers,
        terms_of(comparison.shared, collection.link_to),
        similar_pages(answer.results, collection.link_to),
    )
    return CompareView(
        pages=pages, shared=shared, similarities=comparison.similarities, similar=similar, note=note, options=options
    )
