"""The Robots Exclusion Protocol (RFC 9309): what a robots.txt file lets us ask for."""

import re
from dataclasses import dataclass, field
from urllib.parse import quote_from_bytes

MOST_BYTES = 500 << 10
"""Bytes of a robots.txt file that are read; RFC 9309, section 2.5, wants at least these."""

_LINE = re.compile(rb"\s*([A-Za-z-]+)\s*:\s*([^#]*)")
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "*$")


@dataclass(frozen=True, slots=True)
class Rule:
    """An allow or disallow line: the literal pieces of its path between wildcards."""

    allow: bool
    pieces: tuple[str, ...]
    ends: bool
    """The path must end where the pattern does: the pattern ended in `$`."""
    length: int

    def matches(self, path: str) -> bool:
        """Whether a spelled path matches; linear, whatever the number of wildcards."""
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
class Robots:
    """The rules for one robot."""

    rules: tuple[Rule, ...] = ()
    delay: float = 0.0
    """Seconds of the Crawl-delay line, which is no part of the standard; 0 without one."""

    def allows(self, path: str) -> bool:
        """Whether the robot may ask for a path with its query: the longest rule decides, at a tie for it."""
        if path == "/robots.txt":
            return True
        spelled = _spelled(path.encode("utf-8", "surrogateescape"))
        best = max(((rule.length, rule.allow) for rule in self.rules if rule.matches(spelled)), default=(0, True))
        return best[1]


@dataclass(slots=True)
class _Group:
    agents: list[str]
    rules: list[Rule] = field(default_factory=list)
    delay: float = 0.0
    closed: bool = False


def parse_robots(body: bytes, product: str) -> Robots:
    """The rules of a robots.txt file for the robot called `product`."""
    groups: list[_Group] = []
    for line in re.split(rb"[\r\n]+", body[:MOST_BYTES].removeprefix(b"\xef\xbb\xbf")):
        if not (found := _LINE.match(line)):
            continue
        key, value = found[1].lower(), found[2].strip()
        if key == b"user-agent":
            if not groups or groups[-1].closed:
                groups.append(_Group([]))
            groups[-1].agents.append(_agent(value))
        elif groups and key in (b"allow", b"disallow"):
            groups[-1].closed = True
            if value:
                groups[-1].rules.append(_rule(key == b"allow", value))
        elif groups and key == b"crawl-delay":
            groups[-1].delay = max(groups[-1].delay, _seconds(value))
    mine = [group for group in groups if product.lower() in group.agents]
    mine = mine or [group for group in groups if "*" in group.agents]
    rules = tuple(rule for group in mine for rule in group.rules)
    return Robots(rules, max((group.delay for group in mine), default=0.0))


def _agent(value: bytes) -> str:
    """The product token that a user-agent line names, in lower case, or `*`."""
    text = value.decode("ascii", "replace")
    if text.startswith("*"):
        return "*"
    token = _TOKEN.match(text)
    return token[0].lower() if token else ""


def _seconds(value: bytes) -> float:
    try:
        number = float(value)
    except ValueError:
        return 0.0
    return number if 0 <= number < 1e9 else 0.0


def _rule(allow: bool, value: bytes) -> Rule:
    ends = value.endswith(b"$")
    pattern = value[:-1] if ends else value
    pieces = tuple(_spelled(piece) for piece in pattern.split(b"*"))
    return Rule(allow, pieces, ends, sum(map(len, pieces)) + len(pieces) - 1 + ends)


def _spelled(path: bytes) -> str:
    """A path with one spelling for every octet: unreserved ones plain, others outside ASCII escaped.

    `*` and `$` that mean themselves are escaped, as RFC 9309 has it in patterns, so that patterns can name them.
    """

    def one(match: re.Match[bytes]) -> bytes:
        octet = int(match[1], 16)
        return bytes([octet]) if octet in _UNRESERVED else match[0].upper()

    return quote_from_bytes(_ESCAPED.sub(one, path), safe=_KEPT)
