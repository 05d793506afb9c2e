"""`pagekin label`: the content label of a collection."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, human_bytes, is_address, open_corpus, print_json, say, title_line

FORMATS = ("summary", "json", "sexpr")
PARTS = ("refinement", "routing", "browsing")


@app.command()
def label(
    collection: Annotated[
        str, typer.Argument(metavar="SITE.kin|URL", help="A collection, or the address of a router.")
    ],
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORM", help="summary, for people; json; sexpr, as the 1996 paper has it."),
    ] = "summary",
    part: Annotated[
        str, typer.Option(metavar="|".join(PARTS), help="Only what one abstraction function needs; json or sexpr.")
    ] = "",
    max_terms: Annotated[
        int | None,
        typer.Option(min=0, max=100_000, help="Terms of each sub-cluster; the heaviest stay. [default: 500]"),
    ] = None,
    max_clusters: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Sub-clusters; others are merged. [default: 30]")
    ] = None,
    max_bytes: Annotated[
        int | None, typer.Option(min=1, max=32_000_000, help="Size of the label as JSON. [default: 4,000,000]")
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[ATTRIBUTE:]WORD", help="A term that leads here though no page holds it; may be repeated."
        ),
    ] = None,
    broader: Annotated[
        int, typer.Option(min=0, max=1000, help="Add so many broader terms of the heaviest words, by the thesaurus.")
    ] = 0,
    save: Annotated[
        bool, typer.Option("--save", help="Keep the added terms (or none) in the collection's own label.")
    ] = False,
) -> None:
    """Summarise a collection as its content label.

    Without budgets and added terms this is the label that the collection publishes.
    """
    if form not in FORMATS:
        fail(f"--format is one of {', '.join(FORMATS)}; not '{form}'", USAGE)
    if part and (part not in PARTS or form == "summary"):
        fail(f"--part is one of {', '.join(PARTS)}, and needs --format json or sexpr", USAGE)
    budgets = (max_terms, max_clusters, max_bytes)
    if save and any(one is not None for one in budgets):
        fail("--save keeps added terms; the published label has the budgets of the paper", USAGE)
    if is_address(collection):
        if save or add or broader or any(one is not None for one in budgets):
            fail("a router gives the label that it has: budgets and added terms are for collections", USAGE)
        _print_routers_label(collection, form, part)
        return
    corpus = open_corpus(collection)
    from pagekin.labels import LabelError, to_json
    from pagekin.labels.parts import part_of
    from pagekin.labels.sexpr import to_sexpr

    try:
        made = _made(corpus, budgets, add or [], broader, save)
    except LabelError as error:
        fail(str(error))
    if form == "summary":
        print_summary(corpus, made, len(to_json(made)))
        return
    if part:
        made = part_of(made, part)
    # A label's form is exact, whatever the terminal: programs read it.
    data = to_json(made) + b"\n" if form == "json" else to_sexpr(made).encode()
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _print_routers_label(address: str, form: str, part: str) -> None:
    """The label that a router gives, as it gives it."""
    from pagekin.routers.ask import fetch_bytes
    from pagekin.routers.messages import RouterError

    if form == "summary":
        summary(address, as_json=False)
        return
    try:
        data = fetch_bytes(address, f"label?form={form}&part={part}")
    except RouterError as error:
        fail(str(error))
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


@app.command()
def summary(
    target: Annotated[str, typer.Argument(metavar="SITE.kin|URL", help="A collection, or the address of a router.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a collection or a router holds. Sub-clusters with their words and some of their pages."""
    from pagekin.labels.keep import read_label
    from pagekin.routers.ask import fetch
    from pagekin.routers.messages import RouterError, Summary
    from pagekin.routers.open_leaf import summary_of

    if is_address(target):
        try:
            found = fetch(target, "summary", Summary)
        except RouterError as error:
            fail(str(error))
    else:
        corpus = open_corpus(target)
        kept = read_label(corpus.kin)
        if kept is None:
            fail(f"{target} has no content label yet. Make it with: pagekin cluster {target}")
        found = summary_of(Path(target).stem, True, kept, ())
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(found))
        return
    bound = "" if found.exact else "at most "
    say(f"{found.name}: {bound}{found.documents:,} pages, {human_bytes(found.bytes)}")
    say(f"  {', '.join(found.words)}")
    if found.children:
        say(f"  leads to {', '.join(found.children)}")
    for cluster in found.clusters:
        say(f"\n{cluster.number:>4}  {cluster.name or '(no name)'}: {cluster.documents:,} pages")
        say(f"      {', '.join(cluster.words)}")
        for url in cluster.urls[:3]:
            say(f"      {url}")


def _made(corpus: Any, budgets: tuple[int | None, ...], add: list[str], broader: int, save: bool) -> Any:
    """The label that was asked for: the published one, or one made for this."""
    from pagekin.labels.keep import added_terms, read_label
    from pagekin.labels.widen import broader_terms, operators_terms
    from pagekin.store import KinError, open_kin

    published = read_label(corpus.kin)
    if published is not None and not (add or broader or save) and all(one is None for one in budgets):
        return published
    from pagekin.clusters import read_trees
    from pagekin.engines import label_collection
    from pagekin.hypertext.read import default_workers
    from pagekin.labels.build import leaf_label
    from pagekin.labels.fitting import Budget

    path, threads = Path(corpus.kin.path), default_workers()
    trees = {tree.name: tree for tree in read_trees(corpus.kin)}
    tree, documents = trees.get("clusters"), trees.get("documents")
    if tree is None:
        fail(f"{path} has no clusters yet. Make them with: pagekin cluster {path}")
    names = ("terms", "clusters", "bytes")
    budget = Budget(**{name: one for name, one in zip(names, budgets, strict=True) if one is not None})
    added = operators_terms(add)
    if broader:
        added += broader_terms(
            corpus, published or leaf_label(corpus, tree, budget, (), threads, documents), broader, threads
        )
    if not save:
        return leaf_label(corpus, tree, budget, {*added, *added_terms(corpus.facts)}, threads, documents)
    try:
        label_collection(path, added, threads)
    except KinError as error:
        fail(str(error))
    return read_label(open_kin(path))


def print_summary(corpus: Any, made: Any, size: int) -> None:
    """A label for people."""
    say(f"{made.name}: {made.num_docs:,} pages, {human_bytes(made.size)}, {made.num_terms:,} terms")
    say(f"  {', '.join(made.heaviest)}")
    for cluster in made.clusters:
        about = f"{cluster.num_docs:,} pages, {human_bytes(cluster.size)}, {cluster.num_terms:,} terms"
        say(f"\n{cluster.number:>4}  {cluster.name or '(no name)'}: {about}")
        if cluster.heaviest:
            say(f"      {', '.join(cluster.heaviest)}")
        for url in cluster.urls[:3]:
            pages = corpus.pages_of(corpus.url_number(url))
            say(f"      {title_line(corpus.titles.text(pages[0])) if pages else ''}\n        {url}")
    for one in made.added:
        say(f"\nadded by the {one.by}: {'' if one.attribute == 'text' else one.attribute + ':'}{one.word}")
    lost = made.lost
    say(
        f"\nThe label has {human_bytes(size)} as JSON. Left out: {lost.terms:,} terms of sub-clusters, which the filters still"
    )
    say(f"know; {lost.clusters:,} sub-clusters, merged into others; {lost.filters:,} filters.")
