"""Several pages as one query: what they share, how alike they are, and which pages are like all of them together."""

import re
from typing import Annotated, Any

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter
from litestar.response import Redirect
from msgspec import Struct

from pagekin.routers.http import served
from pagekin.routers.messages import RouterError
from pagekin.similarity import RelatedIndex
from pagekin.similarity.exact import jaccard
from pagekin.text import QueryError, parse
from pagekin.web import addresses
from pagekin.web.collection import Collection, PageLink, collection_of
from pagekin.web.pages.page import LONGEST_URL, number_of, unknown
from pagekin.web.pages.why import Similar, Term, as_written, common_terms, similar_pages
from pagekin.web.shown import Asking, shown, wants_json

MOST = 20
"""Pages that can be compared at once."""
SIMILAR, TERMS = 10, 12
_LONGEST_ADDED = 2_000
_WORDS = 24
"""Words of a title that are looked for."""
_WORD = re.compile(r"\w+")
_LOOKED_AT = 1_000
"""Pages among whose titles the one that is meant is looked for."""


class CompareView(Struct, frozen=True, kw_only=True):
    """Several pages together."""

    pages: list[PageLink]
    most: int = MOST
    shared: list[Term] = []
    """What all of them hold, by its least weight in them."""
    similarities: list[list[float]] = []
    """Of each page to each, exact; 1 on the diagonal."""
    similar: list[Similar] = []
    """Pages like all of them together."""
    note: str = ""
    """What could not be done."""


Urls = Annotated[list[str] | None, Parameter(description="Addresses of pages, up to 20.")]
Add = Annotated[str, Parameter(description="One more page: by its address, or by words of its title.")]
Out = Annotated[str, Parameter(description="The address of a page to take out.")]


@get(
    ["/compare", "/compare.json"],
    responses={200: ResponseSpec(CompareView, description="What several pages share, and pages like all of them.")},
)
async def compare(request: Asking, url: Urls = None, add: Add = "", out: Out = "") -> Response[Any]:
    """Show what several pages share, how alike they are, and pages that are like all of them together."""
    collection = collection_of(served(request.scope).service)
    numbers: list[int] = []
    for one in url or []:
        if len(one) > LONGEST_URL:
            raise RouterError(f"An address of {len(one):,} characters is too long: {LONGEST_URL:,} are the most.")
        if not one.strip():
            continue
        number = number_of(collection, one.strip())
        if number < 0:
            return unknown(request, collection, one)
        if number not in numbers:
            numbers.append(number)
    if len(numbers) > MOST:
        raise RouterError(f"{len(numbers)} pages are too many to compare: {MOST} are the most.")
    note = ""
    if out.strip():
        gone = number_of(collection, out.strip())
        return _moved(request, collection, [number for number in numbers if number != gone])
    if add.strip():
        found, note = _wanted(collection, add.strip()[:_LONGEST_ADDED], numbers)
        if found >= 0:
            return _moved(request, collection, [*numbers, found])
    return shown(request, "compare.html", compare_view(collection, numbers, note))


def _moved(request: Asking, collection: Collection, numbers: list[int]) -> Redirect:
    """On to the address that says no more than which pages are compared."""
    to = addresses.compare([collection.corpus.url(number) for number in numbers])
    return Redirect(_as_json(to) if wants_json(request) else to, status_code=303)


def _wanted(collection: Collection, add: str, numbers: list[int]) -> tuple[int, str]:
    """(the page that is meant by an address or by words, why there is none)."""
    if len(numbers) >= MOST:
        return -1, f"{MOST} pages are the most that can be compared: take one out first."
    number = number_of(collection, add)
    if number in numbers:
        return -1, "That page is here already."
    if number >= 0:
        return number, ""
    words = _words(add)[:_WORDS]
    if "://" in add or not words:
        return -1, f"“{add[:200]}” is not in this collection."
    if titled := _found(collection, " ".join(f"title:{word}" for word in words), numbers):
        return min(titled, key=lambda number: _likely(collection.link(number).title, add)), ""
    # Then as words anywhere, then some of them; a word in small letters is never an operator.
    for query in (" ".join(words), " OR ".join(words)):
        if found := _found(collection, query, numbers):
            return found[0], ""
    return -1, f"No other page matches “{add[:200]}”."


def _found(collection: Collection, query: str, numbers: list[int]) -> list[int]:
    """The pages that a query finds, the best first, without those that are there already."""
    try:
        pages = collection.leaf.text.search(parse(query), _LOOKED_AT).pages
    except QueryError:
        return []
    found = (int(collection.corpus.pages.url[page]) for page in pages)
    return [number for number in found if number not in numbers]


def _likely(title: str, add: str) -> tuple[bool, int]:
    """What titles are sorted by: the one that was given, then the shortest."""
    return _words(title) != _words(add), len(title)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def compare_view(collection: Collection, numbers: list[int], note: str = "") -> CompareView:
    """All that is shown of several pages together."""
    pages = [collection.link(number) for number in numbers]
    index = collection.related
    if index is None:
        return CompareView(
            pages=pages, note=note or "Pages have not been indexed in this collection: `pagekin index` does that."
        )
    documents = [index.bags.document(number) for number in numbers]
    if -1 in documents:
        title = pages[documents.index(-1)].title
        return CompareView(
            pages=pages, note=note or f"There is nothing to compare “{title[:200]}” by. Take it out to see the others."
        )
    if not documents:
        return CompareView(pages=pages, note=note)
    query = index.query_of([page.url for page in pages])
    shared = common_terms(collection, index, documents, TERMS) if len(documents) > 1 else []
    similar = similar_pages(collection, index, query, index.answer(query, SIMILAR).results)
    shared, similar = as_written(collection, numbers, shared, similar)
    return CompareView(
        pages=pages, shared=shared, similarities=_similarities(index, documents), similar=similar, note=note
    )


def _similarities(index: RelatedIndex, documents: list[int]) -> list[list[float]]:
    """The Jaccard similarity of each document to each."""
    bags = [index.bags.bag(document) for document in documents]
    found = [[1.0] * len(bags) for _ in bags]
    for one, mine in enumerate(bags):
        for other in range(one):
            found[one][other] = found[other][one] = jaccard(mine, bags[other])
    return found


def _as_json(address: str) -> str:
    path, mark, asked = address.partition("?")
    return f"{path}{addresses.JSON}{mark}{asked}"
