"""`pagekin refine`: terms to refine a question with."""

from typing import Annotated, Any

import typer

from pagekin.cli.app import USAGE, app, fail, is_address, open_corpus, print_json, say


@app.command()
def refine(
    collection: Annotated[
        str, typer.Argument(metavar="SITE.kin|URL", help="A collection, or the address of a router.")
    ],
    terms: Annotated[list[str], typer.Argument(metavar="TERM...", help="The words of the question.")],
    count: Annotated[int, typer.Option("-n", "--count", min=1, max=1000, help="Terms in each list, at most.")] = 8,
    preset: Annotated[
        str, typer.Option(metavar="default|hypursuit1996", help="From pages, or as in 1996 from sub-clusters.")
    ] = "default",
    workers: Annotated[int, typer.Option(min=0, help="Threads; 0 means one per core.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Suggest collocated, broader and narrower terms."""
    terms = [word for term in terms for word in term.split()]
    if not terms:
        fail("name at least one word to refine", USAGE)
    if preset not in ("default", "hypursuit1996"):
        fail(f"--preset is one of default, hypursuit1996; not '{preset}'", USAGE)
    if is_address(collection):
        _ask_router(collection, terms, count, preset, as_json)
        return
    corpus = open_corpus(collection)
    from pagekin.clusters import read_trees
    from pagekin.clusters.thesaurus import ClusterThesaurus, PageThesaurus
    from pagekin.hypertext.read import default_workers

    threads = workers or default_workers()
    thesaurus: Any
    if preset == "default":
        thesaurus = PageThesaurus.of(corpus, threads)
    else:
        trees = read_trees(corpus.kin)
        if not trees:
            fail(f"{collection} has no clusters yet. Make them with: pagekin cluster {collection}")
        thesaurus = ClusterThesaurus(corpus, trees[0], threads)
    numbers = [thesaurus.find(term) for term in terms]
    unknown = [term for term, number in zip(terms, numbers, strict=True) if number < 0]
    if unknown:
        fail(f"no page of {collection} is about {', '.join(repr(term) for term in unknown)}")
    found = thesaurus.suggest(numbers, count)
    print_terms(
        terms, found, found.pages, "pages are about it" if preset == "default" else "sub-clusters hold it", as_json
    )


def _ask_router(address: str, terms: list[str], count: int, preset: str, as_json: bool) -> None:
    """The same from a router's sub-clusters."""
    from pagekin.cli.search import asked
    from pagekin.routers.messages import RefineRequest, Terms

    request = RefineRequest(
        query=" ".join(terms), count=count, preset="default" if preset == "default" else "hypursuit1996"
    )
    found = asked(address, "refine", request, Terms)
    print_terms(
        terms, found, found.known, "pages are about it" if preset == "default" else "sub-clusters hold it", as_json
    )


def print_terms(terms: list[str], found: Any, known: int, what: str, as_json: bool) -> None:
    """Suggested terms."""
    lists = {"collocated": found.collocated, "broader": found.broader, "narrower": found.narrower}
    if as_json:
        print_json({"terms": terms, "pages": known, **{name: list(value) for name, value in lists.items()}})
        return
    say(f"{' '.join(terms)}: {known:,} {what}")
    for name, value in lists.items():
        say(f"{name:<10}  {', '.join(value) or '-'}")
