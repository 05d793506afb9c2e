"""`pagekin mcp`: a client of the protocol's own SDK starts it and asks; answers are those of the other doors."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

import pagekin
from pagekin.hypertext import Corpus


async def ask(collection: Path, calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[str], list[Any]]:
    """(the names of the tools, the answers to some calls)."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "pagekin", "mcp", str(collection)])
    async with Client(command) as client:
        tools = await client.list_tools()
        return [tool.name for tool in tools.tools], [await client.call_tool(*call) for call in calls]


def test_a_client_finds_pages_related_ones_and_their_text(demo_kin: Path) -> None:
    with pagekin.open(demo_kin) as index:
        hits = list(index.search("volcano eruption", 3))
        url = hits[0].url
        near = list(index.related(url, 4, captured=True))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "volcano eruption", "limit": 3}),
        ("related", {"url": url, "limit": 4}),
        ("page", {"url": url}),
        ("page", {"url": url, "start": 10}),
        ("page", {"url": "http://nowhere.example/x"}),
        ("search", {"query": "volcano", "limit": 1000}),
        ("search", {"query": '"never closed'}),
    ]
    tools, answers = asyncio.run(ask(demo_kin, calls))
    assert tools == ["search", "related", "page"]
    found, related, page, rest, unknown, many, unread = answers
    assert [one["url"] for one in found.structured_content["result"]] == [hit.url for hit in hits]
    assert [one["url"] for one in related.structured_content["result"]] == [hit.url for hit in near]
    corpus = Corpus.open(demo_kin)
    text = corpus.text_bytes(corpus.pages_of(corpus.url_number(url))[0])[0].decode()
    assert page.structured_content["text"] == text[:20_000]
    assert rest.structured_content["text"] == text[10:20_010]
    assert unknown.is_error and "is not in" in unknown.content[0].text
    assert many.is_error
    assert "Traceback" not in unread.content[0].text
