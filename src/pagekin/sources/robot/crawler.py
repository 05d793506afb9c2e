"""Decide what a crawl fetches next and what becomes of each response. Nothing here touches the network."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from pagekin.sources.captures import read_capture
from pagekin.sources.http import HTML_TYPES, REDIRECTS, BodyError, media_type
from pagekin.sources.items import Page, Skip
from pagekin.sources.limits import Limits
from pagekin.sources.robot.addresses import Scope, clean_url, has_credentials, place_of, trap_reason
from pagekin.sources.robot.archive import Archive, warcinfo_fields
from pagekin.sources.robot.exchange import NOT_ALLOWED, Exchange, FetchError
from pagekin.sources.robot.frontier import FETCHED, NOFOLLOW, QUEUED, REFUSED, Entry, Frontier
from pagekin.sources.robot.links import Link, ParsedPage, parse_page
from pagekin.sources.robot.origins import ROBOTS_AGE, HostState, OriginState, robots_text
from pagekin.sources.robot.plan import CrawlError, CrawlPlan
from pagekin.sources.robot.report import CrawlReport

_ROBOTS_TYPES = frozenset({"", "text/plain"})
_OTHER_BYTES = 64 << 10
"""Bytes of the body of a redirect or an error that are kept."""
_DEAD_AFTER = 8
"""Failures in a row after which an origin is abandoned."""
_PLAIN_TYPE = re.compile(r"[a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80}|no type")
_UNREADABLE = frozenset({"undecodable body", "decompression bomb"})
_TEMPORARY = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Request:
    """A request to make: for the page of `entry`, or for the origin's robots.txt if there is no entry."""

    origin: str
    host: str
    depth: int
    entry: Entry | None = None


class Crawler:
    """A crawl in progress: the frontier, the archive, and when each host may be asked."""

    def __init__(self, plan: CrawlPlan, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin or resume the crawl of `plan`; CrawlError says why that is impossible."""
        self.plan = plan
        self.limits = plan.limits
        self._clock = clock
        self._begun = clock()
        self._hosts: dict[str, HostState] = {}
        self._origins: dict[str, OriginState] = {}
        self._open_requests: list[Request] = []
        self.stopped = ""
        self.resumed = plan.state_file.exists()
        if plan.out.exists() and not self.resumed:
            raise CrawlError(
                f"{plan.out} exists, but {plan.state_file.name}, which is needed to resume, does not: choose another name."
            )
        if not plan.out.parent.is_dir():
            raise CrawlError(f"{plan.out.parent} is not a folder: create it first.")
        self.frontier = Frontier(plan.state_file)
        try:
            self._open()
        except BaseException:
            self.frontier.close()
            raise

    def _open(self) -> None:
        """Open the archive at the end that the frontier notes, and put the root into the queue."""
        plan, frontier = self.plan, self.frontier
        archived: int = frontier.get_fact("archived") or 0
        if archived and not plan.out.exists():
            raise CrawlError(
                f"{plan.out} is missing, but {plan.state_file} says that pages were written to it: put it back, or "
                "remove the state file to begin again."
            )
        earlier = frontier.get_fact("question")
        if earlier is None:
            self.resumed = False
        elif earlier != plan.resume_key:
            other = ", ".join(f"{name} {earlier.get(name)!r}" for name, value in plan.resume_key.items()
                              if earlier.get(name) != value)  # fmt: skip
            raise CrawlError(
                f"{plan.state_file} belongs to another crawl ({other}): give the same options to resume it, or another "
                "name to begin a new one."
            )
        length = plan.out.stat().st_size if plan.out.exists() else 0
        if length < archived:  # the machine went down before the archive was on its disk
            archived = frontier.requeue_after(length)
        self.scope = Scope(plan.scope, frontier.get_fact("roots") or [plan.root], plan.include, plan.exclude)
        self.archive = Archive(plan.out, archived, warcinfo_fields(plan))
        with frontier.transaction():
            frontier.set_fact("question", plan.resume_key)
            frontier.set_fact("roots", self.scope.roots)
            frontier.set_fact("archived", self.archive.length)
            frontier.add([Entry(plan.root, place_of(plan.root).origin, 0, "", "")], 1, 1)
            seeds = [Entry(url, place_of(url).origin, 0, "", "", self._refuse_seed(url)) for url in plan.seeds]
            frontier.add(seeds, self.limits.queries, self.limits.addresses)
        self._active = frontier.queued_origins(self.limits.depth)
        self.pages, self.requests, self.bytes = frontier.totals()

    def _refuse_seed(self, url: str) -> str:
        """Return why an address of a list is not fetched; '' if it is."""
        return self.scope.reason_outside(url) or trap_reason(url, self.limits)

    def close(self) -> CrawlReport:
        """End this run and return the report. A crawl that ended without a page leaves no files."""
        report = self.report()
        self.archive.close()
        self.frontier.close()
        if not report.pages and not self.stopped:
            self.plan.out.unlink()
            self.plan.state_file.unlink()
        return report

    # the next request

    def limit_reached(self) -> str:
        """Return the name of the limit that ends the crawl; '' if none is reached."""
        open_pages = sum(request.entry is not None for request in self._open_requests)
        if self.pages + open_pages >= self.limits.pages:
            return "pages"
        if self.requests + len(self._open_requests) >= self.limits.most_requests:
            return "requests"
        return "all_bytes" if self.bytes >= self.limits.all_bytes else ""

    @property
    def progress(self) -> float:
        """Return the finished share of the crawl: of pages, requests or bytes, whichever is nearest to its limit."""
        limits = self.limits
        done = (self.pages / limits.pages, self.requests / limits.most_requests, self.bytes / limits.all_bytes)
        return min(1.0, max(done))

    def stop(self, reason: str) -> None:
        """Hand out no more requests."""
        self.stopped = self.stopped or reason

    def next_request(self) -> Request | None:
        """Return the request to make now, or None: the shallowest address whose host may be asked."""
        if self.stopped or len(self._open_requests) >= self.limits.hosts or self.limit_reached():
            return None
        best: tuple[int, int, Request] | None = None
        now = self._clock()
        for origin in sorted(self._active):
            request = self._first_request(origin, now)
            if request is not None:
                candidate = (request.depth, request.entry.id if request.entry else -1, request)
                best = candidate if best is None or candidate[:2] < best[:2] else best
        # A deeper page waits for open requests to shallower ones: they may lead to pages that come before it.
        if best is None or any(request.depth < best[0] for request in self._open_requests):
            return None
        request = best[2]
        self._open_requests.append(request)
        self._hosts[request.host].busy = True
        return request

    def _first_request(self, origin: str, now: float) -> Request | None:
        """Return the first request to an origin that may be made now."""
        state = self._origins.setdefault(origin, OriginState())
        name = place_of(origin + "/").host
        host = self._hosts.setdefault(name, HostState())
        if host.busy or state.abandon_reason or max(host.due, state.robots_due, state.queue_due) > now:
            return None
        wall = time.time()
        self._recall_rules(origin, state, wall)
        while entry := self.frontier.first_due(origin, wall, self.limits.depth):
            if state.rules is None and not state.refusal:
                return Request(origin, name, entry.depth)
            if state.rules is not None and state.rules.allows(place_of(entry.url).path):
                return Request(origin, name, entry.depth, entry)
            with self.frontier.transaction():
                self.frontier.refuse(entry, NOT_ALLOWED if state.refusal else "robots.txt")
        due = self.frontier.next_due_time(origin, self.limits.depth)
        if due is None:
            self._active.discard(origin)
        else:
            state.queue_due = now + max(0.0, due - wall)
        return None

    def _recall_rules(self, origin: str, state: OriginState, wall: float) -> None:
        """Reuse the robots.txt that an earlier run fetched, and forget one that has expired."""
        if state.rules is not None and wall > state.rules_expire:
            state.rules = None
        if state.rules is None and state.robots_tries == 0:
            kept = self.frontier.get_robots(origin)
            if kept is not None and kept.status and kept.fetched + ROBOTS_AGE > wall:
                state.set_rules(kept.status, kept.body, kept.fetched)

    def has_more(self) -> bool:
        """Return whether there will be more requests, now or after a wait."""
        if self.stopped:
            return False
        if self._open_requests:
            return True
        if self.limit_reached():
            return False
        return any(not self._origins.get(origin, OriginState()).abandon_reason for origin in self._active)

    def seconds_to_wait(self) -> float | None:
        """Return the seconds until `next_request` may have one; None if that depends on open requests."""
        waits = []
        now = self._clock()
        for origin in self._active:
            state = self._origins.get(origin, OriginState())
            host = self._hosts.get(place_of(origin + "/").host, HostState())
            wait = max(host.due, state.robots_due, state.queue_due) - now
            # An origin that could be asked now but was not waits for an open request.
            if not host.busy and not state.abandon_reason and (wait > 0 or not self._open_requests):
                waits.append(max(0.0, wait))
        return min(waits, default=None)

    # responses

    def body_limit(self, status: int, content_type: str) -> int:
        """Return how many bytes of a response's body to read, given its head; -1 for none."""
        if status != 200:
            return min(_OTHER_BYTES, self.limits.page_bytes)
        if content_type and media_type(content_type) not in HTML_TYPES and not self.plan.keep_others:
            return -1
        return self.limits.page_bytes

    def handle_page(self, request: Request, exchange: Exchange) -> None:
        """Handle the response to the request for a page."""
        entry = request.entry
        assert entry is not None
        self._release_host(request)
        self._origins[request.origin].failures = 0
        self.bytes += len(exchange.body)
        if exchange.status in _TEMPORARY and self._retry_later(
            request, entry, exchange.retry_after, len(exchange.body)
        ):
            return
        item = next(read_capture(exchange.capture, Limits(page_bytes=self.limits.page_bytes)))
        if isinstance(item, Page):
            tags = exchange.all_headers("X-Robots-Tag")
            page = parse_page(item.html, exchange.url, item.content_type, tags, self.limits.links)
            self._record(entry, "" if page.index else "noindex", exchange, page.index, page)
        elif isinstance(item, Skip):
            self._record(entry, _reason(item), exchange, not exchange.unread and item.reason not in _UNREADABLE)
        else:
            self._handle_redirect(entry, exchange)

    def _handle_redirect(self, entry: Entry, exchange: Exchange) -> None:
        """Put the target of a redirect into the queue."""
        location = exchange.redirect.strip()
        target = clean_url(location, exchange.url)
        if target == entry.url:  # a server that insists on its session ids
            target = clean_url(location, exchange.url, keep_session=True)
        if target is None:
            self._record(entry, "bad redirect", exchange)
            return
        if len(entry.hops) - len(entry.hops.rstrip("R")) >= self.limits.redirects:
            self._record(entry, "many redirects", exchange)
            return
        is_root = not entry.hops.strip("R") and entry.url in self.scope.roots  # and no address of a list
        if is_root and target not in self.scope.roots and not has_credentials(target):
            self.scope.add_root(target)  # the target of the root's own redirect is what the user meant
        discovery = self._discover(target, entry.depth, entry.hops + "R", entry.url)
        self._record(entry, "redirect", exchange, discoveries=[discovery])

    def _record(
        self, entry: Entry, reason: str, exchange: Exchange, archive: bool = True, page: ParsedPage | None = None,
        discoveries: list[Entry] | None = None,
    ) -> None:  # fmt: skip
        """Write an exchange to the archive and its outcome to the frontier, all or nothing."""
        page = page or ParsedPage()
        discoveries = discoveries or [self._discover_link(link, page, entry) for link in page.links]
        if archive:
            self.archive.write_exchange(exchange, entry, page.links)
        frontier = self.frontier
        with frontier.transaction():
            frontier.finish(entry, reason, len(exchange.body), exchange.cut, self.archive.length)
            self._active |= frontier.add(discoveries, self.limits.queries, self.limits.addresses)
            frontier.set_fact("roots", self.scope.roots)
        self.pages += not reason
        for each in discoveries:
            if each.origin in self._origins:
                self._origins[each.origin].queue_due = 0.0

    def _discover_link(self, link: Link, page: ParsedPage, entry: Entry) -> Entry:
        follow = link.follow and page.follow
        return self._discover(link.url, entry.depth + 1, entry.hops + "L", entry.url, "" if follow else NOFOLLOW)

    def _discover(self, url: str, depth: int, hops: str, via: str, refusal: str = "") -> Entry:
        """Decide whether a new address may be fetched."""
        place = place_of(url)
        refusal = (
            self.scope.reason_outside(url)
            or ("credentials" if has_credentials(url) else "")
            or trap_reason(url, self.limits)
            or ("robots.txt itself" if place.path == "/robots.txt" else "")
            or refusal
        )
        return Entry(url, place.origin, depth, hops, via, refusal)

    def _retry_later(self, request: Request, entry: Entry, retry_after: float, size: int) -> bool:
        """Put a page back into the queue and return True; return False after too many tries."""
        state = self._origins[request.origin]
        if retry_after > self.limits.wait:
            state.abandon_reason = f"the server asks to wait {retry_after:,.0f} s"
        elif entry.tries >= self.limits.retries:
            return False
        wait = max(retry_after, self.limits.backoff * 2**entry.tries)
        with self.frontier.transaction():
            self.frontier.postpone(entry, time.time() + wait, size)
        if retry_after:
            host = self._hosts[request.host]
            host.due = max(host.due, self._clock() + retry_after)
        return True

    def _release_host(self, request: Request, requests: int = 1) -> None:
        """Close a request, and let its host rest for the crawl delay."""
        self._open_requests.remove(request)
        self.requests += requests
        host = self._hosts[request.host]
        host.busy = False
        rules = self._origins[request.origin].rules
        crawl_delay = rules.delay if rules else 0.0
        host.due = self._clock() + max(self.limits.delay, min(crawl_delay, self.limits.wait))

    def handle_robots(self, request: Request, exchanges: list[Exchange]) -> None:
        """Handle the responses to the request for a robots.txt: redirects, then the file or an error."""
        state = self._origins[request.origin]
        last = exchanges[-1]
        try:
            body = robots_text(last)
        except BodyError as error:
            self._retry_robots(request, len(exchanges), last.retry_after, error.reason)
            return
        now = time.time()
        state.set_rules(last.status, body, now)
        self._release_host(request, len(exchanges))
        for exchange in exchanges:
            # A robots.txt that is served as HTML would be read as a page.
            if media_type(exchange.header("Content-Type")) in _ROBOTS_TYPES or exchange.status in REDIRECTS:
                self.archive.write_exchange(exchange, None)
        with self.frontier.transaction():
            self.frontier.set_robots(request.origin, last.status, body, now, len(exchanges))
            self.frontier.set_fact("archived", self.archive.length)

    def handle_failure(self, request: Request, error: FetchError) -> None:
        """Handle a missing response: try again later, or count the failure."""
        state = self._origins[request.origin]
        if request.entry is None:
            self._handle_robots_failure(request, state, error)
            return
        self._release_host(request)
        state.failures += error.temporary
        if state.failures >= _DEAD_AFTER:
            state.abandon_reason = error.reason
        if error.temporary and self._retry_later(request, request.entry, 0.0, 0):
            return
        with self.frontier.transaction():
            self.frontier.finish(request.entry, error.reason, 0, "", self.archive.length)

    def _handle_robots_failure(self, request: Request, state: OriginState, error: FetchError) -> None:
        """Stop fetching from an origin until its robots.txt can be fetched."""
        if error.reason == NOT_ALLOWED:
            self._release_host(request)
            state.refusal = str(error)
            return
        if not error.temporary:
            state.robots_tries = self.limits.retries
        self._retry_robots(request, 1, 0.0, str(error))

    def _retry_robots(self, request: Request, requests: int, retry_after: float, reason: str) -> None:
        """Fetch robots.txt again after at least this many seconds, longer with each try, or abandon the origin."""
        self._release_host(request, requests)
        state = self._origins[request.origin]
        wait = max(retry_after, self.limits.backoff * 2.0**state.robots_tries)
        state.robots_tries += 1
        if state.robots_tries > self.limits.retries or wait > self.limits.wait:
            state.abandon_reason = f"robots.txt: {reason}"
        state.robots_due = self._clock() + wait
        with self.frontier.transaction():
            self.frontier.set_robots(request.origin, 0, b"", time.time(), requests)

    # the report

    def report(self) -> CrawlReport:
        """Return the results of the crawl so far."""
        frontier, depth = self.frontier, self.limits.depth
        left, deep = frontier.count_queued(depth)
        abandoned = sorted({state.abandon_reason for state in self._origins.values() if state.abandon_reason})
        stopped = self.stopped or (self.limit_reached() or "; ".join(abandoned) if left else "")
        not_asked = frontier.count_by_reason(REFUSED)
        if deep:
            not_asked["too deep"] = deep
        if dropped := frontier.get_fact("dropped"):
            not_asked["many addresses"] = dropped
        pages, requests, size = frontier.totals()
        return CrawlReport(
            str(self.plan.out), pages, requests, size, self._clock() - self._begun, not left, stopped, left, self.resumed,
            frontier.count_by_reason(FETCHED), not_asked, frontier.count_cut_pages(), self._root_failure(abandoned),
        )  # fmt: skip

    def _root_failure(self, abandoned: list[str]) -> str:
        """Return why the root, or the page it redirects to, was not kept."""
        root = self.scope.roots[-1]
        state, reason = self.frontier.state_of(root) or (QUEUED, "")
        if state == QUEUED:
            return "; ".join(abandoned) or self.stopped or "it was not fetched"
        origin = self._origins.get(place_of(root).origin, OriginState())
        if reason == "redirect":
            return "its redirects lead in a circle"
        return origin.refusal if reason == NOT_ALLOWED and origin.refusal else reason


def _reason(skip: Skip) -> str:
    """Return the reason to count for a response that is not a page; for another media type, with the type."""
    if skip.reason != "not html":
        return skip.reason
    return f"not html ({skip.detail if _PLAIN_TYPE.fullmatch(skip.detail) else 'odd type'})"
