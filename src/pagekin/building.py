"""Build collections from Python: `pagekin.build`, with the options of the command."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pagekin.bags import Strategy, choose_strategy
from pagekin.clusters import choose_clusters
from pagekin.engines import BuildRecipe, build_here
from pagekin.hypertext import ReadPlan, canonical_url, default_workers
from pagekin.sources import Limits, SourceError, parse_limits
from pagekin.store import MemoryBudget, Progress, no_progress, parse_size

PathName = str | os.PathLike[str]


def build(
    sources: PathName | Iterable[PathName],
    out: PathName,
    *,
    base_url: str | Mapping[str, str] = "",
    preset: str = "",
    strategy: Strategy | PathName = "",
    settings: Mapping[str, Any] | None = None,
    exclude: Iterable[str] = (),
    obey: Iterable[str] = (),
    max_per_host: int = 0,
    all_captures: bool = False,
    strict: bool = False,
    parser: str = "fast",
    workers: int = 0,
    set_limit: Mapping[str, int] | None = None,
    replace: bool = False,
    memory: str = "",
    clusters: bool = True,
    clusters_preset: str = "",
    cluster_settings: Mapping[str, Any] | None = None,
    text: bool = True,
    shards: int = 1,
    progress: Progress = no_progress,
) -> None:
    """Read and index sources into the collection `out`; docs/python.md says what the options are."""
    names = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    limits = parse_limits(Limits, [f"{name}={number}" for name, number in (set_limit or {}).items()])
    plan = ReadPlan(
        [os.fspath(name) for name in names], Path(out), parser, workers or default_workers(),
        {} if isinstance(base_url, str) else {folder: _address(url) for folder, url in base_url.items()},
        _address(base_url) if isinstance(base_url, str) and base_url else "", all_captures, strict, limits,
        exclude=tuple(exclude), obey=tuple(obey), max_per_host=max_per_host, replace=replace,
        memory=MemoryBudget(parse_size(memory) if memory else 0), small_here=not workers,
    )  # fmt: skip
    chosen = strategy if isinstance(strategy, Strategy) else choose_strategy(preset, os.fspath(strategy))
    chosen = chosen.with_settings(dict(settings or {}))
    wanted = choose_clusters(clusters_preset, (), **dict(cluster_settings or {})) if clusters else None
    build_here(plan, plan.out, shards, BuildRecipe(chosen, wanted, text), progress)


def _address(url: str) -> str:
    """Return an address as it is kept; raise SourceError for what is none."""
    address = canonical_url(url)
    if address is None:
        raise SourceError(f"base_url: '{url}' is not an http(s) address, such as https://www.example.org/")
    return address
