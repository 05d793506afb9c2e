"""Calls by the client between routers, in each of the event loops that servers use."""

import asyncio
from collections.abc import Callable
from typing import Any

import uvloop

from pagekin.net import Guard, parse_allowed
from pagekin.routers.client import BrokenError, Client, ConnectError, Reply

from .fakes import Behaviour, Fake

LOOPBACK = Guard(parse_allowed(["loopback"]))
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
Run = Callable[[Any], Any]


async def asked(client: Client, fake: Fake, count: int = 1, body: bytes = b"{}") -> list[Reply | Exception]:
    """What some calls in a row give."""
    found: list[Reply | Exception] = []
    for _ in range(count):
        try:
            found.append(await client.post(fake.url, "search", body))
        except (ConnectError, BrokenError) as error:
            found.append(error)
    return found


def once(run: Run, behave: Behaviour, count: int = 1, most: int = 1000) -> tuple[list[Any], Fake]:
    """(what calls in a row give, the server that was asked, stopped)."""
    with Fake(behave) as fake:

        async def whole() -> list[Reply | Exception]:
            client = Client(LOOPBACK, most)
            try:
                return await asked(client, fake, count)
            finally:
                client.close()

        return run(whole()), fake
