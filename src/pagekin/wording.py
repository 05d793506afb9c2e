"""Numbers as people write them; every room may import it."""

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
