"""The frontier: every address that the crawl has seen and what became of it, in a file that survives a kill.

It is an SQLite database in WAL mode. A page, the addresses it links to and the new length of the archive are written in
one transaction. After a kill the file says exactly what the archive holds, and the pages that were being fetched are
still in the queue.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from pagekin.sources.robot.plan import CrawlError

QUEUED, KEPT, FETCHED, REFUSED = 0, 1, 2, 3
"""States of an address: waiting; a page in the archive; fetched, but no page; not to be fetched."""

NOFOLLOW = "nofollow"
MANY_QUERIES = "many queries"
VERSION = 1

_ADD = """
INSERT INTO urls (url, origin, depth, hops, via, state, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (url) DO UPDATE SET depth = excluded.depth, hops = excluded.hops, via = excluded.via,
    state = excluded.state, reason = excluded.reason
WHERE (urls.state = 0 AND excluded.state = 0 AND excluded.depth < urls.depth)
    OR (urls.state = 3 AND urls.reason = 'nofollow' AND excluded.state = 0)
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """An address that a link or a redirect leads to."""

    url: str
    origin: str
    depth: int
    hops: str
    """The way from the root: L for each link, R for each redirect."""
    via: str
    refusal: str = ""
    """Why it must not be fetched; nothing of one in the queue."""
    id: int = 0
    """Its number in the queue."""
    tries: int = 0


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The response to the last request for an origin's robots.txt; status 0 means that none came."""

    status: int
    body: bytes
    fetched: float
    tries: int


class Frontier:
    """An open frontier, locked by one process."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`, or create it."""
        self.path = path
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=1)
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            with self.transaction():
                if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'urls'").fetchone():
                    for statement in (files(__package__) / "frontier.sql").read_text().split(";"):
                        self._db.execute(statement)
                    self.set_fact("version", VERSION)
            if self.get_fact("version") != VERSION:
                raise CrawlError(
                    f"{path} was written by another version of Pagekin: finish the crawl with that one, or begin a new one."
                )
        except sqlite3.OperationalError as error:
            raise CrawlError(_explain(path, error)) from None
        except sqlite3.DatabaseError:
            raise CrawlError(
                f"{path} is not the state of a crawl: remove it, or choose another name for the archive."
            ) from None
        self._size: int = self._scalar("SELECT COUNT(*) FROM urls")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all changes made inside the block, or none."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _scalar(self, query: str, *values: Any) -> Any:
        row = self._db.execute(query, values).fetchone()
        return row[0] if row else None

    # facts about the whole crawl

    def get_fact(self, name: str) -> Any:
        """Return a fact, or None if it was never set."""
        text = self._scalar("SELECT value FROM facts WHERE name = ?", name)
        return None if text is None else json.loads(text)

    def set_fact(self, name: str, value: Any) -> None:
        """Set a fact; its value becomes JSON."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    # addresses

    def add(self, discoveries: Iterable[Entry], most_queries: int, most_addresses: int) -> set[str]:
        """Add addresses; return the origins of those that are now in the queue.

        A known address stays as it is, unless it waits in the queue and the new way to it is shorter.
        """
        origins: set[str] = set()
        dropped = 0
        for each in discoveries:
            refusal = each.refusal
            known = self._db.execute("SELECT state FROM urls WHERE url = ?", (each.url,)).fetchone()
            if known is None:
                if self._size >= most_addresses:
                    dropped += 1
                    continue
                self._size += 1
                refusal = refusal or self._count_query(each.url, most_queries)
            state = REFUSED if refusal else QUEUED
            row = (each.url, each.origin, each.depth, each.hops, each.via, state, refusal)
            self._db.execute(_ADD, row)
            if not refusal:
                origins.add(each.origin)
        if dropped:
            self.set_fact("dropped", (self.get_fact("dropped") or 0) + dropped)
        return origins

    def _count_query(self, url: str, most: int) -> str:
        """Count an address among those that differ only in their query; return a refusal if there are too many."""
        path, mark, _query = url.partition("?")
        if not mark:
            return ""
        count: int = self._scalar("SELECT queries FROM paths WHERE path = ?", path) or 0
        if count >= most:
            return MANY_QUERIES
        self._db.execute("INSERT OR REPLACE INTO paths VALUES (?, ?)", (path, count + 1))
        return ""

    def first_due(self, origin: str, now: float, depth: int) -> Entry | None:
        """Return the shallowest address of an origin that may be fetched at the time `now`."""
        row = self._db.execute(
            "SELECT url, origin, depth, hops, via, reason, id, tries FROM urls "
            "WHERE origin = ? AND state = 0 AND depth <= ? AND due <= ? ORDER BY depth, id LIMIT 1",
            (origin, depth, now),
        ).fetchone()
        return Entry(*row) if row else None

    def next_due_time(self, origin: str, depth: int) -> float | None:
        """Return when the next address of an origin may be fetched, or None if none is left."""
        due: float | None = self._scalar(
            "SELECT MIN(due) FROM urls WHERE origin = ? AND state = 0 AND depth <= ?", origin, depth
        )
        return due

    def queued_origins(self, depth: int) -> set[str]:
        """Return the origins that have addresses in the queue."""
        rows = self._db.execute("SELECT DISTINCT origin FROM urls WHERE state = 0 AND depth <= ?", (depth,))
        return {origin for (origin,) in rows}

    def refuse(self, entry: Entry, reason: str) -> None:
        """Take an address out of the queue without fetching it."""
        self._db.execute("UPDATE urls SET state = ?, reason = ? WHERE id = ?", (REFUSED, reason, entry.id))

    def finish(self, entry: Entry, reason: str, size: int, cut: str, archived: int) -> None:
        """Take a fetched address out of the queue; it counts as a page if `reason` is empty."""
        self._db.execute(
            "UPDATE urls SET state = ?, reason = ?, tries = tries + 1, bytes = bytes + ?, cut = ?, archived = ? "
            "WHERE id = ?",
            (FETCHED if reason else KEPT, reason, size, cut, archived, entry.id),
        )
        self.set_fact("archived", archived)

    def postpone(self, entry: Entry, due: float, size: int = 0) -> None:
        """Keep an address in the queue after a failed request, to be fetched again at the time `due`."""
        self._db.execute(
            "UPDATE urls SET tries = tries + 1, due = ?, bytes = bytes + ? WHERE id = ?", (due, size, entry.id)
        )

    def requeue_after(self, length: int) -> int:
        """Queue again what lies after `length` bytes of the archive; return where its last whole record ends."""
        end: int = self._scalar("SELECT MAX(archived) FROM urls WHERE archived <= ?", length) or 0
        with self.transaction():
            self._db.execute("UPDATE urls SET state = 0, reason = '', archived = 0 WHERE archived > ?", (end,))
            self.set_fact("archived", end)
        return end

    # robots.txt

    def get_robots(self, origin: str) -> RobotsFile | None:
        """Return what is known about an origin's robots.txt, or None."""
        row = self._db.execute(
            "SELECT status, body, fetched, tries FROM origins WHERE origin = ?", (origin,)
        ).fetchone()
        return RobotsFile(*row) if row else None

    def set_robots(self, origin: str, status: int, body: bytes, fetched: float, tries: int) -> None:
        """Store an origin's robots.txt; `tries` is the number of requests made for it."""
        before = self.get_robots(origin)
        tries += before.tries if before else 0
        self._db.execute(
            "INSERT OR REPLACE INTO origins VALUES (?, ?, ?, ?, ?)", (origin, status, body, fetched, tries)
        )

    # counts

    def count_by_reason(self, state: int) -> dict[str, int]:
        """Count the addresses in a state by reason, the most frequent first."""
        rows = self._db.execute(
            "SELECT reason, COUNT(*) AS n FROM urls WHERE state = ? GROUP BY reason ORDER BY n DESC, reason", (state,)
        )
        return dict(rows.fetchall())

    def count_cut_pages(self) -> dict[str, int]:
        """Count the stored pages whose end is missing, by reason."""
        rows = self._db.execute(
            "SELECT cut, COUNT(*) FROM urls WHERE state = 1 AND cut != '' GROUP BY cut ORDER BY cut"
        )
        return dict(rows.fetchall())

    def count_queued(self, depth: int) -> tuple[int, int]:
        """Return (the number of addresses in the queue, those among them deeper than `depth`)."""
        deep: int = self._scalar("SELECT COUNT(*) FROM urls WHERE state = 0 AND depth > ?", depth)
        return int(self._scalar("SELECT COUNT(*) FROM urls WHERE state = 0")) - deep, deep

    def totals(self) -> tuple[int, int, int]:
        """Return (kept pages, requests, bytes of bodies)."""
        row = self._db.execute("SELECT COALESCE(SUM(state = 1), 0), COALESCE(SUM(tries), 0), COALESCE(SUM(bytes), 0) "
                               "FROM urls").fetchone()  # fmt: skip
        return row[0], row[1] + (self._scalar("SELECT SUM(tries) FROM origins") or 0), row[2]

    def state_of(self, url: str) -> tuple[int, str] | None:
        """Return (state, reason) of an address, or None if it is unknown."""
        row: tuple[int, str] | None = self._db.execute(
            "SELECT state, reason FROM urls WHERE url = ?", (url,)
        ).fetchone()
        return row


def _explain(path: Path, error: sqlite3.OperationalError) -> str:
    if "locked" in str(error):
        return f"{path} is in use: another crawl is writing to it."
    return f"{path} cannot be written: {error}."
