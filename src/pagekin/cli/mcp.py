"""`pagekin mcp`: answer language models over the Model Context Protocol."""

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pagekin
from pagekin import __version__, hypertext, routers
from pagekin import collection as collection_room
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, fail
from pagekin.errors import PagekinError
from pagekin.wording import plural

if TYPE_CHECKING:
    from mcp.server import MCPServer

_MOST = 50
_PIECE = 20_000
"""Characters of a page's text in one answer."""


@app.command()
def mcp(collection: options.IndexedCollection) -> None:
    """Answer questions from language models. An MCP server on standard input and output: search, related, page."""
    if find_spec("mcp") is None:
        fail("the Model Context Protocol needs its SDK: pip install mcp", USAGE)
    make_server(collection).run("stdio")


def page_text(whole: "collection_room.Whole", url: str, start: int) -> dict[str, Any]:
    """Return a piece of a page's text; raise a ServiceError for an address without a page."""
    pages = whole.pages_of([collection_room.Item(kind="document", url=url)])
    if not pages:
        message = hypertext.unknown_url_message([part.corpus for part in whole.parts], url)
        raise collection_room.ServiceError(message, 404)
    part, own = whole.pages.place(pages[0])
    corpus = whole.parts[part].corpus
    text = corpus.text_bytes(own)[0].decode("utf-8", "replace")
    end = start + _PIECE
    answer = {"url": corpus.page_url(own), "title": corpus.titles.text(own), "text": text[start:end]}
    return {**answer, "next": end} if len(text) > end else answer


def make_server(collection: str) -> "MCPServer[Any]":
    """Return a server with the tools `search`, `related` and `page` of a collection."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field

    path = Path(collection)
    index = pagekin.open(collection)
    service = routers.open_collection(path.stem, path, compiled=False, hide_path=False)  # for texts of pages
    turn = threading.Lock()  # tools run in threads, and a collection is asked by one at a time
    held = plural(sum(part.corpus.alive for part in service.whole.parts), "page")
    about = f"Search and related pages of {path.name}: {held}. Name pages by their addresses as found."
    server: MCPServer[Any] = MCPServer("pagekin", version=__version__, instructions=about, log_level="WARNING")

    def ask(question: Any, *arguments: Any, **keywords: Any) -> Any:
        try:
            with turn:
                return question(*arguments, **keywords)
        except PagekinError as error:
            raise ToolError(str(error)) from None

    most_hits = Annotated[int, Field(ge=1, le=_MOST, description="The most results.")]
    words = Annotated[str, Field(max_length=2_000, description='Words, "a phrase", title:word, OR, NOT.')]
    address = Annotated[str, Field(max_length=8_000, description="The address of a page, as an answer gave it.")]

    def search(query: words, limit: most_hits = 10) -> list[dict[str, Any]]:
        """Find pages by words; the best first, with the piece of text that shows the words."""
        hits = ask(index.search, query, limit)
        return [{"url": hit.url, "title": hit.title, "text": hit.snippet, "score": round(hit.score, 4)} for hit in hits]

    def related(url: address, limit: most_hits = 10) -> list[dict[str, Any]]:
        """Find the pages that are most closely related to a page, the closest first."""
        hits = ask(index.related, url, limit, captured=True)
        return [{"url": hit.url, "title": hit.title, "similarity": round(hit.similarity, 4)} for hit in hits]

    def page(url: address, start: Annotated[int, Field(ge=0)] = 0) -> dict[str, Any]:
        """Read the text of a page, from a character on; `next` is where the rest begins, if there is more."""
        text: dict[str, Any] = ask(page_text, service.whole, url, start)
        return text

    for tool in (search, related, page):
        server.tool()(tool)
    return server
