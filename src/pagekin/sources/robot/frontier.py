"""The frontier: every address that the crawl has met, and what became of it, in a file that survives a kill.

It is an SQLite database in WAL mode. A page, the addresses that it leads to and the length of the archive with it are
written in one transaction, so after a kill the file tells exactly what the archive holds; what was under way at that
moment is still in the queue.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pagekin.sources.robot.plan import CrawlError

QUEUED, KEPT, FETCHED, REFUSED = 0, 1, 2, 3
"""States of an address: waiting; a page in the archive; asked for, but no page; not to be asked for."""

NOFOLLOW = "nofollow"
MANY_QUERIES = "many queries"
VERSION = 1

_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE urls (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, origin TEXT NOT NULL, depth INTEGER NOT NULL, hops TEXT NOT NULL,
    via TEXT NOT NULL, state INTEGER NOT NULL, reason TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
    due REAL NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, cut TEXT NOT NULL DEFAULT '',
    archived INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX queue ON urls (origin, state, depth, id);
CREATE TABLE paths (path TEXT PRIMARY KEY, queries INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE origins (
    origin TEXT PRIMARY KEY, status INTEGER NOT NULL, body BLOB NOT NULL, fetched REAL NOT NULL, tries INTEGER NOT NULL
) WITHOUT ROWID;
"""
_ADD = """
INSERT INTO urls (url, origin, depth, hops, via, state, reason) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (url) DO UPDATE SET depth = excluded.depth, hops = excluded.hops, via = excluded.via,
    state = excluded.state, reason = excluded.reason
WHERE (urls.state = 0 AND excluded.state = 0 AND excluded.depth < urls.depth)
    OR (urls.state = 3 AND urls.reason = 'nofollow' AND excluded.state = 0)
"""


@dataclass(frozen=True, slots=True)
class Found:
    """An address that was found on the way."""

    url: str
    origin: str
    depth: int
    hops: str
    """How it was reached from the root: L for each link, R for each redirect."""
    via: str
    refused: str = ""
    """Why it is not to be asked for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An address in the queue."""

    id: int
    url: str
    origin: str
    depth: int
    hops: str
    via: str
    tries: int


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """What came of asking an origin for its robots.txt: status 0 means that nothing came."""

    status: int
    body: bytes
    fetched: float
    tries: int


class Frontier:
    """An open frontier; only one process at a time can have it open."""

    def __init__(self, path: Path) -> None:
        """Open the file at `path`, or make it."""
        self.path = path
        try:
            self._db = sqlite3.connect(path, isolation_level=None, timeout=1)
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            with self.change():
                if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'urls'").fetchone():
                    for statement in _SCHEMA.split(";"):
                        self._db.execute(statement)
                    self.note("version", VERSION)
            if self.fact("version") != VERSION:
                raise CrawlError(f"{path} was made by another version of Pagekin: finish with that, or crawl anew.")
        except sqlite3.OperationalError as error:
            raise CrawlError(_explained(path, error)) from None
        except sqlite3.DatabaseError:
            raise CrawlError(f"{path} is no state of a crawl: remove it, or choose another name to crawl to.") from None
        self.known: int = self._one("SELECT COUNT(*) FROM urls")

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """A transaction: all of it is written, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _one(self, query: str, *values: Any) -> Any:
        row = self._db.execute(query, values).fetchone()
        return row[0] if row else None

    # facts about the whole crawl

    def fact(self, name: str) -> Any:
        """A noted fact, or None."""
        text = self._one("SELECT value FROM facts WHERE name = ?", name)
        return None if text is None else json.loads(text)

    def note(self, name: str, value: Any) -> None:
        """Note a fact."""
        self._db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    # addresses

    def add(self, found: Iterable[Found], most_queries: int, most_addresses: int) -> set[str]:
        """Remember addresses; the origins that have more to ask for now.

        An address that is known already stays as it is, but for one in the queue that turns out to be nearer.
        """
        origins: set[str] = set()
        dropped = 0
        for each in found:
            refused = each.refused
            known = self._db.execute("SELECT state FROM urls WHERE url = ?", (each.url,)).fetchone()
            if known is None:
                if self.known >= most_addresses:
                    dropped += 1
                    continue
                self.known += 1
                refused = refused or self._one_more_query(each.url, most_queries)
            state = REFUSED if refused else QUEUED
            row = (each.url, each.origin, each.depth, each.hops, each.via, state, refused)
            self._db.execute(_ADD, row)
            if not refused:
                origins.add(each.origin)
        if dropped:
            self.note("dropped", (self.fact("dropped") or 0) + dropped)
        return origins

    def _one_more_query(self, url: str, most: int) -> str:
        """Count an address among those that differ in their query alone; a reason if they are too many."""
        path, mark, _query = url.partition("?")
        if not mark:
            return ""
        count: int = self._one("SELECT queries FROM paths WHERE path = ?", path) or 0
        if count >= most:
            return MANY_QUERIES
        self._db.execute("INSERT OR REPLACE INTO paths VALUES (?, ?)", (path, count + 1))
        return ""

    def head(self, origin: str, now: float, depth: int) -> Entry | None:
        """The first address of an origin that may be asked for at the time `now`, the shallowest first."""
        row = self._db.execute(
            "SELECT id, url, origin, depth, hops, via, tries FROM urls "
            "WHERE origin = ? AND state = 0 AND depth <= ? AND due <= ? ORDER BY depth, id LIMIT 1",
            (origin, depth, now),
        ).fetchone()
        return Entry(*row) if row else None

    def next_due(self, origin: str, depth: int) -> float | None:
        """When the next address of an origin may be asked for, or None if none is left."""
        due: float | None = self._one(
            "SELECT MIN(due) FROM urls WHERE origin = ? AND state = 0 AND depth <= ?", origin, depth
        )
        return due

    def origins(self, depth: int) -> set[str]:
        """The origins that have addresses in the queue."""
        rows = self._db.execute("SELECT DISTINCT origin FROM urls WHERE state = 0 AND depth <= ?", (depth,))
        return {origin for (origin,) in rows}

    def refuse(self, entry: Entry, reason: str) -> None:
        """Take an address out of the queue without asking for it."""
        self._db.execute("UPDATE urls SET state = ?, reason = ? WHERE id = ?", (REFUSED, reason, entry.id))

    def finish(self, entry: Entry, reason: str, size: int, cut: str, archived: int) -> None:
        """An address was asked for: kept as a page if there is no reason against it."""
        self._db.execute(
            "UPDATE urls SET state = ?, reason = ?, tries = tries + 1, bytes = bytes + ?, cut = ?, archived = ? "
            "WHERE id = ?",
            (FETCHED if reason else KEPT, reason, size, cut, archived, entry.id),
        )
        self.note("archived", archived)

    def postpone(self, entry: Entry, due: float, size: int = 0) -> None:
        """An address was asked for in vain and goes back into the queue until `due`."""
        self._db.execute(
            "UPDATE urls SET tries = tries + 1, due = ?, bytes = bytes + ? WHERE id = ?", (due, size, entry.id)
        )

    def requeue_after(self, length: int) -> int:
        """Put back what an archive of `length` bytes does not hold; where the last record it holds ends."""
        end: int = self._one("SELECT MAX(archived) FROM urls WHERE archived <= ?", length) or 0
        with self.change():
            self._db.execute("UPDATE urls SET state = 0, reason = '', archived = 0 WHERE archived > ?", (end,))
            self.note("archived", end)
        return end

    # robots.txt

    def robots(self, origin: str) -> RobotsFile | None:
        """What is known of an origin's robots.txt."""
        row = self._db.execute(
            "SELECT status, body, fetched, tries FROM origins WHERE origin = ?", (origin,)
        ).fetchone()
        return RobotsFile(*row) if row else None

    def note_robots(self, origin: str, status: int, body: bytes, fetched: float, tries: int) -> None:
        """Keep what came of asking for an origin's robots.txt; `tries` counts the requests."""
        before = self.robots(origin)
        tries += before.tries if before else 0
        self._db.execute(
            "INSERT OR REPLACE INTO origins VALUES (?, ?, ?, ?, ?)", (origin, status, body, fetched, tries)
        )

    # counts

    def counts(self, state: int) -> dict[str, int]:
        """How many addresses are in a state, by reason, the most frequent first."""
        rows = self._db.execute(
            "SELECT reason, COUNT(*) AS n FROM urls WHERE state = ? GROUP BY reason ORDER BY n DESC, reason", (state,)
        )
        return dict(rows.fetchall())

    def cuts(self) -> dict[str, int]:
        """How many kept pages lack their end, by reason."""
        rows = self._db.execute(
            "SELECT cut, COUNT(*) FROM urls WHERE state = 1 AND cut != '' GROUP BY cut ORDER BY cut"
        )
        return dict(rows.fetchall())

    def queued(self, depth: int) -> tuple[int, int]:
        """(addresses in the queue, those that lie too deep)."""
        deep: int = self._one("SELECT COUNT(*) FROM urls WHERE state = 0 AND depth > ?", depth)
        return int(self._one("SELECT COUNT(*) FROM urls WHERE state = 0")) - deep, deep

    def totals(self) -> tuple[int, int, int]:
        """(kept pages, requests, bytes of bodies)."""
        row = self._db.execute("SELECT COALESCE(SUM(state = 1), 0), COALESCE(SUM(tries), 0), COALESCE(SUM(bytes), 0) "
                               "FROM urls").fetchone()  # fmt: skip
        return row[0], row[1] + (self._one("SELECT SUM(tries) FROM origins") or 0), row[2]

    def state_of(self, url: str) -> tuple[int, str] | None:
        """(state, reason) of an address, or None if it was never met."""
        row: tuple[int, str] | None = self._db.execute(
            "SELECT state, reason FROM urls WHERE url = ?", (url,)
        ).fetchone()
        return row


def _explained(path: Path, error: sqlite3.OperationalError) -> str:
    if "locked" in str(error):
        return f"{path} is in use: another crawl is writing to it."
    return f"{path} cannot be written: {error}."
