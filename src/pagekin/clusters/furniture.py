"""Phrases that occur on pages of any subject, so that they name no topic and refine no question."""

from pathlib import Path

from pagekin.hypertext import fold_case

_FURNITURE = [
    line
    for line in Path(__file__).with_name("furniture.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
_WHOLE_FURNITURE = frozenset(line.removesuffix(" …") for line in _FURNITURE)
_KINDS = tuple(line.removesuffix("…") for line in _FURNITURE if line.endswith(" …"))


def is_furniture(form: str) -> bool:
    """Return whether a phrase occurs on pages of any subject."""
    folded = fold_case(form)
    return folded in _WHOLE_FURNITURE or folded.startswith(_KINDS)
