"""The addresses of our own pages: everything that a page shows is in its address."""

from collections.abc import Iterable
from contextvars import ContextVar
from urllib.parse import quote, urlencode

JSON = ".json"
ROOT: ContextVar[str] = ContextVar("root", default="")
"""The path below which the router that is asked is served; it differs from request to request."""


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
    return _at("/page", url=url, other=int(other), path="/".join(quote(name, safe="") for name in path))


def compare(urls: Iterable[str]) -> str:
    """Several pages as one query."""
    return _at("/compare", url=list(urls))


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
