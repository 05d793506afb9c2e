"""Open what the user names: a collection's folder, a network's folder, or the address of a service."""

import asyncio
import re
import threading
import weakref
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pagekin.collection import ReloadingCollection, Request, Service, ServiceError, encode, explain_damage
from pagekin.store import SHARDS, KinError, open_kin
from pagekin.text import QueryError

if TYPE_CHECKING:
    from pagekin.net import Guard
    from pagekin.routers.sharded import LeafService

# `Remote` is imported where it is used: its HTTP client takes longer to load than a collection takes to answer.
T = TypeVar("T")
R = TypeVar("R", bound=Request)
_SECONDS_TO_STOP = 5.0
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_HOST_AND_PORT = re.compile(r"(localhost|[\w.-]+\.[\w-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}(/.*)?")


def address_of(target: str) -> str:
    """Return the address that a target names; '' for a path. A network's folder means its root, if it has only one."""
    if match := _SCHEME.match(target):
        return match[0].lower() + target[match.end() :]
    path = Path(target)
    if path.exists():
        return _root_of(path)
    return f"http://{target}" if _HOST_AND_PORT.fullmatch(target) else ""


def _root_of(path: Path) -> str:
    """Return the address of the root of the network at a path; '' if there is none."""
    from pagekin.routers.network import NETWORK_FILE, Network, NetworkError

    if not (path.name == NETWORK_FILE or (path / NETWORK_FILE).is_file()):
        return ""
    try:
        roots = Network.load(path).roots()
    except NetworkError as error:
        raise ServiceError(str(error)) from None
    if len(roots) != 1:
        named = ", ".join(f"{root.url} ({root.name})" for root in roots) or "none"
        raise ServiceError(f"{path} is a network with {len(roots)} roots; use the address of one of them: {named}")
    return roots[0].url


def open_service(target: str, compiled: bool = True, threads: int = 1) -> Service:
    """Open the service that a target names; raise a KinError or a ServiceError that says why it cannot be opened.

    `compiled` and `threads` are for collections. Whoever names a path may see it in messages.
    """
    if address := address_of(target):
        from pagekin.routers.remote import Remote

        return Remote(address)
    path = Path(target)
    return open_collection(path.stem, path, compiled=compiled, hide_path=False, threads=threads)


def open_collection(name: str, path: Path, address: str = "", **options: Any) -> "LeafService":
    """Open the service of the collection at a path, in one piece or in shards, which are served below `address`.

    Options are those of `ReloadingCollection`.
    """
    if not is_in_shards(path):
        return ReloadingCollection(name, path, **options)
    from pagekin.routers.sharded import ShardedCollection

    return ShardedCollection(name, path, address=address, **options)


def is_in_shards(path: Path) -> bool:
    """Return whether a collection is a folder of shards; False if it cannot be opened, since opening it reports why."""
    try:
        return bool(open_kin(path).facts.get(SHARDS))
    except KinError:
        return False


class BlockingService:
    """A service asked synchronously: its event loop runs in a thread, so it works in a notebook's running loop, too."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._finalizer = weakref.finalize(self, _stop, service)

    def ask(self, question: Callable[[R], Coroutine[Any, Any, T]], request: R) -> T:
        """Call one of the service's methods; raise a ServiceError if the request breaks a limit of its type.

        An unexpected error of a damaged collection says that it is damaged.
        """
        checked = validate(request)
        try:
            return run(question(checked))
        except (KinError, QueryError, ServiceError):
            raise
        except Exception as error:
            whole = self.service.whole
            for part in whole.parts if whole else ():
                if (explained := explain_damage(part.path, error)) is not error:
                    raise explained from error
            raise

    def run(self, question: Coroutine[Any, Any, T]) -> T:
        """Return the service's answer to a question."""
        return run(question)

    def close(self) -> None:
        """Close what is open; this also happens when the object is garbage-collected."""
        self._finalizer()


def validate(request: R) -> R:
    """Return a request as it would arrive over HTTP, or raise a ServiceError that names the field that is wrong."""
    try:
        return msgspec.json.decode(encode(request), type=type(request))
    except (msgspec.MsgspecError, UnicodeError, TypeError) as error:
        raise ServiceError(f"this request is not valid: {error}") from None


def fetch(address: str, what: str, answer: type[T], seconds: float = 10.0, guard: "Guard | None" = None) -> T:
    """Return a service's answer at a path below its address; a `guard` checks whether it may be called."""
    from pagekin.routers.remote import Remote, decode_answer

    async def once() -> bytes:
        remote = Remote(address_of(address) or address, guard)
        try:
            return await remote.fetch(what, seconds)
        finally:
            await remote.stop()

    return decode_answer(run(once()), answer)


class _LoopThread:
    """An event loop in a separate thread, started at the first question."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.thread: threading.Thread | None = None

    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self.thread = threading.Thread(target=self._loop.run_forever, name="pagekin questions", daemon=True)
                self.thread.start()
            return self._loop


_QUESTIONS = _LoopThread()


def run(question: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in that thread and return its result; Ctrl-C cancels it."""
    future = asyncio.run_coroutine_threadsafe(question, _QUESTIONS.loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _stop(service: Service) -> None:
    """Stop a service; do not wait when called from its own thread, as the garbage collector may do."""
    future = asyncio.run_coroutine_threadsafe(service.stop(), _QUESTIONS.loop())
    if threading.current_thread() is not _QUESTIONS.thread:
        future.result(_SECONDS_TO_STOP)
