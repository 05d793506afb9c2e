"""`pagekin bag`: the heaviest terms of a page's bag."""

from typing import Annotated

import typer

from pagekin.cli.app import app, fail, open_index, print_json, say


@app.command()
def bag(
    collection: Annotated[str, typer.Argument(metavar="SITE.kin")],
    url: Annotated[str, typer.Argument(metavar="URL")],
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many terms to show.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show the heaviest terms that represent a page."""
    index = open_index(collection)
    from pagekin.similarity import RelatedError

    try:
        document = index.document(url)
    except RelatedError as error:
        fail(str(error))
    terms = index.heaviest(document, count)
    size = len(index.bags.bag(document)[0])
    inlinks = int(index.corpus.kin["bag.inlinks"][document])
    if as_json:
        print_json(
            {
                "url": index.urls[document],
                "title": index.title(document),
                "strategy": index.strategy.name,
                "inlinks": inlinks,
                "distinct_terms": size,
                "terms": [
                    {"term": term, "weight": round(weight, 7), "from": origins} for term, weight, origins in terms
                ],
            }
        )
        return
    say(index.title(document) or "(no title)")
    say(f"{index.urls[document]}  ({size:,} terms by '{index.strategy.name}', {inlinks:,} pages link to it)")
    say()
    width = max(len(term) for term, _, _ in terms)
    for term, weight, origins in terms:
        say(f"{weight:7.2%}  {term:<{width}}  {', '.join(origins)}")
