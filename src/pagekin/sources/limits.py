"""Limits: what each means, its default and its range stand in one place, and `name=number` settings change them."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)


def limit(default: Any, meaning: str, least: float = 0, most: float = 1 << 40) -> Any:
    """Return the field of a limit."""
    return field(default=default, metadata={"meaning": meaning, "range": (least, most)})


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits, most of them for one page. A page over a limit is cut there (or skipped, for `ratio`) and counted."""

    page_bytes: int = limit(16 << 20, "bytes of a page after decompression; the rest is cut", 1_000, 1 << 30)
    ratio: int = limit(
        200, "times a record or body may grow when decompressed, beyond its first MiB; one over it is skipped", 2
    )
    unpacked_bytes: int = limit(
        8 << 30,
        "bytes of the temporary disk that a compressed WARC file in a WACZ may take; the rest is not read",
        1_000_000,
    )
    pdf_pages: int = limit(
        0, "pages of a PDF whose text is read, which needs pypdf; 0 leaves PDFs out, and the rest is cut", 0, 100_000
    )
    tokens: int = limit(500_000, "words of a page; the rest is cut", 100, 50_000_000)
    anchors: int = limit(50_000, "anchors of a page; the rest is cut", 10, 5_000_000)
    nesting: int = limit(
        400, "open elements that are remembered; deeper ones are read but their nesting is not", 16, 4_000
    )
    url_bytes: int = limit(2_000, "bytes of a link's address; a longer one is dropped", 100)
    page_seconds: float = limit(
        60.0, "seconds of processor time that a page may take; one that takes longer is skipped", 0.1, 1 << 20
    )
    word_bytes: int = limit(120, "bytes of a word in UTF-8; a longer one is cut", 16, 250)


def parse_limits(kind: type[T], settings: Iterable[str]) -> T:
    """Return limits of a kind with `name=number` settings; ValueError says what is allowed."""
    known = {one.name: one for one in fields(kind)}
    changed: dict[str, float] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if name not in known or not equals:
            table = "\n".join(f"  {f.name:<12} {f.default!s:>11}  {f.metadata['meaning']}" for f in known.values())
            raise ValueError(f"'{setting}' is not a limit. Write NAME=NUMBER with one of:\n{table}")
        whole = known[name].type is int
        try:
            changed[name] = int(value.replace(",", "")) if whole else float(value)
        except ValueError:
            raise ValueError(f"the limit {name} takes a {'whole ' if whole else ''}number, not '{value}'") from None
    result: T = kind(**changed)
    for name, one in known.items():
        value, (least, most) = getattr(result, name), one.metadata["range"]
        if not least <= value <= most:  # nan is in no range
            raise ValueError(f"the limit {name} must be from {least:,} to {most:,}, not {value:,}")
    return result
