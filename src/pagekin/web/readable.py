"""Derive readable names from addresses, for pages without a known title."""

import re
from collections.abc import Container
from urllib.parse import unquote, urlsplit

from pagekin.hypertext import fold_case
from pagekin.labels import plain_text

_LONGEST, _LONGEST_ADDRESS = 60, 200
_FEWEST_LETTERS = 4
"""Letters of the longest word of a name."""
_ENDING = re.compile(r"\.[A-Za-z]{1,5}[0-9]?$")
_BORDER = re.compile(r"[^\w']+|_+|(?<=[a-z])(?=[A-Z])")
_NAMELESS = frozenset("index home homepage welcome default main toc contents frames top".split())
"""What the first page of a folder is called, which tells nothing."""


def readable(url: str, known: Container[str]) -> tuple[str, str]:
    """Return (a name for the page at an address, the part before it); the name is '' if nobody would understand it.

    It is the last part of the address that says something, if all its words are `known`: words that pages use. The first
    page of a host is named by the host.
    """
    try:
        parts = urlsplit(url)
        host = plain_text(parts.netloc)
    except ValueError:
        return "", ""
    if parts.query or len(url) > _LONGEST_ADDRESS:
        return "", ""
    segments = [_ENDING.sub("", plain_text(unquote(part))).strip() for part in parts.path.split("/")]
    segments = [part for part in segments if part and fold_case(part) not in _NAMELESS]
    if not segments:
        return host[:_LONGEST], ""
    words = [word for word in _BORDER.split(segments[-1]) if word]
    way = " › ".join([host, *dict.fromkeys(segments[:-1])])
    name = " ".join(words)
    if (
        segments[-1].startswith("~")
        or len(name) > _LONGEST
        or max(map(len, words), default=0) < _FEWEST_LETTERS
        or not all(word.isalpha() and fold_case(word) in known for word in words)
    ):
        return "", way
    return " ".join(word[0].upper() + word[1:] for word in words), way
