"""Routing truth: what a network finds against asking every site, and how many sites it asks for that."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from growth import row
from network_running import Client
from network_sites import Document, Drawn, Sites
from pagekin.bags import bag_forms, preset_strategy
from pagekin.clusters import TERM_PRESET
from pagekin.collection import Answer, Routing, parse_query
from pagekin.labels import ContentLabel
from pagekin.routers.routing import RoutingTable

BANDS = ((1, 1), (2, 5), (6, 20), (21, 100), (101, 10**9))
"""On how many pages the rarest word of a query stands: from, to."""
LIMIT = 10_000
WANTED_ASKED = 2.5


@dataclass(frozen=True)
class Routed:
    """One query, routed in several ways."""

    rarest: int
    expected: set[Document]
    found: set[Document]
    total: int
    partial: bool
    holding: int
    """Sites with a match."""
    asked: int
    """Sites that were asked."""
    flat: int
    """Sites that would be asked by the filters of their sub-clusters alone, without the routers between."""
    whole: int
    """Sites that would be asked by one filter for each."""
    by_terms: set[Document]
    """What is found if routers know the heaviest terms only."""
    asked_by_terms: int
    content: bool
    """Whether no word is a stop word, of which terms never tell."""


def with_one_filter(label: ContentLabel) -> ContentLabel:
    """A label that tells of all words of its site, but not of which stand together."""
    clusters = tuple(msgspec.structs.replace(cluster, filters=()) for cluster in label.clusters)
    return msgspec.structs.replace(label, clusters=clusters)


async def route(client: Client, sites: Sites, root: str, queries: Sequence[Drawn]) -> list[Routed]:
    """Ask the root for everything that matches, and every site."""
    labels = {name: leaf.label for name, leaf in sites.leaves.items()}
    flat, whole = RoutingTable(labels), RoutingTable({name: with_one_filter(one) for name, one in labels.items()})

    async def search(text: str, routing: Routing) -> tuple[Answer, int]:
        answer = await client.search(root, text, LIMIT, routing=routing, raw=True, deadline=120.0)
        return answer, len({one.path[-1] for one in answer.asked} & set(sites.leaves))

    found = []
    for query in queries:
        answer, asked = await search(query.text, "filters")
        by_terms, asked_by_terms = await search(query.text, "terms")
        truth = sites.matching(query.text)
        one = Routed(
            sites.rarest(query.text), set().union(*truth.values()), sites.named(answer), answer.total,
            bool(answer.partial), len(truth), asked, len(flat.judge(parse_query(query.text)).ask),
            len(whole.judge(parse_query(query.text)).ask), sites.named(by_terms), asked_by_terms,
            all(bag_forms(query.text.split(), preset_strategy(TERM_PRESET))),
        )  # fmt: skip
        found.append(one)
    return found


def _per_holding(some: Sequence[Routed], count: Callable[[Routed], int]) -> str:
    """Sites asked for each that holds a match: ratio of sums, mean of ratios."""
    sums = sum(map(count, some)) / max(sum(one.holding for one in some), 1)
    ratios = [count(one) / one.holding for one in some if one.holding]
    return f"{sums:.2f}, {np.mean(ratios):.2f}" if ratios else ""


def _told(some: Sequence[Routed]) -> str:
    """Recall by heaviest terms: of all documents, and in the mean over queries."""
    shares = [len(one.expected & one.by_terms) / len(one.expected) for one in some if one.expected]
    kept = sum(len(one.expected & one.by_terms) for one in some)
    every = max(sum(len(one.expected) for one in some), 1)
    return f"({len(some):,}) {kept / every:.3f} of documents, {np.mean(shares or [0.0]):.3f} in the mean over queries"


def report(routed: Sequence[Routed], sites: int) -> None:
    """Print the table."""
    row("rarest word on", "queries", "documents", "recall", "lost", "extra", "sites asked per site that holds a match",
        "share of sites asked", "sub-clusters' filters, flat", "one filter per site", "recall by heaviest terms",
        "sites asked by these")  # fmt: skip
    row("---", *["---:"] * 11)
    for low, high in (*BANDS, (0, 10**9)):
        some = [one for one in routed if low <= one.rarest <= high]
        if not some:
            continue
        documents = sum(len(one.expected) for one in some)
        kept = sum(len(one.expected & one.found) for one in some)
        by_terms = sum(len(one.expected & one.by_terms) for one in some)
        name = (
            "all"
            if not low
            else f"{low} page"
            if low == high
            else f"{low}-{high} pages"
            if high < 10**9
            else f"> {low - 1}"
        )
        row(
            name, len(some), f"{documents:,}", f"{kept / max(documents, 1):.4f}", documents - kept,
            sum(len(one.found - one.expected) for one in some), _per_holding(some, lambda one: one.asked),
            f"{sum(one.asked for one in some) / len(some) / sites:.1%}", _per_holding(some, lambda one: one.flat),
            _per_holding(some, lambda one: one.whole), f"{by_terms / max(documents, 1):.3f}",
            _per_holding(some, lambda one: one.asked_by_terms),
        )  # fmt: skip
    ratio = sum(one.asked for one in routed) / max(sum(one.holding for one in routed), 1)
    mean = float(np.mean([one.asked / one.holding for one in routed if one.holding] or [0.0]))
    off = sum(one.total != len(one.expected) for one in routed)
    told = [_told(some) for some in (routed, [one for one in routed if one.content])]
    print(f"""
Pairs of figures are the ratio of sums and the mean of ratios over queries.
{off:,} answers tell another total than there are documents; {sum(one.partial for one in routed):,} are marked partial.
Recall by heaviest terms: all queries {told[0]}; those without stop words {told[1]}.
sites asked per site that holds a match: {ratio:.2f} and {mean:.2f} (wanted: at most {WANTED_ASKED:g}{
        "" if max(ratio, mean) <= WANTED_ASKED else ", **missed**"
    })""")
