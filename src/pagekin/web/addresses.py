"""The addresses of our own pages: everything that a page shows is in its address."""

from collections.abc import Iterable
from contextvars import ContextVar
from urllib.parse import quote, urlencode, urlsplit

from pagekin.hypertext import canonical_url
from pagekin.web.brief import brief

JSON = ".json"
ROOT: ContextVar[str] = ContextVar("root", default="")
"""The path below which the service that is asked is served; it differs from request to request."""
ORIGIN: ContextVar[str] = ContextVar("origin", default="")
"""The scheme and host by which browsers reach us, where that was configured."""


class PublicAddressError(ValueError):
    """A text that cannot be the address of a web site."""


def public_address(text: str) -> tuple[str, str]:
    """Return (scheme and host, path without the last slash) of the address at which browsers reach us; empty for none."""
    if not text.strip():
        return "", ""
    url = canonical_url(text.strip())
    parts = urlsplit(url or "")
    # A second slash would make the next name of a path a host.
    if not url or "//" in parts.path or "?" in text or "#" in text or "@" in parts.netloc:
        raise PublicAddressError(
            f"'{text[:200]}' is no address of a web site; write for example https://find.example/ or https://example.org/find/"
        )
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def _at(path: str, /, **parameters: object) -> str:
    """Return a path with parameters; empty ones are left out."""
    path = ROOT.get() + path
    pairs = [
        (name, one)
        for name, value in parameters.items()
        for one in (value if isinstance(value, list | tuple) else (value,))
        if one not in ("", None, 0, False)
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def home() -> str:
    """Return the address of what is in this collection."""
    return _at("/")


def static(name: str, version: str = "") -> str:
    """Return the address of a file that goes with the pages."""
    return _at(f"/static/{name}", v=version)


def service(name: str, **parameters: object) -> str:
    """Return the address of one of the service's operations, or of another page by its name."""
    return _at(f"/{name}", **parameters)


def find(q: str, **parameters: object) -> str:
    """Return the address of results of a query."""
    return _at("/find", q=q, **parameters)


def page(url: str, *, other: bool = False, path: Iterable[str] = ()) -> str:
    """Return the address of what is known of a page: `path` leads to it, `other` asks for pages of other sites."""
    way = "/".join(quote(name, safe="") for name in path)
    return _at("/page", url=brief(url), other=int(other), path=way)


def compare(urls: Iterable[str]) -> str:
    """Return the address of several pages as one query."""
    return _at("/compare", url=[brief(url) for url in urls])


def tree(name: str, node: int = 0, page: int = 0) -> str:
    """Return the address of a hierarchy, or of a cluster in it."""
    return _at(f"/tree/{quote(name, safe='')}" + (f"/{node}" if node else ""), page=page)


def cluster(number: int) -> str:
    """Return the address of a sub-cluster of the content label."""
    return _at(f"/cluster/{number}")


def network(q: str = "") -> str:
    """Return the address of the network, and of how a query goes through it."""
    return _at("/network", q=q)
