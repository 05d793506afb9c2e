"""`pagekin info`: what is in a collection."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from pagekin import hypertext, routers
from pagekin.cli import options
from pagekin.cli.app import app, human_bytes, print_json, print_table, say


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
    words = max(1, facts["words"])
    say(f"{collection}, format {corpus.kin.manifest['format']}, read by Pagekin {facts['pagekin']} ({facts['parser']})")
    print_table(
        [
            ("pages", f"{facts['pages']:,} (from {facts['html_records']:,} HTML records)"),
            ("addresses", f"{facts['urls']:,}, of which {facts['aliases']:,} are other names of pages"),
            ("words", f"{facts['words']:,} ({facts['terms']:,} different)"),
            ("anchors", f"{facts['anchors']:,}"),
            ("links", f"{facts['links']:,} between different addresses"),
            ("hosts", f"{facts['hosts']:,}"),
            ("languages", ", ".join(f"{name} {n:,}" for name, n in sorted(facts["languages"].items(), key=lambda x: -x[1])[:8])),
            ("HTML", human_bytes(facts["html_bytes"])),
            ("index", _describe_index(facts, indexed, collection)),
            ("search", _describe_search(facts, search, collection)),
            ("clusters", _describe_clusters(facts, collection)),
            ("on disk", f"{human_bytes(sum(parts.values()))}: "
                        + ", ".join(f"{name} {human_bytes(size)}" for name, size in parts.items())),
            ("streams", f"{100 * streams / max(1, facts['html_bytes']):.0f} % of the HTML, {streams / words:.2f} bytes a word"),
        ]
    )  # fmt: skip
    if facts["skipped"]:
        say("skipped")
        print_table([(f"  {n:>9,}", reason) for reason, n in sorted(facts["skipped"].items(), key=lambda x: -x[1])])
    for example in facts["damaged_examples"]:
        say(f"  damaged: {example}")
    for name, count in facts["cut"].items():
        say(f"  {count:,} pages cut at the limit '{name}'")


def _describe_search(facts: Mapping[str, Any], size: int, collection: str) -> str:
    """Return what the full-text index holds."""
    if "text" not in facts:
        return f"none; make it with: pagekin index {collection}"
    return f"{facts['text']['forms']:,} different words, {human_bytes(size)}"


def _describe_clusters(facts: Mapping[str, Any], collection: str) -> str:
    """Return how many clusters there are, and the trees beside them."""
    trees = facts.get("trees")
    if not trees:
        return f"none; make them with: pagekin cluster {collection}"
    label = ", and a label" if "label" in facts else ""
    others = ", ".join(f"{tree['name']} ({tree['nodes']:,} nodes)" for tree in trees[1:])
    return f"{trees[0]['clusters']:,} by '{trees[0]['method']}', {trees[0]['nodes']:,} on all levels; beside them {others}{label}"


def _describe_index(facts: Mapping[str, Any], size: int, collection: str) -> str:
    """Return what the collection is indexed by."""
    if "index" not in facts:
        return f"none; make one with: pagekin index {collection}"
    about = facts["index"]
    signature = about["strategy"]["signature"]
    return (
        f"'{about['strategy']['name']}', {about['bags']:,} addresses with {about['bag_entries']:,} terms, "
        f"{signature['m']} values each by {signature['maker']}, {human_bytes(size)}"
    )
