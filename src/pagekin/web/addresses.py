"""The addresses of our own pages: everything that a page shows is in its address."""

from collections.abc import Iterable
from contextvars import ContextVar
from urllib.parse import quote, urlencode, urlsplit

from pagekin.hypertext.urls import canonical
from pagekin.web.brief import brief

JSON = ".json"
ROOT: ContextVar[str] = ContextVar("root", default="")
"""The path below which the router that is asked is served; it differs from request to request."""
ORIGIN: ContextVar[str] = ContextVar("origin", default="")
"""The scheme and host by which browsers reach us, where that was told."""


class PublicAddressError(ValueError):
    """What cannot be the address of a web site."""


def public_address(text: str) -> tuple[str, str]:
    """(scheme and host, path without the last slash) of an address at which browsers reach us; both empty for none."""
    if not text.strip():
        return "", ""
    url = canonical(text.strip())
    parts = urlsplit(url or "")
    # A second slash would make the next name of a path a host.
    if not url or "//" in parts.path or "?" in text or "#" in text or "@" in parts.netloc:
        raise PublicAddressError(
            f"'{text[:200]}' is no address of a web site; write for example https://find.example/ or https://example.org/find/"
        )
    return f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")


def _at(path: str, /, **asked: object) -> str:
    """A path with what is asked for; what is empty is left out."""
    path = ROOT.get() + path
    pairs = [
        (name, one)
        for name, value in asked.items()
        for one in (value if isinstance(value, list | tuple) else (value,))
        if one not in ("", None, 0, False)
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


def home() -> str:
    """What is in this collection."""
    return _at("/")


def static(name: str, version: str = "") -> str:
    """A file that goes with the pages."""
    return _at(f"/static/{name}", v=version)


def service(name: str) -> str:
    """One of the router's services."""
    return _at(f"/{name}")


def find(
    q: str, *, mode: str = "", site: str = "", since: str = "", until: str = "", language: str = "", page: int = 0,
    ask: int = 0,
) -> str:  # fmt: skip
    """Results of a query."""
    return _at("/find", q=q, mode=mode, site=site, since=since, until=until, language=language, page=page, ask=ask)


def complete(q: str = "") -> str:
    """How a query that is being typed may go on."""
    return _at("/complete", q=q)


def page(url: str, *, other: bool = False, path: Iterable[str] = ()) -> str:
    """What is known of a page; `path` are names of routers that lead to it, `other` asks for other sites' pages."""
    return _at("/page", url=brief(url), other=int(other), path="/".join(quote(name, safe="") for name in path))


def start(url: str) -> str:
    """A page that a router names as a place to begin."""
    return _at("/start", url=url)


def compare(urls: Iterable[str]) -> str:
    """Several pages as one query."""
    return _at("/compare", url=[brief(url) for url in urls])


def tree(name: str, node: int = 0, page: int = 0) -> str:
    """A hierarchy, or a cluster in it."""
    return _at(f"/tree/{quote(name, safe='')}" + (f"/{node}" if node else ""), page=page)


def label() -> str:
    """The content label."""
    return _at("/cluster")


def cluster(number: int) -> str:
    """A sub-cluster of the content label."""
    return _at(f"/cluster/{number}")


def label_as(form: str) -> str:
    """The content label for programs: json or sexpr."""
    return _at("/label", form=form)


def network(q: str = "") -> str:
    """The routers, and how a query goes through them."""
    return _at("/network", q=q)


def evaluation() -> str:
    """The last report."""
    return _at("/evaluation")


def about() -> str:
    """How the index was made."""
    return _at("/about")
