"""`pagekin mcp`: a client of the protocol's own SDK starts it and asks; answers are those of the other doors."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import pagekin
from pagekin import routers
from pagekin.bags import Strategy
from pagekin.cli.mcp import page_text
from pagekin.collection import ServiceError
from pagekin.engines import BuildRecipe, build_collection, update_collection
from pagekin.hypertext import Corpus, OptOuts, ReadPlan
from tests.cutting import shard_collection


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


def test_shards_answer_as_one_piece_does(demo_kin: Path, tmp_path: Path) -> None:
    shard_collection(demo_kin, 4, tmp_path / "shards.kin")
    urls = [Corpus.open(demo_kin).page_url(page) for page in (0, 300, 600, 900)]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "volcano eruption"}),
        *(("related", {"url": url}) for url in urls),
        *(("page", {"url": url}) for url in urls),
    ]
    answers = [asyncio.run(ask(kin, calls))[1] for kin in (demo_kin, tmp_path / "shards.kin")]
    assert [one.structured_content for one in answers[0]] == [one.structured_content for one in answers[1]]
    assert all(one.structured_content for one in answers[0])


def test_a_page_that_an_update_removed_cannot_be_read_any_more(tmp_path: Path) -> None:
    plan = ReadPlan(["demo"], tmp_path / "a.kin", workers=1, keep=True)
    build_collection(plan, BuildRecipe(Strategy(), text=True))
    url = Corpus.open(plan.out).page_url(7)
    service = routers.open_collection("a", plan.out, compiled=False)
    assert page_text(service.whole, url, 0)["text"]
    update_collection(plan.out, [], opt_outs=OptOuts.parse([url]), way="delta")
    service.look_again()
    with pytest.raises(ServiceError):
        page_text(service.whole, url, 0)
