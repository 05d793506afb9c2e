"""Web addresses for the robot: one spelling each, the scope of a crawl, and traps."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pagekin.sources.robot.plan import CrawlLimits
from pagekin.sources.urls import canonical_url, host_of, site_of, split_port

_OUTSIDE = {"host": "other host", "site": "other site", "prefix": "outside the folder"}
# Ids that servers put into addresses where cookies are off; without this, each visit finds other addresses for the same pages.
_SESSION_PATH = re.compile(r";jsessionid=[^/?;]*|(?<=/)\((?:[AFSX]\([0-9a-z]{8,}\))+\)/", re.IGNORECASE)
_SESSION_FIELD = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid[a-z]*|cfid|cftoken|sessionid|session_id)=.*|sid=[0-9a-z]{32}", re.IGNORECASE
)


def clean_url(written: str, base: str | None = None, keep_session: bool = False) -> str | None:
    """Return the canonical spelling of an http(s) address `written` on the page `base`, or None for anything else.

    It is the WHATWG spelling without the fragment, as in `pagekin read`, and without session ids unless `keep_session`.
    """
    url = canonical_url(written, base)
    return url if url is None or keep_session else _strip_session(url)


def _strip_session(url: str) -> str:
    if "=" not in url and "(" not in url:
        return url
    path, mark, query = url.partition("?")
    path = _SESSION_PATH.sub("", path)
    if not mark:
        return path
    fields = query.split("&")
    kept = [each for each in fields if not _SESSION_FIELD.fullmatch(each)]
    return path + ("?" + "&".join(kept) if kept or len(kept) == len(fields) else "")


@dataclass(frozen=True, slots=True)
class Place:
    """The parts of an address that the robot needs."""

    origin: str
    """Scheme, host and port: each origin has its own robots.txt."""
    host: str
    """The host alone: requests are spaced per host."""
    authority: str
    """Host and port, without a default port: the same for http and https."""
    path: str
    """Path and query."""


def place_of(url: str) -> Place:
    """Split a clean URL."""
    scheme, _, _host, path = url.split("/", 3)
    authority = host_of(url)
    return Place(f"{scheme}//{authority}", split_port(authority)[0], authority, f"/{path}")


def has_credentials(url: str) -> bool:
    """Return whether a clean URL holds a user name or password."""
    return "@" in url.split("/", 3)[2]


class Scope:
    """The addresses that belong to a crawl. Its roots are the page to begin with and the pages it redirects to."""

    def __init__(self, kind: str, roots: list[str], include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        """Set the scope of a crawl from `roots`; `include` and `exclude` are patterns of addresses."""
        self.kind, self.roots = kind, roots
        self._included = [re.compile(pattern) for pattern in include]
        self._excluded = [re.compile(pattern) for pattern in exclude]
        self._keys = {self._key(root) for root in roots}

    def add_root(self, url: str) -> None:
        """Add `url` to the roots."""
        self.roots.append(url)
        self._keys.add(self._key(url))

    def _key(self, url: str) -> str:
        """Return the site, host or folder that decides whether an address belongs to the crawl of a root."""
        place = place_of(url)
        if self.kind == "site":
            return site_of(place.host)
        if self.kind == "host":
            return place.authority
        return place.authority + place.path.partition("?")[0].rpartition("/")[0] + "/"

    def reason_outside(self, url: str) -> str:
        """Return why an address does not belong to the crawl, or an empty string."""
        if url in self.roots:
            return ""
        key = self._key(url)
        if not (key.startswith(tuple(self._keys)) if self.kind == "prefix" else key in self._keys):
            return _OUTSIDE[self.kind]
        if any(pattern.search(url) for pattern in self._excluded):
            return "excluded"
        if self._included and not any(pattern.search(url) for pattern in self._included):
            return "not included"
        return ""


def trap_reason(url: str, limits: CrawlLimits) -> str:
    """Return why an address looks like one of endlessly many, or an empty string."""
    if len(url) > limits.url_bytes:
        return "long address"
    segments = [segment for segment in url.partition("?")[0].split("/")[3:] if segment]
    if len(segments) > limits.segments:
        return "deep path"
    if segments and max(Counter(segments).values()) > limits.repeats:
        return "repeating path"
    return ""
