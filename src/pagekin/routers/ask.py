"""Asking a router from outside: one at an address, or a collection in this process as if it were one."""

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from pagekin.routers.messages import RouterError, Travel, encode

T = TypeVar("T")
LARGEST = 64 << 20


def ask(target: str, operation: str, request: Travel, answer: type[T]) -> T:
    """What a router or a collection answers; a RouterError with the reason if it does not."""
    if target.startswith(("http://", "https://")):
        return _decoded(_fetched(target, operation, encode(request), request.deadline + 1), answer)
    from pagekin.routers.leaf import Leaf

    leaf = Leaf(Path(target).stem, Path(target), compiled=False)
    found: T = asyncio.run(getattr(leaf, operation)(request))
    return found


def fetch(target: str, operation: str, answer: type[T], seconds: float = 10.0) -> T:
    """What a router tells of itself."""
    return _decoded(_fetched(target, operation, None, seconds), answer)


def fetch_bytes(target: str, operation: str, seconds: float = 30.0) -> bytes:
    """The same as it is."""
    return _fetched(target, operation, None, seconds)


def _decoded(raw: bytes, answer: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=answer)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise RouterError(f"this is no answer of a Pagekin router: {error}") from None


def _fetched(target: str, operation: str, body: bytes | None, seconds: float) -> bytes:
    url = f"{target.rstrip('/')}/{operation}"
    headers = {"Content-Type": "application/json"} if body is not None else {}
    try:
        asked = urllib.request.Request(url, body, headers)
        with urllib.request.urlopen(asked, timeout=seconds) as response:
            raw: bytes = response.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        raise RouterError(f"{target} answered {error.code}: {_detail(error.read(10_000))}") from None
    except TimeoutError:
        raise RouterError(f"{target} did not answer within {seconds:.0f} s") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        text = getattr(reason, "strerror", None) or reason
        raise RouterError(f"{target} cannot be asked: {text}. Is a router running there?") from None
    if len(raw) > LARGEST:
        raise RouterError(f"{target} answered more than {LARGEST:,} bytes")
    return raw


def _detail(raw: bytes) -> str:
    try:
        said: Any = json.loads(raw)
    except ValueError:
        return "no reason was given"
    return str(said.get("detail", "no reason was given"))[:500] if isinstance(said, dict) else "no reason was given"
