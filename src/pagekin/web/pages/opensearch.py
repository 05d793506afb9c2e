"""Search from the browser's own search field: a description of the search, and completions while typing."""

import re
from typing import Annotated, Any

import msgspec
from litestar import Response, get
from litestar.params import Parameter

from pagekin.collection import Service, ServiceError
from pagekin.hypertext import fold_case
from pagekin.labels import plain_text
from pagekin.routers import HttpRequest, service_of
from pagekin.text import form_of
from pagekin.web import addresses
from pagekin.web.rendering import templates
from pagekin.web.vocabulary import Vocabulary, vocabulary_of

MOST = 8
"""The most completions."""
DESCRIPTION = "application/opensearchdescription+xml"
SUGGESTIONS = "application/x-suggestions+json"
_LOOKED_AT = 8
"""How many times as many words are looked at, since some are forms of one another."""
_FREQUENT = 0.2
"""A form of a word that is at least so often written as the commonest is offered instead if it is shorter."""
_HOST = re.compile(r"[A-Za-z0-9._\-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_LAST_WORD = re.compile(r"\w+\Z")
_PLAIN_WORDS = re.compile(r"\w+( \w+)*")
_FEWEST_TYPED, _TITLES = 3, 3
"""Characters from which on titles are offered, and how many."""


def origin(request: HttpRequest) -> str:
    """Return the scheme and host by which browsers reach us: as configured, or from the request.

    Headers of a proxy are not used, as anyone can send them; the server's own address stands in for an impossible host.
    """
    if configured := addresses.ORIGIN.get():
        return configured
    name = request.headers.get("host", "")
    if not _HOST.fullmatch(name):
        server: Any = request.scope.get("server") or ("localhost", 80)
        name = f"[{server[0]}]:{server[1]}" if ":" in server[0] else f"{server[0]}:{server[1]}"
    return f"{request.scope['scheme']}://{name}"


@get("/opensearch.xml", media_type=DESCRIPTION)
async def opensearch(request: HttpRequest) -> Response[bytes]:
    """Return a description of the search here, for browsers."""
    name, at = plain_text(service_of(request.scope).service.name), origin(request)
    page = templates().get_template("opensearch.xml").render(name=name, at=at)
    return Response(page.encode(), media_type=DESCRIPTION, headers={"Cache-Control": "no-cache"})


@get("/complete", media_type=SUGGESTIONS)
async def complete(
    request: HttpRequest,
    q: Annotated[str, Parameter(max_length=2000, description="What the user has typed so far.")] = "",
) -> Response[bytes]:
    """Return completions of a query's last word, by the words that are frequent here."""
    words = await completions(service_of(request.scope).service, q)
    headers = {"Cache-Control": "max-age=60"}
    return Response(msgspec.json.encode([q, words]), media_type=SUGGESTIONS, headers=headers)


async def completions(service: Service, q: str, most: int = MOST) -> list[str]:
    """Return a query with its last word completed, the most frequent first; nothing while no word is known.

    A form of each stem comes first, then titles of pages that begin as the query does, then other forms if there is room.
    """
    try:
        if service.leaf:
            return await service.run(lambda collection: _complete(vocabulary_of(service, collection), q, most))
        return _complete(vocabulary_of(service, None), q, most)
    except ServiceError:
        return []


def _complete(vocabulary: Vocabulary, q: str, most: int) -> list[str]:
    last = _LAST_WORD.search(q)
    prefix = fold_case(last[0]) if last else ""
    if not last or not prefix:
        return []
    words = vocabulary.with_prefix(prefix, _LOOKED_AT * most)
    by_stem: dict[str, dict[str, int]] = {}
    for word, count in words:
        if word != prefix:
            by_stem.setdefault(form_of(word), {})[word] = count
    order = dict.fromkeys([*map(_best_form, by_stem.values()), *(word for word, _count in words)])
    completed = [q[: last.start()] + plain_text(word) for word in order]
    offers_titles = len(q) >= _FEWEST_TYPED and _PLAIN_WORDS.fullmatch(q)
    titles = vocabulary.titles_with_prefix(q, _TITLES) if offers_titles else []
    return list(dict.fromkeys([*completed[: most - len(titles)], *titles, *completed]))[:most]


def _best_form(forms: dict[str, int]) -> str:
    """Return the shortest frequent spelling of a word, given its spellings with their counts."""
    frequent = _FREQUENT * max(forms.values())
    return min((word for word in forms if forms[word] >= frequent), key=lambda word: (len(word), -forms[word]))
