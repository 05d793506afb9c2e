"""About this index: how it was made, and what of."""

from typing import Any

from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct

from pagekin import __version__
from pagekin.routers.http import served
from pagekin.web.collection import collection_of
from pagekin.web.shown import Asking, shown, size


class AboutView(Struct, frozen=True, kw_only=True):
    """What is to be known of an index."""

    name: str
    counts: dict[str, int]
    languages: list[tuple[str, int]]
    skipped: list[tuple[str, int]]
    """(why, how many) records that were not read."""
    damaged: list[str]
    cut: dict[str, int]
    strategy: dict[str, Any]
    """All settings of the strategy; empty if there is no index of related pages."""
    facts: list[tuple[str, str]]
    versions: dict[str, str]
    bytes: int


@get(["/about", "/about.json"], responses={200: ResponseSpec(AboutView, description="How the index was made.")})
async def about(request: Asking) -> Response[bytes]:
    """About this index: strategy, counts, skipped records, versions."""
    service = served(request.scope).service
    collection = collection_of(service)
    facts, kin = collection.corpus.facts, collection.corpus.kin
    index = facts.get("index", {})
    counted = ("pages", "urls", "aliases", "words", "terms", "anchors", "links", "hosts", "html_records")
    told = [("HTML read", size(facts["html_bytes"])), ("on disk", size(sum(kin.bytes_on_disk.values())))]
    if index:
        signature = index["strategy"]["signature"]
        told += [
            ("strategy", str(index["strategy"]["name"])),
            ("addresses that can be asked about", f"{index['bags']:,}"),
            ("signatures", f"{signature['m']} values each, by {signature['maker']}"),
        ]
    view = AboutView(
        name=collection.name,
        counts={name: int(facts[name]) for name in counted},
        languages=collection.languages,
        skipped=sorted(facts["skipped"].items(), key=lambda pair: (-pair[1], pair[0])),
        damaged=[str(one) for one in facts["damaged_examples"]],
        cut=dict(facts["cut"]),
        strategy=index.get("strategy", {}),
        facts=told,
        versions={
            "Pagekin, serving": __version__,
            "Pagekin, reading": str(facts["pagekin"]),
            "parser": str(facts["parser"]),
            "format": str(kin.manifest["format"]),
        },
        bytes=sum(kin.bytes_on_disk.values()),
    )
    return shown(request, "about.html", view)
