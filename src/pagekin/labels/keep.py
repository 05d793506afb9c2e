"""A collection's own label, kept in it in three parts, as it is published."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from pagekin.clusters import Tree
from pagekin.hypertext import Corpus
from pagekin.labels.model import AddedTerm, ContentLabel, LabelError, label_from_json, label_to_json
from pagekin.labels.parts import ABSTRACTION_FUNCTIONS, join_parts, label_etag, parts_to_publish
from pagekin.store import Finding, Kin, KinWriter, Workspace

LABEL_ARRAYS = "label."


def read_label_parts(kin: Kin) -> dict[str, ContentLabel] | None:
    """Return the label parts that a collection publishes, or None if they are missing or unreadable."""
    if not all(f"{LABEL_ARRAYS}{function}" in kin for function in ABSTRACTION_FUNCTIONS):
        return None
    try:
        return {
            function: label_from_json(kin[f"{LABEL_ARRAYS}{function}"].tobytes()) for function in ABSTRACTION_FUNCTIONS
        }
    except LabelError:
        return None


def stored_etag(kin: Kin, function: str) -> str:
    """Return the ETag of a stored part, computed from the bytes as they were written."""
    return label_etag(kin[f"{LABEL_ARRAYS}{function}"].tobytes())


def check_stored_label(kin: Kin) -> Iterator[Finding]:
    """Yield what is wrong with a collection's label."""
    if "label" not in kin.facts:
        return
    for function in ABSTRACTION_FUNCTIONS:
        name = f"{LABEL_ARRAYS}{function}"
        if name not in kin:
            yield Finding(name, "is missing")
            continue
        try:
            label_from_json(kin[name].tobytes())
        except LabelError as error:
            yield Finding(name, f"is not a label: {error}")
            continue
        if stored_etag(kin, function) != kin.facts["label"]["etags"].get(function):
            yield Finding(name, "is not the part that the manifest tells of")


def read_label(kin: Kin) -> ContentLabel | None:
    """Return the label that a collection publishes, or None."""
    parts = read_label_parts(kin)
    return join_parts(parts) if parts else None


def added_terms(facts: Mapping[str, Any]) -> tuple[AddedTerm, ...]:
    """Return the terms that were added to a collection's label."""
    return tuple(msgspec.convert(one, AddedTerm) for one in facts.get("label", {}).get("added", ()))


def put_label(
    writer: KinWriter, corpus: Corpus, trees: Sequence[Tree], before: Kin | None = None,
    added: Sequence[AddedTerm] | None = None, threads: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Make a collection's label from its trees, write it, and return the facts about it.

    Parts that hardly differ from those published `before` stay, and with them their ETags. So do the terms that were
    added, unless others are given.
    """
    from pagekin.labels.build import LeafTerms  # which questions do not need
    from pagekin.labels.fitting import LabelBudget

    if added is None:
        added = added_terms(before.facts) if before else ()
    named = {tree.name: tree for tree in trees}
    space = Workspace(writer.work, writer.memory)
    leaf = LeafTerms(corpus, named["clusters"], threads, named.get("documents"), space)
    label = leaf.label(LabelBudget(), added)
    old = read_label_parts(before) if before else None
    return write_label(writer, label, parts_to_publish(old, label, leaf.keys_of(label)))


def write_label(writer: KinWriter, label: ContentLabel, parts: Mapping[str, ContentLabel]) -> dict[str, Any]:
    """Write the parts of a label; return the facts about it."""
    for function, part in parts.items():
        writer.put(f"{LABEL_ARRAYS}{function}", np.frombuffer(label_to_json(part), np.uint8))
    return {
        "label": {
            "added": msgspec.to_builtins(label.added),
            "etags": {function: label_etag(part) for function, part in parts.items()},
            "lost": msgspec.to_builtins(label.lost),
        }
    }
