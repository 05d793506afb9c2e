"""The addresses of our own pages; the address alone determines what a page shows."""

from collections.abc import Iterable
from contextvars import ContextVar
from datetime import UTC, datetime
from urllib.parse import quote, urlencode, urlsplit

from pagekin.hypertext import canonical_url
from pagekin.web.brief import brief

JSON = ".json"
ROOT: ContextVar[str] = ContextVar("root", default="")
"""The path below which the service that is asked is served; it differs from request to request."""
ORIGIN: ContextVar[str] = ContextVar("origin", default="")
"""The scheme and host by which browsers reach us, where that was configured."""

REPLAY: ContextVar[str] = ContextVar("replay", default="")
"""The pattern of the addresses at which a web archive shows captures, where one was given."""


class PublicAddressError(ValueError):
    """A text that is not the address of a web site."""


class ReplayPatternError(ValueError):
    """A text that is not a pattern of a web archive's addresses."""


def public_address(text: str) -> tuple[str, str]:
    """Return (scheme and host, path without the last slash) of our public address; empty if none is set."""
    if not text.strip():
        return "", ""
    url = canonical_url(text.strip())
    parts = urlsplit(url or "")
    # A second slash would make the next name of a path a host.
    if not url or "//" in parts.path or "?" in text or "#" in text or "@" in parts.netloc:
        raise PublicAddressError(
            f"'{text[:200]}' is not the address of a web site; write for example https://find.example/ or https://example.org/find/"
        )
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def replay_pattern(text: str) -> str:
    """Return the pattern of a web archive's addresses; raise a ReplayPatternError if it is not one."""
    pattern = text.strip()
    rest = pattern.replace("{url}", "", 1).replace("{timestamp}", "", 1)
    if pattern and (rest == pattern or "{url}" not in pattern or "{" in rest or not canonical_url(rest)):
        raise ReplayPatternError(
            f"'{text[:200]}' is not a pattern of a web archive's addresses; write for example "
            "https://archive.example/web/{timestamp}/{url}"
        )
    return pattern


def replay(url: str, seconds: float) -> str:
    """Return the web archive's address of a capture of a page at a time; '' if no archive is set."""
    pattern = REPLAY.get()
    if not pattern:
        return ""
    try:
        time = datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d%H%M%S") if seconds else "*"
    except (ValueError, OverflowError, OSError):
        time = "*"
    before = pattern.partition("{url}")[0]
    # As a path, an address stands as it is; as a parameter or a fragment, it is written as one.
    shown = quote(url, safe="") if "?" in before or "#" in before else url
    return pattern.replace("{timestamp}", time).replace("{url}", shown)


def _at(path: str, /, **parameters: object) -> str:
    """Return a path with its non-empty parameters."""
    path = ROOT.get() + path
    pairs = [
        (name, one)
        for name, value in parameters.items()
        for one in (value if isinstance(value, list | tuple) else (value,))
        if one not in ("", None, 0, False)
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def home() -> str:
    """Return the address of the first page."""
    return _at("/")


def static(name: str, version: str = "") -> str:
    """Return the address of a static file."""
    return _at(f"/static/{name}", v=version)


def service(name: str, **parameters: object) -> str:
    """Return the address of an operation of the service, or of a page by name."""
    return _at(f"/{name}", **parameters)


def find(q: str, **parameters: object) -> str:
    """Return the address of the results of a query."""
    return _at("/find", q=q, **parameters)


def page(url: str, *, other: bool = False, path: Iterable[str] = ()) -> str:
    """Return the address of a page about a web page; `path` leads to its service, `other` asks for other sites only."""
    way = "/".join(quote(name, safe="") for name in path)
    return _at("/page", url=brief(url), other=int(other), path=way)


def compare(urls: Iterable[str]) -> str:
    """Return the address of a comparison of several pages."""
    return _at("/compare", url=[brief(url) for url in urls])


def tree(name: str, node: int = 0, page: int = 0) -> str:
    """Return the address of a hierarchy, or of a cluster in it."""
    return _at(f"/tree/{quote(name, safe='')}" + (f"/{node}" if node else ""), page=page)


def cluster(number: int) -> str:
    """Return the address of a sub-cluster of the content label."""
    return _at(f"/cluster/{number}")


def network(q: str = "") -> str:
    """Return the address of the network page, optionally with the way of a query through it."""
    return _at("/network", q=q)
