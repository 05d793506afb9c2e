"""A crawl: what to ask for next, and what to make of the answers. It knows nothing of the network's machinery."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from pagekin.sources.http import HTML_TYPES, BodyError, decode_body, looks_like_html, media_type
from pagekin.sources.limits import Limits
from pagekin.sources.robot.addresses import Scope, clean_url, has_credentials, place_of, trap
from pagekin.sources.robot.archive import Archive, crawl_info
from pagekin.sources.robot.fetched import NOT_ALLOWED, REDIRECTS, Exchange, FetchError
from pagekin.sources.robot.frontier import FETCHED, NOFOLLOW, QUEUED, REFUSED, Entry, Found, Frontier
from pagekin.sources.robot.links import Link, Told, read_page
from pagekin.sources.robot.origins import ROBOTS_AGE, Host, Origin, robots_fault, robots_text
from pagekin.sources.robot.plan import CrawlError, CrawlPlan
from pagekin.sources.robot.report import CrawlReport

_ROBOTS_TYPES = frozenset({"", "text/plain"})
_OTHER_BYTES = 64 << 10
"""Bytes that are kept of the body of a redirect or an error."""
_DEAD_AFTER = 8
"""Failures in a row after which an origin is left alone."""
_PLAIN_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80}")
_PASSING = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Task:
    """A request to make: for a page, or for an origin's robots.txt."""

    origin: str
    host: str
    depth: int
    entry: Entry | None = None


class Crawl:
    """A crawl under way: the frontier, the archive, and when each host may be asked."""

    def __init__(self, plan: CrawlPlan, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin or resume the crawl of `plan`; CrawlError says why it cannot."""
        self.plan = plan
        self.limits = plan.limits
        self._clock = clock
        self._begun = clock()
        self._hosts: dict[str, Host] = {}
        self._origins: dict[str, Origin] = {}
        self._running: list[Task] = []
        self.stopped = ""
        self.resumed = plan.state.exists()
        if plan.out.exists() and not self.resumed:
            raise CrawlError(
                f"{plan.out} exists, and no crawl that could go on ({plan.state.name} is missing): choose another name."
            )
        if not plan.out.parent.is_dir():
            raise CrawlError(f"{plan.out.parent} is no folder: make it first.")
        if self.resumed and not plan.out.exists() and plan.state.stat().st_size > 0:
            self._forget_an_empty_start()
        self.frontier = Frontier(plan.state)
        try:
            self._open()
        except BaseException:
            self.frontier.close()
            raise

    def _forget_an_empty_start(self) -> None:
        """A crawl that was killed before it had an archive begins anew; one whose archive is gone cannot go on."""
        frontier = Frontier(self.plan.state)
        archived = frontier.fact("archived")
        frontier.close()
        if archived:
            raise CrawlError(
                f"{self.plan.out} is gone, but {self.plan.state} says that it was crawled: put it back, or remove the "
                "latter to crawl anew."
            )

    def _open(self) -> None:
        plan, frontier = self.plan, self.frontier
        asked = frontier.fact("question")
        if asked is None:
            self.resumed = False
        elif asked != plan.question:
            other = ", ".join(f"{name} {asked.get(name)!r}" for name, value in plan.question.items()
                              if asked.get(name) != value)  # fmt: skip
            raise CrawlError(
                f"{plan.state} belongs to another crawl ({other}): give the same options to go on with it, or another "
                "name to crawl anew."
            )
        length = plan.out.stat().st_size if plan.out.exists() else 0
        archived: int = frontier.fact("archived") or 0
        if length < archived:  # the machine went down before the archive was on its disk
            archived = frontier.requeue_after(length)
        self.scope = Scope(plan.scope, frontier.fact("roots") or [plan.root], plan.include, plan.exclude)
        self.archive = Archive(plan.out, archived, crawl_info(plan))
        with frontier.change():
            frontier.note("question", plan.question)
            frontier.note("roots", self.scope.roots)
            frontier.note("archived", self.archive.length)
            frontier.add([Found(plan.root, place_of(plan.root).origin, 0, "", "")], 1, 1)
        self._active = frontier.origins(self.limits.depth)
        self.pages, self.requests, self.bytes = frontier.totals()

    def close(self) -> CrawlReport:
        """End this run, and say what came of it. A crawl that ended without a page leaves nothing behind."""
        report = self.report()
        self.archive.close()
        self.frontier.close()
        if not report.pages and not self.stopped:
            self.plan.out.unlink()
            self.plan.state.unlink()
        return report

    # what next

    def spent(self) -> str:
        """Which limit of the whole crawl is reached, or an empty string."""
        running = sum(task.entry is not None for task in self._running)
        if self.pages + running >= self.limits.pages:
            return "pages"
        if self.requests + len(self._running) >= self.limits.most_requests:
            return "requests"
        return "all_bytes" if self.bytes >= self.limits.all_bytes else ""

    @property
    def share(self) -> float:
        """About how much of the crawl is done: of its pages, requests or bytes, whichever is nearest to its limit."""
        limits = self.limits
        done = (self.pages / limits.pages, self.requests / limits.most_requests, self.bytes / limits.all_bytes)
        return min(1.0, max(done))

    def stop(self, why: str) -> None:
        """Ask for nothing more."""
        self.stopped = self.stopped or why

    def next_task(self) -> Task | None:
        """The next request that may be made now: the shallowest address of those whose hosts may be asked."""
        if self.stopped or len(self._running) >= self.limits.hosts or self.spent():
            return None
        best: tuple[int, int, Task] | None = None
        now = self._clock()
        for origin in sorted(self._active):
            task = self._first_of(origin, now)
            if task is not None:
                found = (task.depth, task.entry.id if task.entry else -1, task)
                best = found if best is None or found[:2] < best[:2] else best
        # A deeper page waits for the shallower ones under way: they may lead to pages that come before it.
        if best is None or any(task.depth < best[0] for task in self._running):
            return None
        task = best[2]
        self._running.append(task)
        self._hosts[task.host].busy = True
        return task

    def _first_of(self, origin: str, now: float) -> Task | None:
        """The first request to an origin that may be made now."""
        known = self._origins.setdefault(origin, Origin())
        name = place_of(origin + "/").host
        host = self._hosts.setdefault(name, Host())
        if host.busy or known.given_up or max(host.due, known.robots_after, known.queue_after) > now:
            return None
        wall = time.time()
        self._recall_robots(origin, known, wall)
        while entry := self.frontier.head(origin, wall, self.limits.depth):
            if known.robots is None and not known.refused:
                return Task(origin, name, entry.depth)
            if known.robots is not None and known.robots.allows(place_of(entry.url).path):
                return Task(origin, name, entry.depth, entry)
            with self.frontier.change():
                self.frontier.refuse(entry, NOT_ALLOWED if known.refused else "robots.txt")
        due = self.frontier.next_due(origin, self.limits.depth)
        if due is None:
            self._active.discard(origin)
        else:
            known.queue_after = now + max(0.0, due - wall)
        return None

    def _recall_robots(self, origin: str, known: Origin, wall: float) -> None:
        """Use the robots.txt that an earlier run fetched, and forget one that has grown old."""
        if known.robots is not None and wall > known.robots_until:
            known.robots = None
        if known.robots is None and known.robots_tries == 0:
            kept = self.frontier.robots(origin)
            if kept is not None and kept.status and kept.fetched + ROBOTS_AGE > wall:
                known.learn(kept.status, kept.body, kept.fetched)

    def pending(self) -> bool:
        """Whether there will be more to ask for, now or after a wait."""
        if self.stopped:
            return False
        if self._running:
            return True
        if self.spent():
            return False
        return any(not self._origins.get(origin, Origin()).given_up for origin in self._active)

    def wake_in(self) -> float | None:
        """Seconds until `next_task` may have something, or None if that depends on what is under way."""
        waits = []
        now = self._clock()
        for origin in self._active:
            known = self._origins.get(origin, Origin())
            host = self._hosts.get(place_of(origin + "/").host, Host())
            wait = max(host.due, known.robots_after, known.queue_after) - now
            # What might be asked for now and was not waits for something under way.
            if not host.busy and not known.given_up and (wait > 0 or not self._running):
                waits.append(max(0.0, wait))
        return min(waits, default=None)

    # what came

    def wanted(self, status: int, content_type: str) -> int:
        """How many bytes of a page's body are wanted, by its head; -1 if none."""
        if status != 200:
            return min(_OTHER_BYTES, self.limits.page_bytes)
        if content_type and media_type(content_type) not in HTML_TYPES and not self.plan.keep_others:
            return -1
        return self.limits.page_bytes

    def took(self, task: Task, exchange: Exchange) -> None:
        """An answer for a page came."""
        assert task.entry is not None
        self._ended(task)
        self._origins[task.origin].failures = 0
        self.bytes += len(exchange.body)
        if exchange.status in _PASSING and self._again(task, task.entry, exchange.asked_wait, len(exchange.body)):
            return
        if exchange.status in REDIRECTS and exchange.redirect:
            self._redirected(task.entry, exchange)
        elif exchange.status != 200:
            self._finish(task.entry, f"status {exchange.status}", exchange)
        elif exchange.unread:
            self._finish(task.entry, _not_html(exchange.header("Content-Type")), exchange, False)
        else:
            self._read(task.entry, exchange)

    def _read(self, entry: Entry, exchange: Exchange) -> None:
        """A body came: a page, unless something is wrong with it."""
        content_type = exchange.header("Content-Type")
        if content_type and media_type(content_type) not in HTML_TYPES:
            self._finish(entry, _not_html(content_type), exchange)
            return
        limits = Limits(page_bytes=self.limits.page_bytes)
        try:
            html, _cut = decode_body(exchange.body, "", exchange.header("Content-Encoding"), limits)
        except BodyError as error:
            self._finish(entry, error.reason, exchange, False)
            return
        if not html or html.isspace():
            self._finish(entry, "empty page", exchange)
        elif not content_type and not looks_like_html(html):
            self._finish(entry, "not html (no type)", exchange)
        else:
            tags = exchange.all_headers("X-Robots-Tag")
            told = read_page(html, exchange.url, content_type, tags, self.limits.links)
            self._finish(entry, "" if told.index else "noindex", exchange, told.index, told)

    def _redirected(self, entry: Entry, exchange: Exchange) -> None:
        written = exchange.redirect.strip()
        target = clean_url(written, exchange.url)
        if target == entry.url:  # a server that insists on its session ids
            target = clean_url(written, exchange.url, keep_session=True)
        if target is None:
            self._finish(entry, "bad redirect", exchange)
            return
        if len(entry.hops) - len(entry.hops.rstrip("R")) >= self.limits.redirects:
            self._finish(entry, "many redirects", exchange)
            return
        if not entry.hops.strip("R") and target not in self.scope.roots and not has_credentials(target):
            self.scope.add_root(target)  # where the root itself leads is what was meant
        found = self._found(target, entry.depth, entry.hops + "R", entry.url)
        self._finish(entry, "redirect", exchange, True, Told(), [found])

    def _finish(
        self, entry: Entry, reason: str, exchange: Exchange, archive: bool = True, told: Told | None = None,
        found: list[Found] | None = None,
    ) -> None:  # fmt: skip
        """Write down an exchange and what it leads to, all or nothing."""
        told = told or Told()
        found = found or [self._found_link(link, told, entry) for link in told.links]
        if archive:
            self.archive.write_exchange(exchange, entry, told.links)
        frontier = self.frontier
        with frontier.change():
            frontier.finish(entry, reason, len(exchange.body), exchange.cut, self.archive.length)
            self._active |= frontier.add(found, self.limits.queries, self.limits.addresses)
            frontier.note("roots", self.scope.roots)
        self.pages += not reason
        for each in found:
            if each.origin in self._origins:
                self._origins[each.origin].queue_after = 0.0

    def _found_link(self, link: Link, told: Told, entry: Entry) -> Found:
        follow = link.follow and told.follow
        return self._found(link.url, entry.depth + 1, entry.hops + "L", entry.url, "" if follow else NOFOLLOW)

    def _found(self, url: str, depth: int, hops: str, via: str, refused: str = "") -> Found:
        place = place_of(url)
        refused = (
            self.scope.fault(url)
            or ("credentials" if has_credentials(url) else "")
            or trap(url, self.limits)
            or ("robots.txt itself" if place.path == "/robots.txt" else "")
            or refused
        )
        return Found(url, place.origin, depth, hops, via, refused)

    def failed(self, task: Task, error: FetchError) -> None:
        """No answer for a page came."""
        assert task.entry is not None
        self._ended(task)
        known = self._origins[task.origin]
        known.failures += error.passing
        if known.failures >= _DEAD_AFTER:
            known.given_up = error.reason
        if error.passing and self._again(task, task.entry, 0.0, 0):
            return
        with self.frontier.change():
            self.frontier.finish(task.entry, error.reason, 0, "", self.archive.length)

    def _again(self, task: Task, entry: Entry, asked: float, size: int) -> bool:
        """Put a request back into the queue, if it may be made again; `asked` is how long the server asks us to wait."""
        known = self._origins[task.origin]
        if asked > self.limits.wait:
            known.given_up = f"the server asks to wait {asked:,.0f} s"
        elif entry.tries >= self.limits.retries:
            return False
        wait = max(asked, self.limits.backoff * 2**entry.tries)
        with self.frontier.change():
            self.frontier.postpone(entry, time.time() + wait, size)
        if asked:
            host = self._hosts[task.host]
            host.due = max(host.due, self._clock() + asked)
        return True

    def _ended(self, task: Task, requests: int = 1) -> None:
        self._running.remove(task)
        self.requests += requests
        host = self._hosts[task.host]
        host.busy = False
        robots = self._origins[task.origin].robots
        asked = robots.delay if robots else 0.0
        host.due = self._clock() + max(self.limits.delay, min(asked, self.limits.wait))

    # robots.txt

    def took_robots(self, task: Task, exchanges: list[Exchange]) -> None:
        """An origin's robots.txt came, or an answer that tells there is none."""
        known = self._origins[task.origin]
        last = exchanges[-1]
        body, fault = b"", robots_fault(last)
        if not fault:
            try:
                body = robots_text(last)
            except BodyError as error:
                fault = error.reason
        if fault:
            self._no_robots(task, len(exchanges), max(last.asked_wait, self._backoff(known)), fault)
            return
        now = time.time()
        known.learn(last.status, body, now)
        self._ended(task, len(exchanges))
        for exchange in exchanges:
            # What says it is HTML would be taken for a page.
            if media_type(exchange.header("Content-Type")) in _ROBOTS_TYPES or exchange.status in REDIRECTS:
                self.archive.write_exchange(exchange, None)
        with self.frontier.change():
            self.frontier.note_robots(task.origin, last.status, body, now, len(exchanges))
            self.frontier.note("archived", self.archive.length)

    def failed_robots(self, task: Task, error: FetchError) -> None:
        """No answer came where an origin's robots.txt was asked for: nothing may be asked for until one does."""
        known = self._origins[task.origin]
        if error.reason == NOT_ALLOWED:
            self._ended(task)
            known.refused = str(error)
            return
        if not error.passing:
            known.robots_tries = self.limits.retries
        self._no_robots(task, 1, self._backoff(known), str(error))

    def _backoff(self, known: Origin) -> float:
        return self.limits.backoff * 2.0**known.robots_tries

    def _no_robots(self, task: Task, requests: int, wait: float, reason: str) -> None:
        self._ended(task, requests)
        known = self._origins[task.origin]
        known.robots_tries += 1
        if known.robots_tries > self.limits.retries or wait > self.limits.wait:
            known.given_up = f"robots.txt: {reason}"
        known.robots_after = self._clock() + wait
        with self.frontier.change():
            self.frontier.note_robots(task.origin, 0, b"", time.time(), requests)

    # how it went

    def report(self) -> CrawlReport:
        """What the crawl has brought so far."""
        frontier, depth = self.frontier, self.limits.depth
        left, deep = frontier.queued(depth)
        spent = self.spent()
        given_up = sorted({known.given_up for known in self._origins.values() if known.given_up})
        stopped = self.stopped or (spent if left else "") or ("; ".join(given_up) if left else "")
        not_asked = frontier.counts(REFUSED)
        if deep:
            not_asked["too deep"] = deep
        if dropped := frontier.fact("dropped"):
            not_asked["many addresses"] = dropped
        pages, requests, size = frontier.totals()
        return CrawlReport(
            str(self.plan.out), pages, requests, size, self._clock() - self._begun, not left, stopped, left, self.resumed,
            frontier.counts(FETCHED), not_asked, frontier.cuts(), self._root_fault(given_up),
        )  # fmt: skip

    def _root_fault(self, given_up: list[str]) -> str:
        """Why the root, or where it leads, brought no page."""
        root = self.scope.roots[-1]
        state, reason = self.frontier.state_of(root) or (QUEUED, "")
        if state == QUEUED:
            return "; ".join(given_up) or self.stopped or "it was not asked for"
        known = self._origins.get(place_of(root).origin, Origin())
        if reason == "redirect":
            return "its redirects lead in a circle"
        return known.refused if reason == NOT_ALLOWED and known.refused else reason


def _not_html(content_type: str) -> str:
    """The reason for a body of another type."""
    kind = media_type(content_type)
    return f"not html ({kind if _PLAIN_TYPE.fullmatch(kind) else 'odd type'})"
