"""Resolve names under the guard, for aiohttp: a connection goes to the address that was checked.

A name is resolved once for each connection, every address is checked, and the connection goes to one that passed. So
DNS rebinding, where a name changes its address after the check, has no effect. A host that is written as an address is
not resolved; the connector checks it where the socket is made.
"""

import asyncio
import errno
import socket
from collections.abc import Iterable, Mapping
from typing import Any

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from pagekin.net.guard import Guard

Names = Mapping[tuple[str, int], str]
"""Addresses by (host, port), as `parse_names` reads them; the host `*` stands for all."""


class AddressRefusedError(OSError):
    """The guard refuses an address; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EACCES, reason)
        self.reason = reason


class GuardedResolver(AbstractResolver):
    """A resolver that returns only addresses that the guard allows."""

    def __init__(self, guard: Guard, names: Names | None = None) -> None:
        self._guard = guard
        self._names = dict(names or {})

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of `host` that the guard allows; AddressRefusedError if it allows none."""
        results: list[ResolveResult] = []
        reason = ""
        for kind, address in await self._look_up(host, port, family):
            refused = self._guard.check(address)
            if refused:
                reason = reason or refused
                continue
            results.append(ResolveResult(
                hostname=host, host=address, port=port, family=kind, proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            ))  # fmt: skip
        if not results:
            raise AddressRefusedError(f"{host}: {reason}" if reason else f"{host} has no address")
        return results

    async def _look_up(
        self, host: str, port: int, family: socket.AddressFamily
    ) -> list[tuple[socket.AddressFamily, str]]:
        """Return (family, address) pairs from the given names or from the system."""
        name = host.rstrip(".").lower()
        given = self._names.get((name, port)) or self._names.get(("*", port))
        if given:
            return [(socket.AF_INET6 if ":" in given else socket.AF_INET, given)]
        loop = asyncio.get_running_loop()
        try:
            infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        except UnicodeError as error:  # a label that is empty or too long
            raise socket.gaierror(socket.EAI_NONAME, f"{host} is not a valid host name") from error
        pairs = [(kind, str(address[0])) for kind, _type, _proto, _name, address in infos]
        return list(dict.fromkeys(pairs))

    async def close(self) -> None:
        """Do nothing: no resource is open."""


def guarded_connector(guard: Guard, names: Names | None = None, **options: Any) -> TCPConnector:
    """Return an aiohttp connector that connects only where `guard` allows; `options` go to TCPConnector."""

    def open_socket(address: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _name, where = address
        if refused := guard.check(where[0]):
            raise AddressRefusedError(refused)
        return socket.socket(family, kind, protocol)

    # Without a cache every connection is checked again, and a name may get another address.
    return TCPConnector(
        resolver=GuardedResolver(guard, names), use_dns_cache=False, socket_factory=open_socket, **options
    )


def refusal(error: BaseException | None) -> str:
    """Return why the guard refused a connection, if that caused an error of aiohttp; else an empty string."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, AddressRefusedError):
            return error.reason
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__
    return ""


def parse_names(settings: Iterable[str]) -> dict[tuple[str, int], str]:
    """Parse `host:port:address` settings, as curl's --resolve takes them, into addresses by (host, port)."""
    names: dict[tuple[str, int], str] = {}
    for setting in settings:
        host, _, rest = setting.partition(":")
        port, _, address = rest.partition(":")
        address = address.strip("[]")
        try:
            socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
            if not host or not 0 < int(port) < 65536:
                raise ValueError
        except (ValueError, OSError):
            raise ValueError(f"'{setting}' is not HOST:PORT:ADDRESS, for example docs.example:443:192.0.2.1") from None
        names[host.rstrip(".").lower(), int(port)] = address
    return names
