"""A label in three parts, one for each abstraction function, and when to publish a part again.

A router asks a child for parts it does not have, by their ETags. A collection that was read again publishes a part anew
only if it changed materially; otherwise the part it published before stays, and with it its ETag.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import zstandard

from pagekin.labels.membership import FilterBank, TermFilter, TermKeys
from pagekin.labels.model import (
    ContentLabel,
    LabelError,
    LabelLimits,
    LabelTerms,
    SubCluster,
    label_from_json,
    label_to_json,
    pack_terms,
)

_Part = TypeVar("_Part", ContentLabel, SubCluster)
ABSTRACTION_FUNCTIONS = ("refinement", "routing", "browsing")
_STEP = 1 << 20
"""Bytes of a label that are processed before yielding to other threads."""
THRESHOLD = 0.1
"""The share of a part that may differ before it is published again."""
_WHOLE = {
    "name": "browsing", "heaviest": "browsing", "added": "routing", "filters": "routing", "leaves": "routing",
    "terms": "routing",
}  # fmt: skip
"""Which function needs a field of the whole label; all need the others."""
_CLUSTER = {
    "name": "browsing", "nodes": "browsing", "urls": "browsing", "heaviest": "browsing", "filters": "routing",
    "terms": "refinement",
}  # fmt: skip
"""The same for a sub-cluster."""


def label_part(label: ContentLabel, function: str) -> ContentLabel:
    """Return the part of a label that one abstraction function needs, as a label."""

    def bare(part: _Part, owners: Mapping[str, str]) -> _Part:
        empty = {name: type(getattr(part, name))() for name, owner in owners.items() if owner != function}
        return msgspec.structs.replace(part, **empty)

    whole, clusters = bare(label, _WHOLE), [bare(cluster, _CLUSTER) for cluster in label.clusters]
    return _with_terms(whole, clusters, label, label)


def _with_terms(
    whole: ContentLabel, clusters: Sequence[SubCluster], of_whole: ContentLabel, of_clusters: ContentLabel
) -> ContentLabel:
    """Return a label of a whole and its clusters, whose terms are numbered as in these labels."""
    inside = (of_clusters.rows(cluster.terms) for cluster in clusters)
    words, (own, *packed) = pack_terms([of_whole.rows(whole.terms), *inside])
    own_terms = (msgspec.structs.replace(one, terms=terms) for one, terms in zip(clusters, packed, strict=True))
    return msgspec.structs.replace(whole, words=words, terms=own, clusters=tuple(own_terms))


def label_parts(label: ContentLabel) -> dict[str, ContentLabel]:
    """Return the three parts of a label."""
    return {function: label_part(label, function) for function in ABSTRACTION_FUNCTIONS}


def join_parts(parts: Mapping[str, ContentLabel]) -> ContentLabel:
    """Join the parts of a label; raise a KeyError that names a part if it is missing.

    Counts of parts from different times may differ a little: the larger ones are kept.
    """
    parts = {function: parts[function] for function in ABSTRACTION_FUNCTIONS}
    if len({len(part.clusters) for part in parts.values()}) > 1:
        raise LabelError("the parts of the label have different numbers of sub-clusters: they do not belong together")

    def join(pieces: Mapping[str, _Part], owners: Mapping[str, str]) -> _Part:
        counts = {
            name: max(getattr(one, name) for one in pieces.values()) for name in ("num_docs", "size", "num_terms")
        }
        own = {name: getattr(pieces[owner], name) for name, owner in owners.items()}
        return msgspec.structs.replace(pieces["routing"], **counts, **own)

    whole = msgspec.structs.replace(join(parts, _WHOLE), exact=all(part.exact for part in parts.values()))
    cluster_parts = zip(*(part.clusters for part in parts.values()), strict=True)
    clusters = [join(dict(zip(parts, pieces, strict=True)), _CLUSTER) for pieces in cluster_parts]
    return _with_terms(whole, clusters, parts["routing"], parts["refinement"])


def label_etag(part: ContentLabel | bytes) -> str:
    """Return the ETag of a part, or of its JSON form as it was written.

    Pass the bytes where they are at hand: a later version may write the same part in another way.
    """
    return hashlib.blake2b(part if isinstance(part, bytes) else label_to_json(part), digest_size=12).hexdigest()


def leaf_identity(etags: Mapping[str, str]) -> str:
    """Return the identity of a leaf from the ETags of its label: the same wherever and however often it is served."""
    return hashlib.blake2b("".join(sorted(etags.values())).encode(), digest_size=8).hexdigest()


# -- on the wire --------------------------------------------------------------------------------------------------------


def label_to_wire(label: ContentLabel) -> bytes:
    """Encode a label or a part as compressed JSON."""
    return zstandard.ZstdCompressor(level=9).compress(label_to_json(label))


def label_from_wire(data: bytes, limits: LabelLimits | None = None) -> ContentLabel:
    """Decode a label from compressed JSON of another node; raise LabelError with the reason if it is refused.

    One that is over the limits is refused before its JSON is decoded, since that is what costs.
    """
    limits = limits or LabelLimits()
    most = 4 * limits.terms + limits.urls + 2 * (limits.filters + limits.added) + 100 * limits.clusters
    text, values = bytearray(), 0
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data) as reader:
            while piece := reader.read(_STEP):
                text += piece
                values += piece.count(b",")
                if len(text) > limits.bytes:
                    raise LabelError(f"the label has more than {limits.bytes:,} bytes, the limit")
                if values > most:
                    raise LabelError(f"the label holds more than {most:,} values")
    except zstandard.ZstdError as error:
        raise LabelError(f"the label cannot be decompressed: {error}") from None
    if not data:
        raise LabelError("the label is empty")
    return label_from_json(bytes(text), limits)


# -- when a part is published anew ----------------------------------------------------------------------------------------


def parts_to_publish(
    old: Mapping[str, ContentLabel] | None, new: ContentLabel, keys: Iterable[TermKeys] | None = None
) -> dict[str, ContentLabel]:
    """Choose the parts to publish: new ones if they changed materially, otherwise the old ones.

    `keys` are those of the whole and of each sub-cluster, where they are known: a filter that holds them all needs not be
    sent again, a filter that lacks one is, since routing must not lose a match.
    """
    fresh = label_parts(new)
    if old is None or any(
        len(old[function].clusters) != len(new.clusters)
        or (old[function].version, old[function].analyser, old[function].waiting)
        != (new.version, new.analyser, new.waiting)
        or _counts_moved(old[function], fresh[function])
        for function in ABSTRACTION_FUNCTIONS
    ):
        return fresh
    changed = {
        "refinement": any(
            _distance(_df(old["refinement"], a.terms), _df(fresh["refinement"], b.terms)) > THRESHOLD
            for a, b in zip(old["refinement"].clusters, fresh["refinement"].clusters, strict=True)
        ),
        "routing": _routing_changed(old["routing"], fresh["routing"], keys),
        "browsing": _browsing_changed(old["browsing"], fresh["browsing"]),
    }
    return {function: fresh[function] if changed[function] else old[function] for function in ABSTRACTION_FUNCTIONS}


def _counts_moved(old: ContentLabel, new: ContentLabel) -> bool:
    """Return whether the whole or a sub-cluster grew or shrank materially."""
    counts = [(a.num_docs, b.num_docs) for a, b in zip(old.clusters, new.clusters, strict=True)]
    return any(abs(a - b) > THRESHOLD * max(a, b) for a, b in [(old.num_docs, new.num_docs), *counts])


def _df(label: ContentLabel, terms: LabelTerms) -> dict[tuple[str, str], int]:
    return {(term.attribute, term.word): term.df for term in label.rows(terms)}


def _distance(a: Mapping[Any, int], b: Mapping[Any, int]) -> float:
    """Return 1 - weighted Jaccard: 0 for equal counts, 1 for nothing in common."""
    keys = {*a, *b}
    most = sum(max(a.get(key, 0), b.get(key, 0)) for key in keys)
    return 1 - sum(min(a.get(key, 0), b.get(key, 0)) for key in keys) / most if most else 0.0


def _routing_changed(old: ContentLabel, new: ContentLabel, keys: Iterable[TermKeys] | None) -> bool:
    before, after = ([label.filters, *(one.filters for one in label.clusters)] for label in (old, new))
    if (old.added, old.leaves) != (new.added, new.leaves) or _distance(
        _df(old, old.terms), _df(new, new.terms)
    ) > THRESHOLD:
        return True
    if keys is None:
        return before != after
    if [len(one) for one in before] != [len(one) for one in after]:
        return True
    return any(not _still_fits(filters, mine) for filters, mine in zip(before, keys, strict=True))


def _still_fits(filters: Sequence[TermFilter], keys: TermKeys) -> bool:
    """Return whether published filters hold all keys, and few that are gone."""
    if not filters:
        return True
    return len(keys) >= (1 - THRESHOLD) * sum(one.keys for one in filters) and FilterBank(filters).holds_all(keys)


def _browsing_changed(old: ContentLabel, new: ContentLabel) -> bool:
    if old.name != new.name:
        return True
    if [(one.name, one.nodes) for one in old.clusters] != [(one.name, one.nodes) for one in new.clusters]:
        return True
    shown = [
        {(number, what) for number, one in enumerate(label.clusters) for what in (*one.urls, *one.heaviest)}
        for label in (old, new)
    ]
    return len(shown[0] ^ shown[1]) > THRESHOLD * max(len(shown[0] | shown[1]), 1)
