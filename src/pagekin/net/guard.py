"""The address guard decides which addresses may be connected to.

Public addresses are allowed. Others must be allowed by the user, and some can never be: link-local addresses and the
addresses at which clouds hand out the credentials of their machines. An IPv6 address that contains an IPv4 address
(mapped, 6to4, NAT64, ISATAP) must pass for both.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path

import ada_url

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


_TABLES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("addresses.toml").read_text(encoding="utf-8")
)
NEVER = tuple((ip_network(network), kind) for network, kind in _TABLES["never"].items())
"""Addresses that can never be allowed, with their kinds."""
SPECIAL = tuple((ip_network(network), kind) for network, kind in _TABLES["special"].items())
"""Addresses that are not public but can be allowed, with their kinds."""

NAMED_RANGES: dict[str, tuple[Network, ...]] = {
    "loopback": (ip_network("127.0.0.0/8"), ip_network("::1/128")),
    "private": tuple(ip_network(n) for n in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")),
}
"""Ranges that `--allow` knows by name."""

_GLOBAL = IPv6Network("2000::/3")
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = IPv6Network("::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard that allows connections to public addresses and to those in `allowed`."""

    allowed: tuple[Network, ...] = ()

    def check(self, address: str) -> str:
        """Return why an IP address must not be connected to, or an empty string."""
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:
            return f"'{address}' is not an IP address"
        for each in (parsed, *embedded_addresses(parsed)):
            if kind := self._forbidden_kind(each, is_whole=each is parsed):
                inside = "" if each is parsed else f", which stands for {each},"
                return f"{address}{inside} is {kind}"
        return ""

    def check_url(self, url: str) -> str:
        """Return why an http(s) URL must not be fetched, as far as its host says, or an empty string.

        Names are checked when they are resolved (`GuardedResolver`), because their address may have changed by then.
        """
        try:
            parsed = ada_url.URL(url)
        except ValueError:
            return f"'{url}' is not a web address"
        if parsed.protocol not in ("http:", "https:"):
            return f"{url} is neither http nor https"
        host: str = parsed.hostname
        if parsed.host_type != ada_url.HostType.DEFAULT:
            return self.check(host.strip("[]"))
        name = host.rstrip(".")
        if name == "localhost" or name.endswith(".localhost"):
            return self.check("127.0.0.1") and self.check("::1") and f"{host} is a loopback address"
        return ""

    def _forbidden_kind(self, address: Address, is_whole: bool) -> str:
        """Return the kind of an address if that kind is forbidden, or an empty string."""
        if kind := _find_kind(address, NEVER):
            return f"{kind}, which is never allowed"
        if any(address in network for network in self.allowed):
            return ""
        if kind := _find_kind(address, SPECIAL):
            return kind
        # An address that contains an IPv4 address is judged by that one alone.
        if (
            isinstance(address, IPv6Address)
            and address not in _GLOBAL
            and not (is_whole and embedded_addresses(address))
        ):
            return "a reserved address"
        return ""


def embedded_addresses(address: Address) -> tuple[IPv4Address, ...]:
    """Return the IPv4 address inside an IPv6 address, or nothing."""
    if isinstance(address, IPv4Address):
        return ()
    if known := address.ipv4_mapped or address.sixtofour:
        return (known,)
    number = int(address)
    ends_with_one = (
        any(address in network for network in _NAT64)
        or (address in _COMPATIBLE and number > 1)
        or number >> 32 & 0xFFFFFFFF in _ISATAP
    )
    return (IPv4Address(number & 0xFFFFFFFF),) if ends_with_one else ()


def _find_kind(address: Address, table: tuple[tuple[Network, str], ...]) -> str:
    return next((kind for network, kind in table if address in network), "")


def parse_allowed(settings: Iterable[str]) -> tuple[Network, ...]:
    """Parse `--allow` settings: `loopback`, `private`, an address or a range; ValueError says what is wrong."""
    networks: list[Network] = []
    for setting in settings:
        if setting.lower() in NAMED_RANGES:
            networks += NAMED_RANGES[setting.lower()]
            continue
        try:
            network = ip_network(setting.strip("[]"))
        except ValueError as error:
            hint = "a range such as 192.168.1.0/24, an address, or one of " + ", ".join(NAMED_RANGES)
            detail = " (bits are set beyond its prefix)" if "host bits" in str(error) else ""
            raise ValueError(f"'{setting}' is not a range of addresses{detail}: write {hint}") from None
        for never, kind in NEVER:
            # A range larger than a forbidden one can be allowed; its forbidden part stays forbidden.
            if network.version == never.version and network[0] in never and network[-1] in never:
                raise ValueError(f"{setting} is {kind}, which is never allowed")
        networks.append(network)
    return tuple(networks)
