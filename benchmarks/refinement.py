"""Suggested terms and documents, judged by whether they are worth a click.

    python benchmarks/refinement.py COLLECTION.kin... [--queries 40]

Queries are titles of central pages of topics: of one to three words, 20 pages or more match. Of the first five terms of each
list, added to the query: `kept` is the share that leaves five results at least, `changed` the share that also changes the first
ten. A narrower term is `narrower` if fewer pages match it than the query, and at least half of those match the query, too.
`lists` is the number of terms per query, and `none` the share of queries without a narrower term. Of the first eight suggested
documents, `inside` is the share in the topic of the query's best hit, of the level that is shown, `near` that in its group.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from pagekin.collection import Collection, RefineRequest, SearchRequest, ServiceError, SuggestRequest, parse_query
from pagekin.hypertext import ShortTitles
from pagekin.text import And, tokens

TERMS, DOCUMENTS, LEAST = 5, 8, 5
LISTS = ("collocated", "broader", "narrower")


def queries_of(collection: Collection, most: int) -> list[str]:
    """Return titles of central pages of topics, spread over the topics."""
    tree, titles = collection.trees["clusters"], ShortTitles(collection.corpus)
    nodes = sorted({node for shown in tree.facts["shown"] for node in (shown, *tree.children[shown])})
    found: dict[str, None] = {}
    for place in range(3):
        for node in nodes:
            central = tree.descriptions[node].central[place : place + 1]
            words = tokens(titles.text(central[0])) if central else []
            query = " ".join(words)
            if not 1 <= len(words) <= 3 or query in found:
                continue
            if int(collection.text.matching_pages(parse_query(query), collection.documents).sum()) >= 20:
                found[query] = None
    every = list(found)
    step = max(len(every) / most, 1.0)
    return [every[int(place * step)] for place in range(min(most, len(every)))]


def judge(collection: Collection, queries: list[str]) -> dict[str, list[float]]:
    """Return the figures of each query, by name."""
    figures: defaultdict[str, list[float]] = defaultdict(list)
    tree = collection.trees["clusters"]
    of_page = np.zeros(len(collection.corpus), np.int64)
    for node in tree.facts["shown"]:
        of_page[tree.pages_of(node)] = node
    for text in queries:
        query = parse_query(text)
        matching = collection.text.matching_pages(query, collection.documents)
        first = [hit.url for hit in collection.search(SearchRequest(query=text, limit=10)).results]
        terms = collection.refine(RefineRequest(query=text))
        figures["none"].append(not terms.narrower)
        for name in LISTS:
            words = getattr(terms, name)[:TERMS]
            figures[f"{name}: lists"].append(len(words))
            for word in words:
                alone = parse_query(" ".join(tokens(word)))
                both = And((query, alone))
                held = int(collection.text.matching_pages(both, collection.documents).sum())
                hits = collection.search(SearchRequest(query=f"{text} {' '.join(tokens(word))}", limit=10)).results
                changed = [hit.url for hit in hits] != first
                figures[f"{name}: kept"].append(held >= LEAST)
                figures[f"{name}: changed"].append(held >= LEAST and changed)
                if name == "narrower":
                    of_word = collection.text.matching_pages(alone, collection.documents)
                    fewer = 0 < of_word.sum() < matching.sum()
                    figures["narrower: narrower"].append(fewer and (of_word & matching).sum() >= 0.5 * of_word.sum())
        try:
            documents = collection.suggest(SuggestRequest(query=text, limit=DOCUMENTS)).results
        except ServiceError:
            continue
        home = int(of_page[collection.corpus.pages_of(collection.corpus.url_number(first[0]))[0]])
        near = set(tree.pages_of(tree.path(home)[:2][-1]).tolist())
        for hit in documents:
            page = collection.corpus.pages_of(collection.corpus.url_number(hit.url))[0]
            figures["documents: inside"].append(int(of_page[page]) == home)
            figures["documents: near"].append(page in near)
    return figures


def main() -> None:
    """Print one row per collection, and one for all queries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="+", type=Path)
    parser.add_argument("--queries", type=int, default=40, help="queries of each collection, at most")
    args = parser.parse_args()
    names = [f"{name}: {what}" for name in LISTS for what in ("lists", "kept", "changed")]
    names += ["narrower: narrower", "none", "documents: inside", "documents: near"]
    print("| collection | queries | " + " | ".join(names) + " |")
    print("|---|---:|" + "---:|" * len(names))
    everything: defaultdict[str, list[float]] = defaultdict(list)
    total = 0
    for path in args.collections:
        collection = Collection(path.stem, path)
        queries = queries_of(collection, args.queries)
        figures = judge(collection, queries)
        total += len(queries)
        for name in names:
            everything[name] += figures[name]
        print_row(path.stem, len(queries), [figures[name] for name in names])
    print_row("all", total, [everything[name] for name in names])


def print_row(name: str, queries: int, columns: list[list[float]]) -> None:
    """Print the means."""
    cells = " | ".join(f"{np.mean(column):.2f}" if column else "-" for column in columns)
    print(f"| {name} | {queries} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
