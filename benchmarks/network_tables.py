"""The paper's two tables of a network: sizes of labels and their parts (Table 2), times of operations (Table 3)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from growth import row
from network_running import Call, Client, items_of
from network_sites import Drawn, Sites
from pagekin.collection import (
    Answer,
    RefineRequest,
    RelatedRequest,
    Request,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
)
from pagekin.labels import label_from_wire, label_part, label_to_json, label_to_sexpr
from pagekin.routers import Network

PAPER_SIZES = {0: (410, 3509, 3378), 1: (678, 3937, 4003), 2: (630, 4005, 4057)}
"""Table 2, KB: content labels, routing, refinement."""
OPERATIONS = ("select", "expand", "search", "refine", "suggest", "related", "show")
PAPER_SECONDS = {
    "select": (1, 1, 1), "expand": (1, 3, 2), "search": (1, 2, 6), "refine": (6, 11, 18), "suggest": (5, 10, 18),
}  # fmt: skip
"""Table 3, whole seconds, at levels 0, 1 and 2."""
WANTED_MS = 100.0
DEADLINE = 30.0


def levels(network: Network) -> dict[str, list[str]]:
    """Nodes by what their level is called, the root last and by itself."""
    root = network.roots()[0].name
    found: dict[str, list[str]] = {}
    for node in sorted(network.nodes, key=lambda one: network.level_of(one.name)):
        if node.name != root:
            found.setdefault(str(network.level_of(node.name)), []).append(node.name)
    return {**found, f"root ({network.level_of(root)})": [root]}


async def sizes(client: Client, network: Network) -> None:
    """Table 2."""
    row("level", "nodes", "label, JSON", "label, S-expression", "label, wire", "routing", "refinement", "browsing",
        "paper: labels", "paper: routing", "paper: refinement")  # fmt: skip
    row("---", *["---:"] * 10)
    for level, names in levels(network).items():
        sums = np.zeros(6)
        for name in names:
            wire = await client.get(name, "label?form=wire")
            label = label_from_wire(wire)
            parts = [
                len(label_to_json(label_part(label, function))) for function in ("routing", "refinement", "browsing")
            ]
            sums += [len(label_to_json(label)), len(label_to_sexpr(label, filters=False).encode()), len(wire), *parts]
        paper = PAPER_SIZES.get(int(level)) if level.isdigit() else None
        row(level, len(names), *(f"{size / len(names) / 1000:,.0f}" for size in sums), *(paper or ("", "", "")))


@dataclass
class Times:
    """What calls took."""

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    client: float = 0.0
    faults: int = 0
    """Errors, and answers that are marked partial."""

    def note(self, call: Call) -> None:
        """Note one."""
        if call.status != 200:
            self.faults += 1
            return
        self.seconds.append(call.seconds)
        self.processor.append(call.processor)
        self.client += call.client
        self.faults += b'"partial":[' in call.body and b'"partial":[]' not in call.body

    def percentiles(self) -> tuple[float, float, float]:
        """p50, p95 and the longest, in ms."""
        p50, p95, longest = np.percentile(self.seconds, [50, 95, 100]) * 1000
        return float(p50), float(p95), float(longest)


async def _all_operations(client: Client, node: str, query: Drawn, times: dict[str, Times]) -> None:
    """Ask a node for each operation, one after another; later ones start from what the search found."""

    async def timed(operation: str, request: Request) -> Call:
        call = await client.call(node, operation, request)
        times[operation].note(call)
        return call

    await timed("select", SelectRequest(query=query.text, deadline=DEADLINE))
    await timed("expand", SelectRequest(query=query.text, deadline=DEADLINE))
    found = await timed("search", SearchRequest(query=query.text, deadline=DEADLINE))
    answer = found.told(Answer)
    await timed("refine", RefineRequest(query=query.text, deadline=DEADLINE))
    if not answer.results:
        return
    items = items_of(answer)
    await timed("show", ShowRequest(query=query.text, items=items, deadline=DEADLINE))
    await timed("suggest", SuggestRequest(items=items, deadline=DEADLINE))
    await timed("related", RelatedRequest(url=items[0].url, path=items[0].path, deadline=DEADLINE))


async def warm(client: Client, sites: Sites) -> None:
    """Ask every node for everything once."""
    ignored: defaultdict[str, Times] = defaultdict(Times)
    rng = np.random.default_rng(0)
    for node in sites.network.nodes:
        below = [leaf.name for leaf in sites.network.leaves_below(node.name) if leaf.name in sites.leaves]
        if below:
            await _all_operations(client, node.name, sites.draw(rng, stop_words=False, sites=below), ignored)


def queries_at(sites: Sites, names: Sequence[str], count: int, seed: int) -> list[tuple[str, Drawn]]:
    """Nodes among some, by their pages, each with a query from a page below it."""
    rng = np.random.default_rng(seed)
    below = {
        name: [leaf.name for leaf in sites.network.leaves_below(name) if leaf.name in sites.leaves] for name in names
    }
    pages = np.array([sum(len(sites.leaves[leaf].corpus) for leaf in below[name]) for name in names], float)
    chosen = rng.choice(len(names), count, p=pages / pages.sum())
    return [(names[at], sites.draw(rng, stop_words=False, sites=below[names[at]])) for at in chosen.tolist()]


async def operation_times(client: Client, sites: Sites, count: int, seed: int) -> None:
    """Table 3."""
    found: dict[str, defaultdict[str, Times]] = {}
    for level, names in levels(sites.network).items():
        if level.isdigit() and int(level) > max(PAPER_SIZES):
            continue
        times = found[level] = defaultdict(Times)
        for node, query in queries_at(sites, names, count, seed):
            await _all_operations(client, node, query, times)
    row(
        "operation",
        "level",
        "calls",
        "p50, ms",
        "p95, ms",
        "longest, ms",
        "processor p50",
        "p95",
        "wanted p95",
        "failed or partial",
        "client's share",
        "paper, s",
    )
    row("---", "---", *["---:"] * 10)
    for operation in OPERATIONS:
        for level, times in found.items():
            one = times[operation]
            if not one.seconds:
                row(operation, level, 0, *[""] * 5, "**no answer**", one.faults, "", "")
                continue
            p50, p95, longest = one.percentiles()
            paper = PAPER_SECONDS.get(operation, ("", "", ""))[int(level)] if level.isdigit() else ""
            row(
                operation, level, len(one.seconds), f"{p50:.1f}", f"{p95:.1f}", f"{longest:.0f}",
                *(f"{ms:.1f}" for ms in np.percentile(one.processor, [50, 95]) * 1000),
                f"{WANTED_MS:g}" if p95 <= WANTED_MS else f"{WANTED_MS:g}, **missed**",
                one.faults, f"{one.client / sum(one.seconds):.0%}", paper,
            )  # fmt: skip
