"""Fetch lists of addresses, sitemaps and indexes of sitemaps, as politely as pages."""

import asyncio
import time
from collections.abc import AsyncIterator

from pagekin.sources.http import BodyError, decode_body
from pagekin.sources.limits import Limits
from pagekin.sources.robot.addresses import clean_url, has_credentials, place_of
from pagekin.sources.robot.exchange import Exchange, FetchError
from pagekin.sources.robot.fetch import Fetcher
from pagekin.sources.robot.origins import OriginState, robots_text
from pagekin.sources.robot.plan import CrawlError, CrawlPlan
from pagekin.sources.robot.seeds import MOST_BYTES, Seeds, collect_seeds, parse_seeds, unpack_text
from pagekin.sources.urls import site_of

_MOST_SITEMAPS = 500
"""Sitemaps of an index that are fetched: eight minutes of requests with a second between them."""
_REDIRECTS = 5


class _NotReadError(Exception):
    """A file that could not be fetched completely; the message says why."""


def fetch_sitemap(plan: CrawlPlan, url: str) -> Seeds:
    """Fetch the addresses in a list, sitemap, sitemap index or robots.txt at `url`, for the crawl of `plan`.

    An index may name sitemaps of its own site alone, and these no others. Once there are more addresses than the plan allows
    requests, no further sitemap is fetched.
    """
    return asyncio.run(_fetch_seeds(plan, url))


async def _fetch_seeds(plan: CrawlPlan, url: str) -> Seeds:
    refused: list[str] = []
    visitor = _Visitor(plan)
    try:
        written = [each async for each in visitor.locations(url, refused)]
    except _NotReadError as error:
        raise CrawlError(f"{url} cannot be read: {error}.") from error
    finally:
        await visitor.close()
    return collect_seeds(iter(written), refused, url)


class _Visitor:
    """Fetches files one after another, with the crawl delay between requests to a host."""

    def __init__(self, plan: CrawlPlan) -> None:
        self._plan, self._fetcher = plan, Fetcher(plan)
        self._origins: dict[str, OriginState] = {}
        self._asked: dict[str, float] = {}

    async def close(self) -> None:
        await self._fetcher.close()

    async def locations(self, url: str, refused: list[str]) -> AsyncIterator[str]:
        """Yield the addresses in a file, as written, and those in the sitemaps that it names."""
        text = await self._fetch_text(url)
        if place_of(url).path == "/robots.txt":
            named = [
                line.partition(":")[2].strip() for line in text.splitlines() if line.lower().startswith("sitemap:")
            ]
            if not named:
                raise CrawlError(f"{url} names no sitemap.")
            depth = 2
        else:
            file = parse_seeds(text)
            if not file.is_index:
                for each in file.locations:
                    yield each
                return
            named, depth = list(file.locations), 1
        async for each in self._follow(url, named, depth, refused):
            yield each

    async def _follow(self, url: str, named: list[str], depth: int, refused: list[str]) -> AsyncIterator[str]:
        """Yield the addresses in the sitemaps that the file at `url` names; refuse indexes below `depth`."""
        waiting = [(each, depth) for each in reversed(named)]
        seen, fetched, count = {url}, 0, 0
        while waiting:
            written, left = waiting.pop()
            target = clean_url(written, url)
            enough = fetched >= _MOST_SITEMAPS or count >= self._plan.limits.most_requests
            if target is None or target in seen or enough or not _same_site(url, target):
                refused.append(written)
                continue
            seen.add(target)
            fetched += 1
            try:
                file = parse_seeds(await self._fetch_text(target))
            except (CrawlError, _NotReadError) as error:
                refused.append(f"{written} ({error})")
                continue
            if not file.is_index:
                for each in file.locations:
                    count += 1
                    yield each
            elif left > 1:
                waiting += [(each, left - 1) for each in reversed(list(file.locations))]
            else:
                refused.append(written)

    async def _fetch_text(self, url: str) -> str:
        """Return the text of a file; follow redirects within its site."""
        for _hop in range(_REDIRECTS + 1):
            exchange = await self._fetch(url)
            target = clean_url(exchange.redirect, url) if exchange.redirect else None
            if target is None:
                break
            if not _same_site(url, target):
                raise _NotReadError(f"it redirects to another site, {target[:200]}")
            url = target
        if exchange.status != 200:
            raise _NotReadError(f"status {exchange.status}")
        if exchange.cut:
            raise _NotReadError("it is too long, or did not arrive whole")
        limits = Limits(page_bytes=MOST_BYTES)
        try:
            body, cut = decode_body(exchange.body, "", exchange.header("Content-Encoding"), limits)
        except BodyError as error:
            raise _NotReadError(error.reason) from error
        if cut:
            raise _NotReadError(f"it is larger than {MOST_BYTES:,} bytes")
        return unpack_text(body, url)

    async def _fetch(self, url: str) -> Exchange:
        place = place_of(url)
        if place.origin not in self._origins:
            state = OriginState()
            await self._rest(place.host, 0.0)
            try:
                answer = (await self._fetcher.fetch_robots(place.origin))[-1]
                state.set_rules(answer.status, robots_text(answer), time.time())
            except (BodyError, FetchError) as error:
                reason = error.reason if isinstance(error, BodyError) else error
                raise _NotReadError(f"its robots.txt cannot be read ({reason})") from error
            self._origins[place.origin] = state
        rules = self._origins[place.origin].rules
        assert rules is not None
        if not rules.allows(place.path):
            raise _NotReadError("robots.txt forbids it")
        await self._rest(place.host, min(rules.delay, self._plan.limits.wait))
        try:
            return await self._fetcher.fetch(url, lambda _status, _type: MOST_BYTES)
        except FetchError as error:
            raise _NotReadError(str(error)) from error

    async def _rest(self, host: str, delay: float) -> None:
        """Wait until a host may be asked again."""
        due = self._asked.get(host, 0.0) + max(delay, self._plan.limits.delay)
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        self._asked[host] = time.monotonic()


def _same_site(url: str, other: str) -> bool:
    return not has_credentials(other) and site_of(place_of(url).host) == site_of(place_of(other).host)
