"""The page about the index: how it was made, and from what."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from litestar import Response
from msgspec import Struct, structs

from pagekin import __version__
from pagekin.bags import Strategy, settings_table
from pagekin.collection import Health, Service
from pagekin.labels import plain_text
from pagekin.routers import HttpRequest, parts_on_disk, service_of
from pagekin.web.collection_view import CollectionView, in_collection
from pagekin.web.rendering import render, size, view_route
from pagekin.wording import plural


class Setting(Struct, frozen=True):
    """A setting of the strategy."""

    name: str
    value: str
    usual: str
    """What it is where nobody sets it."""
    about: str
    """What it does, in words."""


class AboutView(Struct, frozen=True, kw_only=True):
    """How an index was made, and what it holds."""

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
    signals: int
    """How many signals put candidates in order; 1 if the bags alone do."""
    asked: int
    """Addresses of which similar pages are known."""
    facts: list[tuple[str, str]]
    versions: dict[str, str]
    bytes: int
    """On disk."""
    parts: dict[str, int]
    """What they are for."""


class RouterAboutView(Health, frozen=True, kw_only=True):
    """The state of a router and its children: its health, and its label."""

    pages: int
    exact: bool
    """False if pages that several children share were counted more than once."""
    topics: int
    words: int
    versions: dict[str, str]


_EITHER: Any = AboutView | RouterAboutView


@view_route(["/about", "/about.json"], _EITHER, "Show how the index was made, or what is below a router.")
async def about(request: HttpRequest) -> Response[bytes]:
    """Return how an index was made: strategy, counts, skipped records, versions; of a router, its children."""
    service = service_of(request.scope).service
    if not service.leaf:
        return render(request, "about_router.html", await about_router(service))
    return render(request, "about.html", await in_collection(service, about_collection))


async def about_router(router: Service) -> RouterAboutView:
    """Return the state of a router and its children, even while it waits for them."""
    health = await router.health()
    label = router.label if health.ready else None
    known = structs.asdict(health) | {
        "name": plain_text(router.name),
        "children": tuple(sorted(health.children, key=lambda child: (not child.error, child.name))),
        "error": plain_text(health.error),
    }
    return RouterAboutView(
        **known,
        pages=health.documents,
        exact=label.exact if label else False,
        topics=len(label.clusters) if label else 0,
        words=label.num_words if label else 0,
        versions={"Pagekin": __version__},
    )


def about_collection(collection: CollectionView) -> AboutView:
    """Return how a collection was made."""
    facts, kin = collection.corpus.facts, collection.corpus.kin
    index = facts.get("index", {})
    counted = ("pages", "urls", "aliases", "words", "terms", "anchors", "links", "hosts", "html_records")
    parts = parts_on_disk(kin)
    sizes = [
        ("HTML read", size(facts["html_bytes"])),
        ("on disk", f"{size(sum(parts.values()))}: {', '.join(f'{name} {size(one)}' for name, one in parts.items())}"),
    ]
    if delta := collection.collection.delta:
        gone = len(collection.corpus) - collection.corpus.alive
        now = collection.corpus.alive + delta.corpus.alive
        since = (
            f"{delta.corpus.alive:,} pages are new, changed, or have other links, and {gone:,} of the above are hidden"
        )
        sizes.insert(0, ("updated", f"{since}: {plural(now, 'page')} now"))
    dates = np.asarray(collection.corpus.pages.date)
    dates = dates[dates > 0]
    strategy = dict(index.get("strategy", {}))
    signature = strategy.get("signature", {})
    return AboutView(
        name=plain_text(collection.name),
        counts={name: int(facts[name]) for name in counted},
        languages=collection.languages,
        skipped=sorted(facts["skipped"].items(), key=lambda pair: (-pair[1], pair[0])),
        damaged=[str(one) for one in facts["damaged_examples"]],
        cut=dict(facts["cut"]),
        sources=[plain_text(str(one)).rstrip("/").rpartition("/")[2] for one in facts["sources"]],
        since=int(dates.min()) if len(dates) else 0,
        until=int(dates.max()) if len(dates) else 0,
        strategy=strategy,
        settings=settings_of(strategy),
        numbers=int(signature.get("m", 0)),
        maker=str(signature.get("maker", "")),
        signals=sum(1 for weight in strategy.get("signals", {}).values() if weight),
        asked=int(index.get("bags", 0)),
        facts=sizes,
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
    """Return the settings of a strategy, with descriptions of those that this version knows."""
    given = {
        f"{part}.{key}" if key else part: value
        for part, several in strategy.items()
        if part != "name"
        for key, value in (several.items() if isinstance(several, dict) else [("", several)])
    }
    known = {name: (usual, about) for name, usual, _allowed, about in settings_table(Strategy)}
    return [Setting(name, json.dumps(value).strip('"'), *known.get(name, ("", ""))) for name, value in given.items()]
