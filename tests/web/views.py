"""Views as pages get them, for tests that look at their data."""

import asyncio
from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pagekin.collection import ReloadingCollection
from pagekin.routers import ServedService
from pagekin.web.collection_view import CollectionView
from pagekin.web.pages.compare import CompareView, view_comparison
from pagekin.web.pages.page import PageView, view_page
from pagekin.web.related_options import DEFAULTS


def collection_of(leaf: ReloadingCollection) -> CollectionView:
    """Return the view of a leaf's collection."""
    return CollectionView.of(leaf.collection)


@cache
def served_at(name: str, path: Path) -> ServedService:
    """Return a leaf as it is served."""
    return ServedService(ReloadingCollection(name, path))


def page_view(collection: CollectionView | ReloadingCollection, url: str, **options: Any) -> PageView:
    """Return the view of a page of a collection."""
    view = asyncio.run(view_page(_served(collection), url, replace(DEFAULTS, **options)))
    assert isinstance(view, PageView), view
    return view


def compare_view(collection: CollectionView | ReloadingCollection, urls: list[str]) -> CompareView:
    """Return the view of several pages of a collection."""
    return asyncio.run(view_comparison(_served(collection), urls))


def _served(collection: CollectionView | ReloadingCollection) -> ServedService:
    if isinstance(collection, ReloadingCollection):
        return ServedService(collection)
    return served_at(collection.name, collection.collection.path)
