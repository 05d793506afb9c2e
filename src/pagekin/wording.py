"""Numbers and hints as people write them; every room may import it."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_DIGITS, _MOST_DIGITS = 3, 6


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: 1 page, 2 pages."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def format_measure(value: float, sign: str = "") -> str:
    """Return a measure with three digits, or with more if it would otherwise read as 0; `sign` "+" also marks what is above 0.

    The end of an interval that leaves out 0 must not look like 0.
    """
    digits = _DIGITS
    while round(value, _MOST_DIGITS) and not round(value, digits):
        digits += 1
    # Adding 0 makes 0 of what is rounded to -0.
    return format(round(value, digits) + 0.0, f"{sign}.{digits}f")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint to add to a message about an unknown name: "; did you mean ...?", or '' if none is like it."""
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def missing_file(path: str) -> str:
    """Return the message about a file or folder that does not exist, with a similar name from the same folder."""
    missing = Path(path)
    try:
        beside = [one.name for one in missing.parent.iterdir()]
    except OSError:
        beside = []
    near = get_close_matches(missing.name, beside, 1, 0.8)
    hint = f" Did you mean {missing.parent / near[0]}?" if near else ""
    return f"{path} does not exist.{hint}"
