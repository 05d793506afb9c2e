"""Names of topics, judged by whether the collection's own search for a name finds the topic's pages.

    python benchmarks/topic_names.py COLLECTION.kin... [--topics 40] [--names FILE]

For each topic of the level that is shown first, and of the level below it, its name is searched for. `inside` is the
share of the first 20 hits that lie in the topic: hits that are missing count as outside, unless the topic has fewer pages. `of
those found` divides by the hits that there are. `none` is the share of names that find nothing.

The ways to name are `phrases`, Pagekin's default; `words`, three telling words, as Pagekin had them before and has them for the
preset hypursuit1996; and `c-TF-IDF`, four words as BERTopic weighs them (Grootendorst 2022): the frequency of a word in a
topic times log(1 + A / f), where A is the mean number of words of a topic of the same level and f the word's frequency in all of
them. All three name the same topics. With `--names` the names are written to a file, to be read.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pagekin.bags import Strategy, make_vocabulary
from pagekin.clusters import TERM_ATTRIBUTES, Tree, count_terms
from pagekin.clusters.make import describe_trees
from pagekin.collection import Collection, SearchRequest
from pagekin.text import tokens

THREADS = 2
HITS = 20
SMALLEST = 10
"""Topics of fewer pages are not judged."""
WAYS = ("phrases", "words", "c-TF-IDF")
IN_NAME = 4
TEXT = TERM_ATTRIBUTES.index("text")


@dataclass(frozen=True)
class Found:
    """What the search for a name found."""

    inside: float
    of_found: float
    none: bool


def topics_of(tree: Tree, most: int) -> list[int]:
    """Return topics of the level that is shown and of the next one, spread evenly if there are more than wanted."""
    nodes = [int(node) for node in tree.facts["shown"]]
    nodes += [child for node in nodes for child in tree.children[node]]
    largest = len(tree.pages_of(0)) / 2
    nodes = [node for node in nodes if SMALLEST <= len(tree.pages_of(node)) <= largest]
    step = max(len(nodes) / most, 1.0)
    return [nodes[int(place * step)] for place in range(min(most, len(nodes)))]


def ctfidf_names(collection: Collection, tree: Tree) -> dict[int, str]:
    """Name the nodes of each level by the words with the largest tf * log(1 + A / f)."""
    corpus = collection.corpus
    words = make_vocabulary(corpus, Strategy())
    counted = count_terms(corpus, words, THREADS)
    text = counted.terms % len(TERM_ATTRIBUTES) == TEXT
    pages, terms = counted.rows[text], counted.terms[text] // len(TERM_ATTRIBUTES)
    counts = counted.weights[text].astype(np.float64)
    by_depth: defaultdict[int, list[int]] = defaultdict(list)
    for node in range(1, len(tree)):
        by_depth[len(tree.path(node))].append(node)
    names: dict[int, str] = {}
    for nodes in by_depth.values():
        class_of = np.full(len(corpus), -1, np.int64)
        for number, node in enumerate(nodes):
            class_of[tree.pages_of(node)] = number
        held = class_of[pages] >= 0
        keys = class_of[pages[held]] * len(words.shown) + terms[held]
        pairs, place = np.unique(keys, return_inverse=True)
        tf = np.bincount(place, counts[held], len(pairs))
        classes, term = pairs // len(words.shown), pairs % len(words.shown)
        everywhere = np.bincount(term, tf, len(words.shown))
        value = tf * np.log(1 + tf.sum() / len(nodes) / everywhere[term])
        order = np.lexsort((term, -value, classes))
        starts = np.searchsorted(classes[order], np.arange(len(nodes) + 1))
        for number, node in enumerate(nodes):
            best = term[order[starts[number] : min(starts[number] + IN_NAME, starts[number + 1])]]
            names[node] = ", ".join(corpus.word(int(words.shown[one])) for one in best)
    return names


def names_by_way(collection: Collection, tree: Tree, ways: Sequence[str]) -> dict[str, dict[int, str]]:
    """Return the names of all nodes by each of some ways."""
    found = {"c-TF-IDF": ctfidf_names(collection, tree)} if "c-TF-IDF" in ways else {}
    bare = replace(tree, descriptions=())
    for way in ("phrases", "words"):
        if way not in ways:
            continue
        (named,) = describe_trees(collection.corpus, [bare], THREADS, phrases=way == "phrases")
        found[way] = dict(enumerate(one.name for one in named.descriptions))
    return found


def search_name(collection: Collection, name: str, pages: set[int]) -> Found:
    """Search for a name, and compare what is found with the topic's pages."""
    words = tokens(name)
    if not words:
        return Found(0.0, 0.0, True)
    hits = collection.search(SearchRequest(query=" ".join(words), limit=HITS)).results
    numbers = [collection.corpus.pages_of(collection.corpus.url_number(hit.url))[0] for hit in hits]
    inside = sum(number in pages for number in numbers)
    return Found(min(inside / min(HITS, len(pages)), 1.0), inside / max(len(numbers), 1), not numbers)


def main() -> None:
    """Print one row per collection, and one for all topics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="+", type=Path)
    parser.add_argument("--topics", type=int, default=40, help="topics of each collection, at most")
    parser.add_argument("--ways", nargs="*", default=WAYS, choices=WAYS)
    parser.add_argument("--names", type=Path, help="write the names to this file")
    args = parser.parse_args()
    print("| collection | topics |" + "".join(f" {way}: inside | of those found | none |" for way in args.ways))
    print("|---|---:|" + "---:|---:|---:|" * len(args.ways))
    everything: defaultdict[str, list[Found]] = defaultdict(list)
    lines: list[str] = []
    for path in args.collections:
        collection = Collection(path.stem, path)
        tree = collection.trees["clusters"]
        names, nodes = names_by_way(collection, tree, args.ways), topics_of(tree, args.topics)
        results = {
            way: [search_name(collection, names[way][node], set(tree.pages_of(node).tolist())) for node in nodes]
            for way in args.ways
        }
        print_row(path.stem, results)
        for way in args.ways:
            everything[way] += results[way]
        lines += [f"\n{path.stem}"]
        for place, node in enumerate(nodes):
            told = " | ".join(f"{names[way][node]} [{results[way][place].inside:.2f}]" for way in args.ways)
            lines.append(f"{len(tree.pages_of(node)):>6}  {told}")
    print_row("all", everything)
    if args.names:
        args.names.write_text("\n".join(lines) + "\n", encoding="utf-8")


def print_row(name: str, results: dict[str, list[Found]]) -> None:
    """Print the mean of the results of each way."""
    cells = ""
    for found in results.values():
        cells += (
            f" {np.mean([one.inside for one in found]):.2f} | {np.mean([one.of_found for one in found]):.2f} "
            f"| {np.mean([one.none for one in found]):.0%} |"
        )
    print(f"| {name} | {len(next(iter(results.values()))):,} |{cells}", flush=True)


if __name__ == "__main__":
    main()
