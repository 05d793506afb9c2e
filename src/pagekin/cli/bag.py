"""`pagekin bag`: the heaviest terms of a page's bag."""

from typing import Annotated

import typer

from pagekin import similarity
from pagekin.cli import options
from pagekin.cli.app import app, print_json, say, title_line


@app.command()
def bag(
    collection: options.IndexedCollection,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page, or an address that pages link to.")],
    count: Annotated[int, typer.Option("-k", "--limit", min=1, help="Maximum number of terms.")] = 20,
    as_json: options.AsJson = False,
) -> None:
    """Show the terms that represent a page, the heaviest first."""
    index = similarity.RelatedIndex.open(collection)
    document = index.document(url)
    terms = index.heaviest(document, count)
    shard, own = index.documents.place(document)
    size = len(shard.bags.bag(own)[0])
    inlinks = int(shard.bags.inlinks[own])
    if as_json:
        print_json({
            "url": index.urls[document], "title": index.title(document), "strategy": index.strategy.name,
            "inlinks": inlinks, "distinct_terms": size,
            "terms": [{"term": term, "weight": round(weight, 7), "from": origins} for term, weight, origins in terms],
        })  # fmt: skip
        return
    say(title_line(index.title(document)))
    say(f"{index.urls[document]}  (terms: {size:,} by '{index.strategy.name}', pages that link to it: {inlinks:,})")
    say()
    width = max((len(term) for term, _, _ in terms), default=0)
    for term, weight, origins in terms:
        say(f"{weight:7.2%}  {term:<{width}}  {', '.join(origins)}")
