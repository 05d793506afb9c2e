"""`pagekin label` and `pagekin summary`: what a collection or a network holds."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

import pagekin
from pagekin import clusters, engines, hypertext, labels, routers, store
from pagekin.cli import options
from pagekin.cli.app import USAGE, app, check_choice, fail, fill_template, print_json, say

FORMATS = ("summary", "json", "sexpr")
PARTS = ("refinement", "routing", "browsing")


@app.command()
def label(
    target: options.Target,
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORM", help="summary (for people), json, or sexpr (as in the 1996 paper)."),
    ] = "summary",
    part: Annotated[
        str,
        typer.Option(
            metavar="|".join(PARTS), help="Only the part that one abstraction function needs; for json or sexpr."
        ),
    ] = "",
    max_terms: Annotated[
        int | None,
        typer.Option(
            min=0, max=100_000, help="Maximum number of terms of each sub-cluster; the heaviest stay. [default: 500]"
        ),
    ] = None,
    max_clusters: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Maximum number of sub-clusters; others are merged. [default: 30]"),
    ] = None,
    max_bytes: Annotated[
        int | None, typer.Option(min=1, max=32_000_000, help="Maximum size of the label as JSON. [default: 4,000,000]")
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[ATTRIBUTE:]WORD",
            help="Add a term that no page holds, so that routers find the collection by it; repeatable.",
        ),
    ] = None,
    broader: Annotated[
        int,
        typer.Option(min=0, max=1000, help="Add this many broader terms of the heaviest words, from the thesaurus."),
    ] = 0,
    save: Annotated[
        bool,
        typer.Option("--save", help="Store the added terms in the collection's label; without any, remove them."),
    ] = False,
) -> None:
    """Summarise a collection as its content label.

    Without budgets and added terms this is the label that the collection, or the network's root, publishes.
    """
    check_choice("--format", form, FORMATS)
    if part and (part not in PARTS or form == "summary"):
        fail(f"--part is one of {', '.join(PARTS)}, and needs --format json or sexpr", USAGE)
    budgets = (max_terms, max_clusters, max_bytes)
    if save and any(budget is not None for budget in budgets):
        fail("--save stores added terms only; leave out --max-terms, --max-clusters and --max-bytes", USAGE)
    corpus = None
    if routers.address_of(target) or _is_divided(store.open_kin(target)):
        if save or add or broader or any(budget is not None for budget in budgets):
            fail(
                "budgets and added terms need a collection in one piece; routers, and collections in shards or with a delta, "
                "only show the label that they have",
                USAGE,
            )
        with pagekin.open(target) as index:
            content = index.label()
    else:
        corpus = hypertext.Corpus.open(target)
        content = _make_label(corpus, budgets, add or [], broader, save)
    if form == "summary":
        say(fill_template("label", label=content, size=len(labels.label_to_json(content)), corpus=corpus))
        return
    if part:
        content = labels.label_part(content, part)
    # A label's form is exact, whatever the terminal: programs read it.
    data = labels.label_to_json(content) + b"\n" if form == "json" else labels.label_to_sexpr(content).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _is_divided(kin: "store.Kin") -> bool:
    """Return whether a collection is in shards, or has a delta."""
    return bool(hypertext.shard_folders(kin)) or store.DELTA in kin.facts


@app.command()
def summary(target: options.Target, as_json: options.AsJson = False) -> None:
    """Say what a collection or a network holds. Sub-clusters with their words and some of their pages."""
    with pagekin.open(target) as index:
        about = index.summary()
    if as_json:
        print_json(msgspec.to_builtins(about))
        return
    say(fill_template("summary", about=about))


def _make_label(
    corpus: "hypertext.Corpus", budgets: tuple[int | None, ...], add: list[str], broader: int, save: bool
) -> "labels.ContentLabel":
    """Return the published label, or a label made for the given options."""
    published = labels.read_label(corpus.kin)
    if published is not None and not (add or broader or save) and all(budget is None for budget in budgets):
        return published
    path, threads = Path(corpus.kin.path), hypertext.default_workers()
    trees = {tree.name: tree for tree in clusters.read_trees(corpus.kin)}
    tree, documents = trees.get("clusters"), trees.get("documents")
    if tree is None:
        fail(f"{path} has no clusters yet. Make them with: pagekin cluster {path}")
    names = ("terms", "clusters", "bytes")
    budget = labels.LabelBudget(**{name: most for name, most in zip(names, budgets, strict=True) if most is not None})
    added = labels.operator_terms(add)
    if broader:
        whole = published or labels.leaf_label(corpus, tree, budget, (), threads, documents)
        added += labels.broader_terms(corpus, whole, broader, threads)
    if not save:
        every = {*added, *labels.added_terms(corpus.facts)}
        return labels.leaf_label(corpus, tree, budget, every, threads, documents)
    engines.label_collection(path, added, threads)
    saved = labels.read_label(store.open_kin(path))
    assert saved is not None
    return saved
