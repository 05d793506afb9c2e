"""A collection's own label, kept in it in three parts, as it is published."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from pagekin.clusters import Tree
from pagekin.hypertext import Corpus
from pagekin.labels.build import Leaf
from pagekin.labels.fitting import Budget
from pagekin.labels.model import Added, ContentLabel, LabelError, from_json, to_json
from pagekin.labels.parts import FUNCTIONS, etag, joined, published
from pagekin.store import Finding, Kin, KinWriter

ARRAYS = "label."


def read_parts(kin: Kin) -> dict[str, ContentLabel] | None:
    """The parts that a collection publishes, or None if it has none that can be read."""
    if not all(f"{ARRAYS}{function}" in kin for function in FUNCTIONS):
        return None
    try:
        return {function: from_json(kin[f"{ARRAYS}{function}"].tobytes()) for function in FUNCTIONS}
    except LabelError:
        return None


def written_etag(kin: Kin, function: str) -> str:
    """The ETag of a part that a collection publishes, as it was written."""
    return etag(kin[f"{ARRAYS}{function}"].tobytes())


def check_kept(kin: Kin) -> Iterator[Finding]:
    """What is wrong with a collection's label."""
    if "label" not in kin.facts:
        return
    for function in FUNCTIONS:
        name = f"{ARRAYS}{function}"
        if name not in kin:
            yield Finding(name, "is missing")
            continue
        try:
            from_json(kin[name].tobytes())
        except LabelError as error:
            yield Finding(name, f"is no label: {error}")
            continue
        if written_etag(kin, function) != kin.facts["label"]["etags"].get(function):
            yield Finding(name, "is not the part that the manifest tells of")


def read_label(kin: Kin) -> ContentLabel | None:
    """The label that a collection publishes."""
    parts = read_parts(kin)
    return joined(parts) if parts else None


def added_terms(facts: Mapping[str, Any]) -> tuple[Added, ...]:
    """The terms that were added to a collection's label."""
    return tuple(msgspec.convert(one, Added) for one in facts.get("label", {}).get("added", ()))


def put_label(
    writer: KinWriter, corpus: Corpus, trees: Sequence[Tree], before: Kin | None = None,
    added: Sequence[Added] | None = None, threads: int = 1,
) -> dict[str, Any]:  # fmt: skip
    """Make a collection's label by its trees and write it; give the facts about it.

    Parts that hardly differ from those published `before` stay, and with them their ETags. So do the terms that were
    added, unless others are given.
    """
    if added is None:
        added = added_terms(before.facts) if before else ()
    named = {tree.name: tree for tree in trees}
    leaf = Leaf(corpus, named["clusters"], threads, named.get("documents"))
    label = leaf.label(Budget(), added)
    old = read_parts(before) if before else None
    parts = published(old, label, leaf.keys_of(label))
    for function, part in parts.items():
        writer.put(f"{ARRAYS}{function}", np.frombuffer(to_json(part), np.uint8))
    return {
        "label": {
            "added": msgspec.to_builtins(label.added),
            "etags": {function: etag(part) for function, part in parts.items()},
            "lost": msgspec.to_builtins(label.lost),
        }
    }
