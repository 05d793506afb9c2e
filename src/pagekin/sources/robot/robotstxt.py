"""The Robots Exclusion Protocol (RFC 9309): what a robots.txt file allows."""

import re
from dataclasses import dataclass, field
from urllib.parse import quote_from_bytes

MOST_BYTES = 500 << 10
"""Bytes of a robots.txt file that are read: the least that RFC 9309, section 2.5, accepts."""

_LINE = re.compile(rb"\s*([A-Za-z-]+)\s*:\s*([^#]*)")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "*$")


@dataclass(frozen=True, slots=True)
class Rule:
    """An allow or disallow line, its path split into the literal pieces between wildcards."""

    allow: bool
    pieces: tuple[str, ...]
    ends: bool
    """The pattern ended in `$`: the path must end where it does."""
    length: int

    def matches(self, path: str) -> bool:
        """Return whether a normalized path matches, in linear time whatever the number of wildcards."""
        first, *rest = self.pieces
        if not path.startswith(first):
            return False
        at = len(first)
        for piece in rest[:-1]:
            at = path.find(piece, at)
            if at < 0:
                return False
            at += len(piece)
        if not rest:
            return not self.ends or at == len(path)
        last = rest[-1]
        if self.ends:
            return path.endswith(last) and len(path) - len(last) >= at
        return path.find(last, at) >= 0


@dataclass(frozen=True, slots=True)
class RobotRules:
    """The rules of a robots.txt file for one robot."""

    rules: tuple[Rule, ...] = ()
    delay: float = 0.0
    """Seconds of the Crawl-delay line, which is not part of the standard; 0 without one."""

    def allows(self, path: str) -> bool:
        """Return whether a path with its query may be fetched: the longest rule decides; of equal ones, allow."""
        if path == "/robots.txt":
            return True
        normalized = _normalize(path.encode("utf-8", "surrogateescape"))
        best = max(((rule.length, rule.allow) for rule in self.rules if rule.matches(normalized)), default=(0, True))
        return best[1]


@dataclass(slots=True)
class _Group:
    agents: list[str]
    rules: list[Rule] = field(default_factory=list)
    delay: float = 0.0
    closed: bool = False


def parse_robots(body: bytes, product: str) -> RobotRules:
    """Parse a robots.txt file and return its rules for the robot called `product`."""
    groups: list[_Group] = []
    for line in re.split(rb"[\r\n]+", body[:MOST_BYTES].removeprefix(b"\xef\xbb\xbf")):
        if not (match := _LINE.match(line)):
            continue
        key, value = match[1].lower(), match[2].strip()
        if key == b"user-agent":
            if not groups or groups[-1].closed:
                groups.append(_Group([]))
            groups[-1].agents.append(_parse_agent(value))
        elif groups and key in (b"allow", b"disallow"):
            groups[-1].closed = True
            if value:
                groups[-1].rules.append(_parse_rule(key == b"allow", value))
        elif groups and key == b"crawl-delay":
            groups[-1].delay = max(groups[-1].delay, _parse_delay(value))
    mine = [group for group in groups if product.lower() in group.agents]
    mine = mine or [group for group in groups if "*" in group.agents]
    rules = tuple(rule for group in mine for rule in group.rules)
    return RobotRules(rules, max((group.delay for group in mine), default=0.0))


def _parse_agent(value: bytes) -> str:
    """Return the product token of a user-agent line in lower case, or `*`."""
    text = value.decode("ascii", "replace")
    if text.startswith("*"):
        return "*"
    token = _TOKEN.match(text)
    return token[0].lower() if token else ""


def _parse_delay(value: bytes) -> float:
    try:
        number = float(value)
    except ValueError:
        return 0.0
    return number if 0 <= number < 1e9 else 0.0


def _parse_rule(allow: bool, value: bytes) -> Rule:
    ends = value.endswith(b"$")
    pattern = value[:-1] if ends else value
    pieces = tuple(_normalize(piece) for piece in pattern.split(b"*"))
    return Rule(allow, pieces, ends, sum(map(len, pieces)) + len(pieces) - 1 + ends)


def _normalize(path: bytes) -> str:
    """Normalize the escapes of a path: unreserved octets plain, those outside ASCII escaped.

    A literal `*` or `$` becomes an escape, because RFC 9309 escapes them in patterns that mean the characters.
    """

    def respell(match: re.Match[bytes]) -> bytes:
        octet = int(match[1], 16)
        return bytes([octet]) if octet in _UNRESERVED else match[0].upper()

    return quote_from_bytes(_ESCAPED.sub(respell, path), safe=_KEPT)
