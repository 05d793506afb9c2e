"""About this index: how it was made, and what of."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec
from msgspec import Struct

from pagekin import __version__
from pagekin.bags.strategy import settings_table
from pagekin.labels.model import plain
from pagekin.routers.http import served
from pagekin.routers.messages import ChildHealth
from pagekin.routers.router import Router
from pagekin.routers.sizes import parts_on_disk
from pagekin.web.collection import Collection, collection_of
from pagekin.web.shown import Asking, shown, size


class Setting(Struct, frozen=True):
    """A setting of the strategy."""

    name: str
    value: str
    usual: str
    """What it is where nobody sets it."""
    about: str
    """What it does, in words."""


class AboutView(Struct, frozen=True, kw_only=True):
    """What is to be known of an index."""

    name: str
    counts: dict[str, int]
    languages: list[tuple[str, int]]
    skipped: list[tuple[str, int]]
    """(why, how many) records that were not read."""
    damaged: list[str]
    cut: dict[str, int]
    sources: list[str]
    """What was read: names of files and folders, not where they lie."""
    since: int
    """When the first page was captured, in seconds since 1970; 0 where the sources do not tell."""
    until: int
    strategy: dict[str, Any]
    """All settings of the strategy; empty if there is no index of related pages."""
    settings: list[Setting]
    """The same with what they do."""
    numbers: int
    """Of each page, by which similar pages are found; 0 if there is no index of related pages."""
    maker: str
    """How these are drawn."""
    asked: int
    """Addresses of which similar pages are known."""
    facts: list[tuple[str, str]]
    versions: dict[str, str]
    bytes: int
    """On disk."""
    parts: dict[str, int]
    """What they are for."""


class RouterAboutView(Struct, frozen=True, kw_only=True):
    """What is to be known of a router."""

    name: str
    level: int
    """Routers and collections below one another, at most."""
    pages: int
    exact: bool
    """False if pages that several children share were counted more than once."""
    topics: int
    words: int
    label_bytes: int
    label_age: float | None
    """Seconds since its summary was made; None if it has none yet."""
    uptime: float
    requests: int
    children: list[ChildHealth]
    versions: dict[str, str]
    error: str


_EITHER: Any = AboutView | RouterAboutView


@get(
    ["/about", "/about.json"],
    responses={
        200: ResponseSpec(_EITHER, generate_examples=False, description="How the index was made, or who is below.")
    },
)
async def about(request: Asking) -> Response[bytes]:
    """About this index: strategy, counts, skipped records, versions; about a router: what it knows of its children."""
    service = served(request.scope).service
    if isinstance(service, Router):
        return shown(request, "about_router.html", await about_router(service))
    return shown(request, "about.html", about_collection(collection_of(service)))


async def about_router(router: Router) -> RouterAboutView:
    """What a router knows of itself and its children; also while it waits for them."""
    health = await router.health()
    label = router.label if health.ready else None
    return RouterAboutView(
        name=plain(router.name),
        level=health.level,
        pages=health.documents,
        exact=label.exact if label else False,
        topics=len(label.clusters) if label else 0,
        words=label.num_words if label else 0,
        label_bytes=health.label_bytes,
        label_age=health.label_age,
        uptime=health.uptime,
        requests=health.requests,
        children=sorted(health.children, key=lambda child: (not child.error, child.name)),
        versions={"Pagekin": __version__},
        error=plain(health.error),
    )


def about_collection(collection: Collection) -> AboutView:
    """How a collection was made."""
    facts, kin = collection.corpus.facts, collection.corpus.kin
    index = facts.get("index", {})
    counted = ("pages", "urls", "aliases", "words", "terms", "anchors", "links", "hosts", "html_records")
    parts = parts_on_disk(kin)
    told = [
        ("HTML read", size(facts["html_bytes"])),
        ("on disk", f"{size(sum(parts.values()))}: {', '.join(f'{name} {size(one)}' for name, one in parts.items())}"),
    ]
    dates = np.asarray(collection.corpus.pages.date)
    dates = dates[dates > 0]
    strategy = dict(index.get("strategy", {}))
    signature = strategy.get("signature", {})
    return AboutView(
        name=plain(collection.name),
        counts={name: int(facts[name]) for name in counted},
        languages=collection.languages,
        skipped=sorted(facts["skipped"].items(), key=lambda pair: (-pair[1], pair[0])),
        damaged=[str(one) for one in facts["damaged_examples"]],
        cut=dict(facts["cut"]),
        sources=[plain(str(one)).rstrip("/").rpartition("/")[2] for one in facts["sources"]],
        since=int(dates.min()) if len(dates) else 0,
        until=int(dates.max()) if len(dates) else 0,
        strategy=strategy,
        settings=settings_of(strategy),
        numbers=int(signature.get("m", 0)),
        maker=str(signature.get("maker", "")),
        asked=int(index.get("bags", 0)),
        facts=told,
        versions={
            "Pagekin, serving": __version__,
            "Pagekin, reading": str(facts["pagekin"]),
            "parser": str(facts["parser"]),
            "format": str(kin.manifest["format"]),
        },
        bytes=sum(parts.values()),
        parts=parts,
    )


def settings_of(strategy: Mapping[str, Any]) -> list[Setting]:
    """The settings of a strategy, each with what it does; those that this version does not know have no words for it."""
    given = {
        f"{part}.{key}" if key else part: value
        for part, several in strategy.items()
        if part != "name"
        for key, value in (several.items() if isinstance(several, dict) else [("", several)])
    }
    known = {name: (usual, about) for name, usual, _allowed, about in settings_table()}
    return [Setting(name, _written(value), *known.get(name, ("", ""))) for name, value in given.items()]


def _written(value: Any) -> str:
    return json.dumps(value).strip('"')
