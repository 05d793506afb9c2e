"""A network in trouble: sites that are gone, sites that hang and a router that lies, while it is asked."""

import asyncio
import itertools
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import numpy as np

from growth import row
from network_running import Client, Running
from network_sites import Document, Drawn, Sites
from pagekin.collection import Answer, Hit, encode
from pagekin.routers import Network

DEADLINE, GRACE = 1.0, 0.1
DEAD, HANGING = 0.2, 0.1
"""Shares of the sites."""
MOST = 200
"""Documents that match a query, at most, so that all of them are in an answer."""
ASKERS = 4
"""Queries at the same time."""
_PATIENCE = 180.0


class Liar(BaseHTTPRequestHandler):
    """Answers nonsense of several kinds, one after another: noise, other shapes, too deep, invented, an error, a drip."""

    protocol_version = "HTTP/1.1"
    turns: ClassVar[Iterator[int]] = itertools.count()
    INVENTED = "http://invented.example/"

    def do_GET(self) -> None:
        """Lie about the label."""
        self._tell(random.Random(1).randbytes(2000))

    def do_POST(self) -> None:
        """Lie about the answer."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        turn = next(Liar.turns) % 6
        if turn == 5:
            self._drip()
            return
        invented = Hit(kind="document", url=self.INVENTED, title="\x1b[31mred", score=1e9, path=("root",) * 3)
        wicked = Hit(kind="document", url="javascript:alert(1)", score=2e9)
        self._tell(
            [
                random.Random(2).randbytes(5000), b'{"results":[{"kind":5}],"total":"many"}', b"[" * 200_000,
                encode(Answer(total=2**40, results=(invented, wicked))), b'{"detail":"no"}',
            ][turn],
            500 if turn == 4 else 200,
        )  # fmt: skip

    def _tell(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        """A body that never ends."""
        self.send_response(200)
        self.send_header("Content-Length", str(10**6))
        self.end_headers()
        try:
            for _ in range(100):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.1)
        except OSError:
            self.close_connection = True

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_arguments: object) -> None:
        """Callers who leave are no news."""


@dataclass(frozen=True)
class Plan:
    """What goes wrong."""

    dead: list[str]
    hanging: list[str]
    liar: str
    below_liar: set[str]
    others: list[list[str]]
    """The rest, by process."""

    @classmethod
    def of(cls, network: Network, sites: Sites, processes: int, seed: int) -> "Plan":
        """Sites drawn at random, and the largest router with at most a tenth of the sites."""
        names = [str(name) for name in np.random.default_rng(seed).permutation(sorted(sites.leaves))]
        dead, hanging = round(DEAD * len(names)), round(HANGING * len(names))
        routers = [node for node in network.nodes if not node.leaf and node.parents]
        below = {node.name: {leaf.name for leaf in network.leaves_below(node.name)} for node in routers}
        fit_answer = [name for name, leaves in below.items() if len(leaves) <= max(len(names) / 10, 2)]
        if not fit_answer:
            raise SystemExit("the network has no router between the root and a tenth of the sites, so none can lie")
        liar = max(fit_answer, key=lambda name: (len(below[name]), name))
        rest = names[dead + hanging :]
        parts = [rest[number::processes] for number in range(processes)]
        parts[0] = [node.name for node in network.nodes if not node.leaf and node.name != liar] + parts[0]
        return cls(names[:dead], names[dead : dead + hanging], liar, below[liar], [part for part in parts if part])


@dataclass(frozen=True)
class Outcome:
    """One query."""

    query: Drawn
    seconds: float
    wrong: int
    """Documents of living sites that are missing, and others that should not be there, outside what the liar leads to."""
    missing: bool
    """Whether documents are missing of sites that the liar does not lead to."""
    missing_below_liar: bool
    partial: bool


class Trial:
    """The same queries, asked when all is well and when it is not."""

    def __init__(self, client: Client, sites: Sites, root: str, plan: Plan, queries: Sequence[Drawn]) -> None:
        self.client, self.sites, self.root, self.plan, self.queries = client, sites, root, plan, queries
        self.truth = {query.text: sites.matching(query.text) for query in queries}

    async def ask(self, query: Drawn, living: set[str]) -> Outcome:
        """Ask one query, and compare with the sites that live."""
        began = time.perf_counter()
        answer = await self.client.search(self.root, query.text, 2 * MOST, deadline=DEADLINE)
        seconds = time.perf_counter() - began
        found = {one for one in self.sites.named(answer) if one[0]}
        by_site = self.truth[query.text]

        def outside(documents: set[Document]) -> set[Document]:
            return {one for one in documents if one[0] not in self.plan.below_liar}

        every: set[Document] = set().union(*by_site.values())
        alive: set[Document] = set().union(*(documents for site, documents in by_site.items() if site in living))
        return Outcome(
            query, seconds, len(outside(found) ^ outside(alive)), bool(outside(every) - found),
            bool((every - outside(every)) - found), bool(answer.partial),
        )  # fmt: skip

    async def run(self, living: set[str]) -> list[Outcome]:
        """Ask all, several at a time."""
        waiting = iter(self.queries)

        async def asker() -> list[Outcome]:
            return [await self.ask(query, living) for query in waiting]

        return [one for some in await asyncio.gather(*(asker() for _ in range(ASKERS))) for one in some]

    async def until_whole(self, queries: Sequence[Drawn]) -> float:
        """Seconds until the answers to some queries are whole."""
        began = time.perf_counter()
        waiting = list(queries)
        while waiting:
            if time.perf_counter() - began > _PATIENCE:
                print(f"{len(waiting):,} answers were not whole after {_PATIENCE:.0f} s", file=sys.stderr)
                break
            outcome = await self.ask(waiting[-1], set(self.sites.leaves))
            if outcome.partial or outcome.missing or outcome.missing_below_liar:
                await asyncio.sleep(0.2)
            else:
                waiting.pop()
        return time.perf_counter() - began


def _share(some: Sequence[bool]) -> str:
    return f"{np.mean(some):.1%} of {len(some)}" if some else "none"


def report(name: str, outcomes: Sequence[Outcome]) -> None:
    """Print a row."""
    seconds = [one.seconds for one in outcomes]
    p50, p95, longest = np.percentile(seconds, [50, 95, 100])
    row(
        name, len(outcomes), f"{p50:.3f}", f"{p95:.3f}", f"{longest:.3f}",
        f"{np.mean([one <= DEADLINE + GRACE for one in seconds]):.1%}",
        f"{np.mean([one.wrong == 0 for one in outcomes]):.1%}",
        _share([one.partial for one in outcomes if one.missing]),
        _share([one.partial for one in outcomes if one.missing_below_liar and not one.missing]),
        _share([one.partial for one in outcomes if not (one.missing or one.missing_below_liar)]),
    )  # fmt: skip


async def faults(network: Network, sites: Sites, processes: int, count: int, seed: int, refresh: float) -> None:
    """Break the network, and mend it."""
    root = network.roots()[0].name
    plan = Plan.of(network, sites, processes, seed)
    queries = sites.draws(
        seed, count, False, fits=lambda text: 0 < sum(map(len, sites.matching(text).values())) <= MOST
    )
    with Running(network, refresh) as running:
        others = [running.launch(names) for names in plan.others]
        dead, hanging, honest = (running.launch(names) for names in (plan.dead, plan.hanging, [plan.liar]))
        running.wait([*others, dead, hanging, honest])
        async with Client(network) as client:
            await client.until_known(root, sites.documents)
            trial = Trial(client, sites, root, plan, queries)
            everyone = set(sites.leaves)
            await trial.run(everyone)
            row("", "queries", "p50, s", "p95, s", "longest, s", f"within {DEADLINE + GRACE:g} s", "exactly the living",
                "marked, if sites' documents are missing", "if only the liar's are", "marked, though nothing is missing",
            )  # fmt: skip
            row("---", *["---:"] * 9)
            report("all is well", await trial.run(everyone))
            dead.end()
            hanging.send(signal.SIGSTOP)
            honest.end()
            port = int(network.by_name[plan.liar].url.rstrip("/").rpartition(":")[2])
            fake = _Quiet(("127.0.0.1", port), Liar)
            threading.Thread(target=fake.serve_forever, daemon=True).start()
            living = everyone - set(plan.dead) - set(plan.hanging)
            first = await trial.run(living)
            report("in trouble", first)
            fake.shutdown()
            fake.server_close()
            hanging.send(signal.SIGCONT)
            revived = [running.launch(plan.dead), running.launch([plan.liar])]
            began = time.perf_counter()
            running.wait(revived)
            listening = time.perf_counter() - began
            hurt = [one.query for one in first if one.partial or one.missing or one.missing_below_liar]
            whole = listening + await trial.until_whole(hurt)
            report("mended", await trial.run(everyone))
    print(f"""
{len(plan.dead)} sites killed, {len(plan.hanging)} stopped, {plan.liar} with {len(plan.below_liar)} sites lies; {
        ASKERS
    } queries at a time, each with a deadline of {DEADLINE:g} s
mended: all listen again after {listening:.1f} s, and the {len(hurt)} answers that had suffered are whole after {
        whole:.1f} s""")
