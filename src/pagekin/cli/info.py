"""`pagekin info`: what is in a collection."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin import hypertext, routers, store
from pagekin.cli import options
from pagekin.cli.app import app, fill_template, print_json, say


@app.command()
def info(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin", help="A collection.")],
    as_json: options.AsJson = False,
) -> None:
    """Show what a collection holds. Pages, words, anchors, links, hosts; skipped records; sizes."""
    kin = store.open_kin(collection)
    folders = hypertext.open_shards(kin) or [kin, *filter(None, [hypertext.open_delta(kin)])]
    facts, parts = kin.facts, routers.parts_on_disk(*folders)
    sizes: Counter[str] = Counter()
    for folder in folders:
        sizes.update(folder.bytes_on_disk)
    kept = hypertext.read_keeping(Path(collection))
    streams, text, indexed, search, trees = parts.values()
    if as_json:
        hidden = {"language_codes"}
        about = {name: value for name, value in facts.items() if name not in hidden}
        groups = {"streams": streams, "plain_text": text, "index": indexed, "trees": trees, "search": search}
        stored = {"all": sum(sizes.values()), **groups, **sizes}
        print_json({"format": kin.manifest["format"], **about, "bytes": stored, "kept": _keeping_as_dict(kept)})
        return
    languages, skipped = (sorted(facts[name].items(), key=lambda pair: -pair[1]) for name in ("languages", "skipped"))
    say(
        fill_template(
            "info", collection=collection, format=kin.manifest["format"], facts=facts, parts=parts, streams=streams,
            indexed=indexed, search=search, languages=languages[:8], skipped=skipped,
            kept=kept,
        )
    )  # fmt: skip


def _keeping_as_dict(kept: "hypertext.Keeping") -> dict[str, Any]:
    """Return what a collection keeps for updates, as JSON."""
    return {
        "updatable": kept.updatable, "parts": len(kept.parts), "bytes": kept.bytes_on_disk,
        "sources": [{"names": source.names, "read": source.read} for source in kept.sources],
        "opted_out": kept.opt_outs.as_list(), "built": kept.built, "updated": kept.updated,
    }  # fmt: skip
