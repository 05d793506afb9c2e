"""Asking a router from outside: one at an address, or a collection in this process as if it were one."""

import asyncio
import http.client
import json
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from pagekin.net import Guard
from pagekin.routers.messages import RouterError, Travel, encode

T = TypeVar("T")
LARGEST = 64 << 20
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"(localhost|[\w.-]+\.[\w-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}(/.*)?")


def address_of(target: str) -> str:
    """The address that a target names, '' if it is a path: a network's folder names its root, if it has one only."""
    if found := _SCHEME.match(target):
        return found[0].lower() + target[found.end() :]
    path = Path(target)
    if path.exists():
        return _root_of(path)
    return f"http://{target}" if _HOST_AND_PORT.fullmatch(target) else ""


def _root_of(path: Path) -> str:
    """The address of the root of the network at a path; '' if there is none."""
    from pagekin.routers.network import FILE, Network, NetworkError

    if not (path.name == FILE or (path / FILE).is_file()):
        return ""
    try:
        roots = Network.load(path).roots()
    except NetworkError as error:
        raise RouterError(str(error)) from None
    if len(roots) != 1:
        named = ", ".join(f"{root.url} ({root.name})" for root in roots) or "none"
        raise RouterError(f"{path} is a network with {len(roots)} roots; ask one of them by its address: {named}")
    return roots[0].url


def ask(target: str, operation: str, request: Travel, answer: type[T]) -> T:
    """What a router or a collection answers; a RouterError with the reason if it does not."""
    if address := address_of(target):
        return _decoded(_fetched(address, operation, encode(request), request.deadline + 1), answer)
    from pagekin.routers.damage import or_damaged
    from pagekin.routers.leaf import Leaf
    from pagekin.store import KinError
    from pagekin.text import QueryError

    leaf = Leaf(Path(target).stem, Path(target), compiled=False)
    try:
        found: T = asyncio.run(getattr(leaf, operation)(request))
    except (KinError, QueryError, RouterError):
        raise
    except Exception as error:
        raise or_damaged(Path(target), error) from error
    return found


def fetch(target: str, operation: str, answer: type[T], seconds: float = 10.0, guard: Guard | None = None) -> T:
    """What a router tells of itself; with a `guard`, if its address may be called."""
    return _decoded(_fetched(address_of(target) or target, operation, None, seconds, guard), answer)


def fetch_bytes(target: str, operation: str, seconds: float = 30.0) -> bytes:
    """The same as it is."""
    return _fetched(address_of(target) or target, operation, None, seconds)


def _decoded(raw: bytes, answer: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=answer)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise RouterError(f"this is no answer of a Pagekin router: {error}") from None


def _fetched(target: str, operation: str, body: bytes | None, seconds: float, guard: Guard | None = None) -> bytes:
    """The body of an answer that came within so many seconds, however slowly or often it is sent."""
    try:
        return _within(seconds, partial(_read, target, operation, body, seconds, guard))
    except urllib.error.HTTPError as error:
        raise RouterError(f"{target} answered {error.code}: {_detail(error)}") from None
    except TimeoutError:
        raise RouterError(f"{target} did not answer within {seconds:.3g} s") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(getattr(error, "reason", None), TimeoutError):
            raise RouterError(f"{target} did not answer within {seconds:.3g} s") from None
        raise RouterError(f"{target} cannot be asked: {_reason(error)}") from None


def _within(seconds: float, do: Callable[[], T]) -> T:
    """What a function gives, or a TimeoutError; it goes on, but keeps nobody from ending.

    Timeouts of sockets are for each read, and looking up a name has none.
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(do())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return done.result(seconds)


def _read(target: str, operation: str, body: bytes | None, seconds: float, guard: Guard | None) -> bytes:
    url = f"{target.rstrip('/')}/{operation}"
    headers = {"Content-Type": "application/json"} if body is not None else {}
    handlers: list[Any] = [_NoRedirects]
    if guard is not None:
        handlers += [_GuardedHttp(guard), _GuardedHttps(guard)]
    if guard is not None or _is_loopback(urlsplit(target).hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    opener = urllib.request.build_opener(*handlers)
    with opener.open(urllib.request.Request(url, body, headers), timeout=seconds) as response:
        raw: bytes = response.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise ValueError(f"it answered more than {LARGEST:,} bytes")
    return raw


def _is_loopback(host: str) -> bool:
    """Whether a host is this machine: no proxy reaches what we call so."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".").lower().rpartition(".")[2] == "localhost"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Routers do not send anybody elsewhere, so whoever does is none."""

    def redirect_request(self, *_asked: Any) -> None:
        return None


class _RefusedError(OSError):
    """The guard refuses an address."""


def _guarded(guard: Guard, address: tuple[str, int], timeout: float, *_more: Any) -> socket.socket:
    """A socket to an address of a host that may be called, the first that takes it."""
    reasons, last = [], OSError(f"{address[0]} has no address")
    for family, kind, protocol, _name, where in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
        if refused := guard.check(str(where[0])):
            reasons.append(refused)
            continue
        made = socket.socket(family, kind, protocol)
        try:
            made.settimeout(timeout)
            made.connect(where)
        except OSError as error:
            made.close()
            last = error
        else:
            return made
    raise _RefusedError(reasons[0]) if reasons else last


def _guarded_connection(kind: type[http.client.HTTPConnection], guard: Guard) -> Any:
    """What makes connections of a kind, to addresses that may be called alone."""

    def make(host: str, **options: Any) -> http.client.HTTPConnection:
        made: Any = kind(host, **options)
        # http.client has no other place for it, and urllib takes whatever makes connections.
        made._create_connection = partial(_guarded, guard)
        found: http.client.HTTPConnection = made
        return found

    return make


class _GuardedHttp(urllib.request.HTTPHandler):
    """http under the guard."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def http_open(self, asked: urllib.request.Request) -> Any:
        return self.do_open(_guarded_connection(http.client.HTTPConnection, self._guard), asked)


class _GuardedHttps(urllib.request.HTTPSHandler):
    """https under the guard."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def https_open(self, asked: urllib.request.Request) -> Any:
        return self.do_open(_guarded_connection(http.client.HTTPSConnection, self._guard), asked)


def _reason(error: Exception) -> str:
    """Why nobody could be asked, and what to do."""
    reason = getattr(error, "reason", None) or error
    text = str(getattr(reason, "strerror", None) or reason).rstrip(".")
    if isinstance(reason, _RefusedError):
        return f"{text}{allowing(text)}"
    return f"{text}. Is a router running there?"


def allowing(refused: str) -> str:
    """What to write to allow an address that the guard refused, if it can be allowed."""
    if "never allowed" in refused:
        return ""
    word = next((word for word in ("loopback", "private") if word in refused), "")
    what = f'"{word}"' if word else "its address or range"
    return f"; to allow it, write allow = [{what}] under [network] in network.toml"


def _detail(error: urllib.error.HTTPError) -> str:
    if 300 <= error.code < 400:
        return f"it leads to {str(error.headers.get('Location', ''))[:300]}; ask there, if that is a router"
    try:
        said: Any = json.loads(_within(5.0, partial(error.read, 10_000)))
    except (OSError, ValueError, http.client.HTTPException):
        said = None
    return str(said.get("detail", "no reason was given"))[:500] if isinstance(said, dict) else "no reason was given"
