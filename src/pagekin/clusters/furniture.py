"""Phrases that occur on pages of any subject, so that they name no topic and refine no question."""

import re
from pathlib import Path

from pagekin.hypertext import fold_case

_FURNITURE = [
    line
    for line in Path(__file__).with_name("furniture.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
_WHOLE_FURNITURE = frozenset(line.removesuffix(" …") for line in _FURNITURE)
_COUNTS = re.compile(r"\d+[^\W\d]{2}|\d{2,}[^\W\d]|[^\W\d]|.*[²³]")
_KINDS = tuple(line.removesuffix("…") for line in _FURNITURE if line.endswith(" …"))


def is_furniture(form: str) -> bool:
    """Return whether a phrase occurs on pages of any subject."""
    folded = fold_case(form)
    return folded in _WHOLE_FURNITURE or folded.startswith(_KINDS)


def is_count(word: str) -> bool:
    """Return whether a word is an ordinal, a time, a unit or a single sign: *12th*, *11am*, *1990s*, *km²*, *δ*."""
    return bool(_COUNTS.fullmatch(word))
