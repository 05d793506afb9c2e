"""The base of all errors for people; every room may import it."""

from typing import Literal


class PagekinError(Exception):
    """Base of the errors that are for people: the message says what is wrong, and where it can what to do."""

    fault: Literal["input", "usage", "ours"] = "input"
    """Whether what was read is wrong, what was asked for, or Pagekin itself."""
    detail = ""
    """More, for a bug report."""
    may_pass = False
    """Whether the same command may succeed later, so that what it can go on from is kept."""
