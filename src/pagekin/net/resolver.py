"""Names to addresses under the guard, for aiohttp and for sockets: what was checked is what gets connected to.

A name is resolved once for a connection, every answer is checked, and the connection goes to a checked address, so a
name that means another address a moment later (DNS rebinding) gains nothing. Addresses that are written as such
never see a resolver: the connector checks them again where the socket is made.
"""

import asyncio
import errno
import socket
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from pagekin.net.guard import Guard

Names = Mapping[tuple[str, int], str]
"""Addresses by (host, port), as `parse_names` reads them; the host `*` stands for all."""

_NEXT_ADDRESS = 0.25
"""Seconds after which the next address of a name is tried, as browsers do (RFC 8305)."""


class AddressRefusedError(OSError):
    """The guard refuses an address; the message says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EACCES, reason)
        self.reason = reason


class GuardedResolver(AbstractResolver):
    """Resolves names to those of their addresses that the guard lets through."""

    def __init__(self, guard: Guard, names: Names | None = None) -> None:
        self._guard = guard
        self._names = dict(names or {})

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of `host` that may be connected to; AddressRefusedError if there are others only."""
        results: list[ResolveResult] = []
        reason = ""
        for kind, address in await self._addresses(host, port, family):
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

    async def _addresses(
        self, host: str, port: int, family: socket.AddressFamily
    ) -> list[tuple[socket.AddressFamily, str]]:
        """(family, address) pairs, from the given names or from the system."""
        name = host.rstrip(".").lower()
        given = self._names.get((name, port)) or self._names.get(("*", port))
        if given:
            return [(socket.AF_INET6 if ":" in given else socket.AF_INET, given)]
        loop = asyncio.get_running_loop()
        try:
            infos = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        except UnicodeError as error:  # a label that is empty or too long
            raise socket.gaierror(socket.EAI_NONAME, f"{host} is no name of a host") from error
        pairs = [(kind, str(address[0])) for kind, _type, _proto, _name, address in infos]
        return list(dict.fromkeys(pairs))

    async def close(self) -> None:
        """Nothing is held open."""


def guarded_connector(guard: Guard, names: Names | None = None, **options: Any) -> TCPConnector:
    """An aiohttp connector that connects only where `guard` lets it; `options` are TCPConnector's own."""

    def checked_socket(address: tuple[Any, ...]) -> socket.socket:
        family, kind, protocol, _name, where = address
        if refused := guard.check(where[0]):
            raise AddressRefusedError(refused)
        return socket.socket(family, kind, protocol)

    # Without a cache every connection is checked anew, and a name may move.
    return TCPConnector(
        resolver=GuardedResolver(guard, names), use_dns_cache=False, socket_factory=checked_socket, **options
    )


async def guarded_socket(guard: Guard, host: str, port: int, names: Names | None = None) -> socket.socket:
    """A socket that is connected to an address of `host`, the first that takes it of those that `guard` lets through.

    OSError if there is none. Addresses are tried one after another, the next when the last has not answered for a while.
    """
    if _is_address(host):
        if refused := guard.check(host):
            raise AddressRefusedError(refused)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return await _connected(family, host, port)
    found = await GuardedResolver(guard, names).resolve(host, port)
    tries: set[asyncio.Task[socket.socket]] = set()
    error: OSError = AddressRefusedError(f"{host} has no address")
    try:
        for place, one in enumerate(found, 1):
            tries.add(asyncio.create_task(_connected(one["family"], one["host"], port)))
            while tries:
                patience = _NEXT_ADDRESS if place < len(found) else None
                done, tries = await asyncio.wait(tries, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    if (failed := each.exception()) is None:
                        for other in done - {each}:
                            _close(other)
                        return each.result()
                    error = failed if isinstance(failed, OSError) else OSError(str(failed))
                if place < len(found):
                    break
        raise error
    finally:
        for each in tries:
            each.add_done_callback(_close)
            each.cancel()


async def _connected(family: int, address: str, port: int) -> socket.socket:
    """A socket that is connected to an address."""
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return made


def _close(late: "asyncio.Task[socket.socket]") -> None:
    """Close a connection that nobody waits for any more."""
    if not late.cancelled() and late.exception() is None:
        late.result().close()


def _is_address(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def refusal(error: BaseException | None) -> str:
    """Why the guard refused, if an error of aiohttp says that it did; else an empty string."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, AddressRefusedError):
            return error.reason
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__
    return ""


def parse_names(settings: Iterable[str]) -> dict[tuple[str, int], str]:
    """Addresses by (host, port) from `host:port:address` settings, as curl's --resolve has them."""
    names: dict[tuple[str, int], str] = {}
    for setting in settings:
        host, _, rest = setting.partition(":")
        port, _, address = rest.partition(":")
        address = address.strip("[]")
        try:
            number = int(port)
            socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
        except (ValueError, OSError):
            raise ValueError(f"'{setting}' is not HOST:PORT:ADDRESS, for example docs.example:443:192.0.2.1") from None
        if not host or not 0 < number < 65536:
            raise ValueError(f"'{setting}' is not HOST:PORT:ADDRESS, for example docs.example:443:192.0.2.1")
        names[host.rstrip(".").lower(), number] = address
    return names
