"""`pagekin info`: what is in a collection."""

from typing import Annotated

import typer

from pagekin import hypertext, routers
from pagekin.cli import options
from pagekin.cli.app import app, fill_template, print_json, say


@app.command()
def info(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin", help="A collection.")],
    as_json: options.AsJson = False,
) -> None:
    """Show what a collection holds. Pages, words, anchors, links, hosts; skipped records; sizes."""
    corpus = hypertext.Corpus.open(collection)
    facts, sizes = corpus.facts, corpus.kin.bytes_on_disk
    parts = routers.parts_on_disk(corpus.kin)
    streams, text, indexed, search, trees = parts.values()
    if as_json:
        hidden = {"language_codes"}
        about = {name: value for name, value in facts.items() if name not in hidden}
        groups = {"streams": streams, "plain_text": text, "index": indexed, "trees": trees, "search": search}
        stored = {"all": sum(sizes.values()), **groups, **sizes}
        print_json({"format": corpus.kin.manifest["format"], **about, "bytes": stored})
        return
    languages, skipped = (sorted(facts[name].items(), key=lambda pair: -pair[1]) for name in ("languages", "skipped"))
    say(
        fill_template(
            "info", collection=collection, format=corpus.kin.manifest["format"], facts=facts, parts=parts, streams=streams,
            indexed=indexed, search=search, languages=languages[:8], skipped=skipped,
        )
    )  # fmt: skip
