"""The limits for reading one page, and their defaults."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one page. A page over a limit is cut there (or skipped, for `ratio`) and counted."""

    page_bytes: int = 16 << 20
    ratio: int = 200
    tokens: int = 500_000
    anchors: int = 50_000
    nesting: int = 400
    url_bytes: int = 2_000
    word_bytes: int = 120


LIMIT_MEANINGS: dict[str, str] = {
    "page_bytes": "bytes of a page after decompression; the rest is cut",
    "ratio": "times a body may grow when decompressed, beyond its first MiB; a page over it is skipped",
    "tokens": "words of a page; the rest is cut",
    "anchors": "anchors of a page; the rest is cut",
    "nesting": "open elements that are remembered; deeper ones are read but their nesting is not",
    "url_bytes": "bytes of a link's address; a longer one is dropped",
    "word_bytes": "bytes of a word in UTF-8; a longer one is cut",
}
"""The meaning of each limit, for `--help`, the documentation and error messages."""

_LEAST = {
    "page_bytes": 1_000,
    "ratio": 2,
    "tokens": 100,
    "anchors": 10,
    "nesting": 16,
    "url_bytes": 100,
    "word_bytes": 16,
}
_MOST = {
    "page_bytes": 1 << 30,
    "tokens": 50_000_000,
    "anchors": 5_000_000,
    "nesting": 4_000,
    "word_bytes": 250,
}


def parse_limits(settings: Iterable[str]) -> Limits:
    """Parse `name=number` settings; ValueError says what is allowed."""
    changed: dict[str, int] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if name not in LIMIT_MEANINGS or not equals:
            table = "\n".join(f"  {f.name:<11} {f.default:>10}  {LIMIT_MEANINGS[f.name]}" for f in fields(Limits))
            raise ValueError(f"'{setting}' is not a limit. Write NAME=NUMBER with one of:\n{table}")
        try:
            changed[name] = int(value.replace(",", ""))
        except ValueError:
            raise ValueError(f"the limit {name} takes a whole number, not '{value}'") from None
        least, most = _LEAST[name], _MOST.get(name, 1 << 40)
        if not least <= changed[name] <= most:
            raise ValueError(f"the limit {name} must be from {least:,} to {most:,}, not {changed[name]:,}")
    return replace(Limits(), **changed)
