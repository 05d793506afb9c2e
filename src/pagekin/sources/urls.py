"""Bring addresses to one canonical form per URL, and tell their hosts and sites.

The canonical form is what the WHATWG URL parser serialises, without the fragment: scheme and host in lower case,
default ports gone, dot segments resolved, forbidden characters percent-encoded. In the path, characters that mean the
same as their percent-encoded form stand plainly (`~` for `%7E`, `(` for `%28`), and hexadecimal digits are capitals: sites
and tools spell such addresses one way here and another way there. Nothing else is changed: `http` and `https`, `/a` and
`/a/`, `?a=1&b=2` and `?b=2&a=1` stay different addresses.

A site is what is under one owner, by the Public Suffix List: a registrable domain, which is the public suffix under which
names are handed out (`edu`, `co.uk`, `github.io`) and one label more. Suffixes that companies opened to their customers count
like those of the registries, so that `alice.github.io` and `bob.github.io` are two sites. The list comes with an installed
package and is never fetched.
"""

import functools
import re
from typing import TYPE_CHECKING

import ada_url

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

# Addresses that are in canonical form already, almost all that archives name: the library takes ten times as long.
_CANONICAL = re.compile(
    r"https?://(?:[a-z0-9]++(?:-[a-z0-9]++)*+\.)*[a-z][a-z0-9]*+(?:-[a-z0-9]++)*+"
    r"(?:/(?!\.)[A-Za-z0-9_\-.~!$&()*+,;=:@]*+)++(?:\?[A-Za-z0-9_\-.~!$&()*+,;=:@%/?]*+)?+"
)


_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")
_SAME_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$'()*,:=@")
"""Characters of a path that mean the same percent-encoded and plainly."""


def canonical_url(url: str, base: str | None = None) -> str | None:
    """Return the canonical form of `url` (resolved against `base`), or None if it is no http(s) address."""
    if base is None and _CANONICAL.fullmatch(url):
        return url
    try:
        joined: str = ada_url.join_url(base, url) if base else ada_url.normalize_url(url)
    except ValueError:
        return None
    if not joined.startswith(("http://", "https://")):
        return None
    address = joined.partition("#")[0]
    if "%" not in address:
        return address
    start = address.index("/", len("https://"))  # names and passwords before it stay as they are
    path, mark, query = address[start:].partition("?")
    return address[:start] + _ESCAPED.sub(_plain_escape, path) + mark + query


def _plain_escape(escape: re.Match[str]) -> str:
    """Return a percent-encoded character plainly where that means the same, else with capital digits."""
    character = chr(int(escape[1], 16))
    return character if character in _SAME_PLAIN else escape[0].upper()


def host_of(url: str) -> str:
    """Return the host of a canonical URL, with its port if it is not the scheme's own."""
    authority = url.split("/", 3)[2]
    return authority.rpartition("@")[2]


def split_port(host: str) -> tuple[str, str, str]:
    """Split a host into name, colon and port; the last two are empty if it has no port."""
    name, colon, port = host.rpartition(":")
    has_port = colon and port.isdecimal() and (name.endswith("]") or ":" not in name)
    return (name, colon, port) if has_port else (host, "", "")


def host_of_url(url: str) -> str:
    """Return the host of any spelling of an address, with a port that is not the scheme's own; '' if it is not http(s).

    The dot that a full name may end with is left out.
    """
    address = canonical_url(url)
    if address is None:
        return ""
    name, colon, port = split_port(host_of(address))
    return f"{name.rstrip('.') or name}{colon}{port}"


@functools.cache
def _suffixes() -> "PublicSuffixList":
    """Return the Public Suffix List, read at the first question: most commands never ask."""
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def site_of(host: str) -> str:
    """Return the site of a host, without port: its registrable domain, or the host itself where it has none.

    IP addresses, single labels and public suffixes have none. Empty labels, as in `www..example.org` or after a last
    dot, are passed over.
    """
    host = host.lower()
    if host.startswith("["):
        return host[: host.find("]") + 1] or host
    labels = [label for label in host.partition(":")[0].split(".") if label]
    name = ".".join(labels)
    # The URL standard takes every host that ends in a number for an IPv4 address.
    if len(labels) < 2 or labels[-1].isdecimal():
        return name or host
    return _suffixes().privatesuffix(name) or name
