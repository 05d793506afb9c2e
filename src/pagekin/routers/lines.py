"""Line numbers of the tables and keys of a TOML text, which the standard library's parser does not give."""

import re
import tomllib
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping

Place = tuple[str | int, ...]
"""A table or a key, as in ('router', 2, 'parents'): tables of a list are counted from 0."""

_PART = r"""(?:"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|[A-Za-z0-9_-]++)"""
_KEY = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+"
_PARTS = re.compile(_PART)
_BETWEEN = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_HEADER = re.compile(rf"\[(\[?)[ \t]*+({_KEY})[ \t]*+\]\]?")
_ASSIGNED = re.compile(rf"({_KEY})[ \t]*+=")
_PIECE = re.compile(
    r'''"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'''
    r"""|'''(?:[^']|'{1,2}(?!'))*+'{3,5}"""
    r'''|"(?:[^"\\\n]|\\.)*+"'''
    r"""|'[^'\n]*+'|#[^\n]*+|[\[\]{}\n]|[^\[\]{}\n"'#]++""",
    re.DOTALL,
)


def key_lines(text: str) -> dict[Place, int]:
    """Return the line (from 1) of every table and key of a TOML text, except for keys inside `{ }`."""
    ends = [match.start() for match in re.finditer("\n", text)]
    lines: dict[Place, int] = {}
    tables: Counter[str] = Counter()
    here: Place = ()
    position = 0

    def note(place: Place, at: int) -> None:
        lines.setdefault(place, bisect_right(ends, at - 1) + 1)

    while (position := _end(_BETWEEN.match(text, position))) < len(text):
        if header := _HEADER.match(text, position):
            parts = _unquote(header[2])
            if header[1] and len(parts) == 1:
                tables[parts[0]] += 1
            here = _in_tables(parts, tables)
            note(here, position)
            position = header.end()
        elif assigned := _ASSIGNED.match(text, position):
            parts = _unquote(assigned[1])
            place = (*here, *parts) if here else _in_tables(parts, tables)
            for length in range(len(here) + 1, len(place) + 1):
                note(place[:length], position)
            position = assigned.end()
            depth = item = 0
            while piece := _PIECE.match(text, position):
                if piece[0] == "\n" and not depth:
                    break
                if piece[0] == "{" and depth == 1 and len(place) == 1:
                    note((*place, item), position)
                    item += 1
                depth += (piece[0] in "[{") - (piece[0] in "]}")
                position = piece.end()
        else:  # no TOML: whoever parses it says so
            break
    return lines


def line_of(lines: Mapping[Place, int], place: Place) -> int:
    """Return the line of a key, or of its table."""
    return next((lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in lines), 1)


def _in_tables(parts: list[str], tables: Counter[str]) -> Place:
    """Return the place that a header or a top-level key names: of tables in a list, the last."""
    first = parts[0]
    return (first, tables[first] - 1, *parts[1:]) if tables[first] else tuple(parts)


def _unquote(key: str) -> list[str]:
    return [
        part if part[0] not in "\"'" else str(tomllib.loads(f"part = {part}")["part"]) for part in _PARTS.findall(key)
    ]


def _end(match: re.Match[str] | None) -> int:
    return match.end() if match else 0
