"""`pagekin info`: what is in a collection."""

from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import engines, hypertext, routers, store
from pagekin.cli import options
from pagekin.cli.app import app, fill_template, print_json, progress_bar, say


@app.command()
def info(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin", help="A collection.")],
    drift: Annotated[
        bool,
        typer.Option(
            "--drift",
            help="Measure how much answers would change after pagekin compact: rebuilds the collection in a temporary "
            "place, asks both about a sample of pages, and stores nothing.",
        ),
    ] = False,
    questions: Annotated[int, typer.Option(min=1, help="Pages that --drift asks about.")] = 100,
    workers: options.Workers = 0,
    memory: options.Memory = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what a collection holds. Pages, words, anchors, links, hosts; skipped records; sizes; the state of a delta."""
    kin = store.open_kin(collection)
    folders = hypertext.open_shards(kin) or [kin, *filter(None, [hypertext.open_delta(kin)])]
    facts, parts = kin.facts, routers.parts_on_disk(*folders)
    sizes: Counter[str] = Counter()
    for folder in folders:
        sizes.update(folder.bytes_on_disk)
    kept = hypertext.read_keeping(Path(collection))
    streams, text, indexed, search, trees = parts.values()
    measured = None
    if drift:
        with progress_bar(as_json) as tell:
            measured = engines.measure_drift(
                Path(collection), questions, threads=workers or hypertext.default_workers(),
                memory=memory or store.NO_LIMIT, progress=tell,
            )  # fmt: skip
    if as_json:
        hidden = {"language_codes"}
        about = {name: value for name, value in facts.items() if name not in hidden}
        groups = {"streams": streams, "plain_text": text, "index": indexed, "trees": trees, "search": search}
        stored = {"all": sum(sizes.values()), **groups, **sizes}
        stated = {"format": kin.manifest["format"], **about, "bytes": stored, "kept": _keeping_as_dict(kept)}
        print_json(stated | ({"drift": asdict(measured)} if measured else {}))
        return
    languages, skipped = (sorted(facts[name].items(), key=lambda pair: -pair[1]) for name in ("languages", "skipped"))
    say(
        fill_template(
            "info", collection=collection, format=kin.manifest["format"], facts=facts, parts=parts, streams=streams,
            indexed=indexed, search=search, languages=languages[:8], skipped=skipped,
            kept=kept, age=_age(kept.made), most=engines.LARGEST_SHARE, drift=measured,
        )
    )  # fmt: skip


def _keeping_as_dict(kept: "hypertext.Keeping") -> dict[str, Any]:
    """Return what a collection keeps for updates, as JSON."""
    return {
        "updatable": kept.updatable, "parts": len(kept.parts), "bytes": kept.bytes_on_disk,
        "sources": [{"names": source.names, "read": source.read} for source in kept.sources],
        "opted_out": kept.opt_outs.as_list(), "built": kept.built, "updated": kept.updated, "made": kept.made,
    }  # fmt: skip


def _age(moment: str) -> str:
    """Return the age of a moment as text."""
    try:
        since = datetime.now(UTC) - datetime.fromisoformat(moment)
    except ValueError:
        return ""
    hours = int(since.total_seconds() // 3600)
    if hours < 48:
        return f"{hours} hour{'s' if hours != 1 else ''} ago"
    return f"{hours // 24:,} days ago"
