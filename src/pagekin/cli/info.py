"""`pagekin info`: what is in a collection."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from pagekin.cli.app import app, human_bytes, open_corpus, print_json, say, table

_TEXT = ("text.frames", "snippet.bytes", "snippet.offsets", "page.text")


@app.command()
def info(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin", help="A collection.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a collection holds. Pages, words, anchors, links, hosts; skipped records; sizes."""
    from pagekin.clusters.hierarchy import ARRAYS as TREES
    from pagekin.clusters.thesaurus import ARRAYS as ABOUT
    from pagekin.labels.keep import ARRAYS as LABEL
    from pagekin.similarity.check import ARRAYS
    from pagekin.text import ARRAYS as SEARCH
    from pagekin.text import FOLDER

    corpus = open_corpus(collection)
    facts, sizes = corpus.facts, corpus.kin.bytes_on_disk
    text = sum(sizes.get(name, 0) for name in _TEXT)
    indexed = sum(size for name, size in sizes.items() if name.startswith(ARRAYS))
    trees = sum(size for name, size in sizes.items() if name.startswith((TREES, LABEL, ABOUT)))
    search = sum(size for name, size in sizes.items() if name.startswith((*SEARCH, FOLDER)))
    streams = sum(sizes.values()) - text - indexed - trees - search
    if as_json:
        hidden = {"language_codes"}
        about = {name: value for name, value in facts.items() if name not in hidden}
        parts = {"plain_text": text, "index": indexed, "trees": trees, "search": search}
        stored = {"all": sum(sizes.values()), **parts, **sizes}
        print_json({"format": corpus.kin.manifest["format"], **about, "bytes": stored})
        return
    words = max(1, facts["words"])
    say(f"{collection}, format {corpus.kin.manifest['format']}, read by Pagekin {facts['pagekin']} ({facts['parser']})")
    table(
        [
            ("pages", f"{facts['pages']:,} (from {facts['html_records']:,} HTML records)"),
            ("addresses", f"{facts['urls']:,}, of which {facts['aliases']:,} are other names of pages"),
            ("words", f"{facts['words']:,} ({facts['terms']:,} different)"),
            ("anchors", f"{facts['anchors']:,}"),
            ("links", f"{facts['links']:,} between different addresses"),
            ("hosts", f"{facts['hosts']:,}"),
            ("languages", ", ".join(f"{name} {n:,}" for name, n in sorted(facts["languages"].items(), key=lambda x: -x[1])[:8])),
            ("HTML", human_bytes(facts["html_bytes"])),
            ("index", _index(facts, indexed, collection)),
            ("search", _search(facts, search, collection)),
            ("clusters", _clusters(facts, collection)),
            ("on disk", f"{human_bytes(streams)} ({100 * streams / max(1, facts['html_bytes']):.0f} % of the HTML, "
                        f"{streams / words:.2f} bytes a word), and {human_bytes(text)} of plain text"),
        ]
    )  # fmt: skip
    if facts["skipped"]:
        say("skipped")
        table([(f"  {n:>9,}", reason) for reason, n in sorted(facts["skipped"].items(), key=lambda x: -x[1])])
    for example in facts["damaged_examples"]:
        say(f"  damaged: {example}")
    for name, count in facts["cut"].items():
        say(f"  {count:,} pages cut at the limit '{name}'")


def _search(facts: Mapping[str, Any], size: int, collection: str) -> str:
    """The full-text index."""
    if "text" not in facts:
        return f"none; make it with: pagekin index {collection}"
    return f"{facts['text']['forms']:,} different words, {human_bytes(size)}"


def _clusters(facts: Mapping[str, Any], collection: str) -> str:
    """The clusters and the trees beside them."""
    trees = facts.get("trees")
    if not trees:
        return f"none; make them with: pagekin cluster {collection}"
    label = ", and a label" if "label" in facts else ""
    others = ", ".join(f"{tree['name']} ({tree['nodes']:,} nodes)" for tree in trees[1:])
    return f"{trees[0]['clusters']:,} by '{trees[0]['method']}', {trees[0]['nodes']:,} on all levels; beside them {others}{label}"


def _index(facts: Mapping[str, Any], size: int, collection: str) -> str:
    """What the collection is indexed by."""
    if "index" not in facts:
        return f"none; make one with: pagekin index {collection}"
    about = facts["index"]
    signature = about["strategy"]["signature"]
    return (
        f"'{about['strategy']['name']}', {about['bags']:,} addresses with {about['bag_entries']:,} terms, "
        f"{signature['m']} values each by {signature['maker']}, {human_bytes(size)}"
    )
