"""Labels as S-expressions, shaped like Figure 5 of hypursuit-1996, out and in."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from pagekin.clusters import TERM_ATTRIBUTES
from pagekin.labels.membership import TermFilter
from pagekin.labels.model import (
    LABEL_VERSION,
    LARGEST_COUNT,
    AddedTerm,
    ContentLabel,
    LabelError,
    LabelLimits,
    LabelLosses,
    LeafCount,
    SubCluster,
    Term,
    check_label,
    check_size,
    check_version,
    pack_terms,
)

_BARE = re.compile(r'[^\s()";:\\]+')
_TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_DEEPEST = 8
_LISTS = 8
"""Lists for each term that a label may have: a term takes six, and a list far more memory than its two brackets."""
Fields = list[tuple[str, Any]]


def label_to_sexpr(label: ContentLabel, filters: bool = True) -> str:
    """Write a label in the paper's form; without `filters`, which the paper lacks, it is incomplete."""
    lines = [f"((version: {label.version})", f"(name: {_quote(label.name)})"]
    if label.analyser:
        lines.append(f"(analyser: {_quote(label.analyser)})")
    lines.append(f"(size: {label.size}) (num-docs: {label.num_docs}) (num-terms: {label.num_terms})")
    lines.append(f"(num-words: {label.num_words})")
    if label.waiting:
        lines.append(f"(waiting: {label.waiting})")
    lines += (
        f"(leaf: ((identity: {_quote(leaf.identity)}) (num-docs: {leaf.documents}) (hops: {leaf.hops})))"
        for leaf in label.leaves
    )
    lines.append(f"(exact: {'yes' if label.exact else 'no'})")
    lost = label.lost
    lines.append(f"(lost: ((terms: {lost.terms}) (clusters: {lost.clusters}) (filters: {lost.filters})))")
    lines += (f"(heavy: {_atom(word)})" for word in label.heaviest)
    for one in label.added:
        lines.append(f"(added: ({_attribute(one.attribute)}(value: {_atom(one.word)}) (by: {one.by})))")
    lines += _terms_and_filters(label, label, filters)
    for cluster in label.clusters:
        lines += ["", "(cluster:"]
        lines.append(
            f"((cluster-num: {cluster.number}) (size: {cluster.size}) (num-docs: {cluster.num_docs}) "
            f"(num-terms: {cluster.num_terms})"
        )
        lines.append(f"(name: {_quote(cluster.name)})")
        lines += (f"(node: {node})" for node in cluster.nodes)
        lines += (f"(url: {_quote(url)})" for url in cluster.urls)
        lines += (f"(heavy: {_atom(word)})" for word in cluster.heaviest)
        lines += _terms_and_filters(label, cluster, filters)
        lines.append("))")
    return "\n".join([*lines, ")"]) + "\n"


def _terms_and_filters(label: ContentLabel, part: ContentLabel | SubCluster, filters: bool) -> Iterator[str]:
    for term in sorted(label.rows(part.terms)):
        yield (f"(term: ({_attribute(term.attribute)}(value: {_atom(term.word)}) (tf: {term.tf}) (df: {term.df})))")
    for one in part.filters if filters else ():
        yield f'(filter: ((keys: {one.keys}) (bits: "{base64.b64encode(one.bits).decode()}")))'


def _attribute(name: str) -> str:
    return "" if name == "text" else f"(attribute: {name}) "


def _atom(word: str) -> str:
    return word if _BARE.fullmatch(word) else _quote(word)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- in -----------------------------------------------------------------------------------------------------------------


def label_from_sexpr(text: str, limits: LabelLimits | None = None) -> ContentLabel:
    """Read a label from an S-expression from outside; LabelError says why it is refused.

    The paper's own form is enough: without a name the address is the name, missing counts are sums over the
    sub-clusters and no longer exact, and terms may come in any order.
    """
    limits = limits or LabelLimits()
    check_size(len(text.encode("utf-8", "surrogatepass")), limits)
    top = _fields(_parse(text, _LISTS * limits.terms), "the label")
    check_version(_number(top, "version"))
    parts = [_fields(value, "cluster") for value in _all(top, "cluster")]
    words, packed = pack_terms([_read_term(value) for value in _all(part, "term")] for part in (top, *parts))
    clusters = tuple(
        SubCluster(
            _number(part, "cluster-num"), _text(part, "name", ""), _number(part, "num-docs"), _number(part, "size"),
            _number(part, "num-terms"), tuple(_as_number(value, "node") for value in _all(part, "node")),
            tuple(_as_text(value, "url") for value in _all(part, "url")),
            tuple(_as_text(value, "heavy") for value in _all(part, "heavy")), terms,
            tuple(_read_filter(value) for value in _all(part, "filter")),
        )
        for part, terms in zip(parts, packed[1:], strict=True)
    )  # fmt: skip
    counted = [any(key == name for key, _value in top) for name in ("num-docs", "size", "num-terms")]
    lost = _fields(next(_all(top, "lost"), []), "lost")
    label = ContentLabel(
        LABEL_VERSION, _text(top, "analyser", ""), _text(top, "name", _text(top, "url", "")),
        _number(top, "num-docs", sum(one.num_docs for one in clusters)),
        _number(top, "size", sum(one.size for one in clusters)),
        _number(top, "num-terms", sum(one.num_terms for one in clusters)),
        all(counted) and _text(top, "exact", "no") == "yes",
        LabelLosses(*(_number(lost, name, 0) for name in ("terms", "clusters", "filters"))),
        tuple(_as_text(value, "heavy") for value in _all(top, "heavy")),
        tuple(_read_added_term(value) for value in _all(top, "added")), words, packed[0],
        tuple(_read_filter(value) for value in _all(top, "filter")), clusters, _number(top, "num-words", 0),
        _number(top, "waiting", 0), tuple(_read_leaf(value) for value in _all(top, "leaf")),
    )  # fmt: skip
    check_label(label, limits)
    return label


def _read_leaf(value: Any) -> LeafCount:
    fields = _fields(value, "leaf")
    return LeafCount(_text(fields, "identity", ""), _number(fields, "num-docs"), min(_number(fields, "hops"), 32))


def _parse(text: str, most: int) -> Any:
    """Parse an S-expression into nested lists of strings; LabelError if there are more than `most` lists."""
    stack: list[list[Any]] = [[]]
    lists = 0
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at, end)
        if not token:
            raise LabelError(f"the S-expression cannot be read at character {at:,}")
        at = token.end()
        bracket, quoted, bare = token.groups()
        if bracket == "(":
            if len(stack) > _DEEPEST:
                raise LabelError(f"the S-expression is nested deeper than {_DEEPEST} levels at character {at:,}")
            lists += 1
            if lists > most:
                raise LabelError(f"the S-expression has more than {most:,} lists")
            stack.append([])
        elif bracket == ")":
            if len(stack) == 1:
                raise LabelError(f"the S-expression closes what is not open at character {at:,}")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(bare if quoted is None else _ESCAPED.sub(r"\1", quoted))
    if len(stack) > 1 or len(stack[0]) != 1:
        raise LabelError("the S-expression is not one closed list")
    return stack[0][0]


def _fields(value: Any, where: str) -> Fields:
    """Return the (name: value) pairs of a list."""
    pairs = []
    for pair in value if isinstance(value, list) else [value]:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and pair[0].endswith(":")):
            raise LabelError(f"{where}: {str(pair)[:40]!r} is no (name: value)")
        pairs.append((pair[0][:-1], pair[1]))
    return pairs


def _all(fields: Fields, name: str) -> Iterator[Any]:
    return (value for key, value in fields if key == name)


def _number(fields: Fields, name: str, default: int | None = None) -> int:
    value = next(_all(fields, name), None)
    if value is None and default is None:
        raise LabelError(f"{name} is missing")
    return default if value is None and default is not None else _as_number(value, name)


def _as_number(value: Any, name: str) -> int:
    if not (isinstance(value, str) and re.fullmatch(r"[0-9]{1,16}", value) and int(value) <= LARGEST_COUNT):
        raise LabelError(f"{name} is {str(value)[:40]!r}: it must be a whole number from 0 to {LARGEST_COUNT:,}")
    return int(value)


def _text(fields: Fields, name: str, default: str | None = None) -> str:
    value = next(_all(fields, name), default)
    if value is None:
        raise LabelError(f"{name} is missing")
    return _as_text(value, name)


def _as_text(value: Any, name: str) -> str:
    most = 8000 if name == "url" else 1000 if name == "name" else 500
    if not isinstance(value, str) or len(value) > most:
        raise LabelError(f"{name} is {str(value)[:40]!r}: it must be a text of at most {most:,} characters")
    return value


def _word(fields: Fields) -> str:
    word = _text(fields, "value")
    if not word:
        raise LabelError("a term has no letters")
    return word


def _read_term(value: Any) -> Term:
    fields = _fields(value, "term")
    attribute = _text(fields, "attribute", "text")
    if attribute not in TERM_ATTRIBUTES:
        raise LabelError(f"the attribute {attribute[:40]!r} is unknown; there are {', '.join(TERM_ATTRIBUTES)}")
    return Term(attribute, _word(fields), _number(fields, "tf"), _number(fields, "df"))


def _read_added_term(value: Any) -> AddedTerm:
    fields = _fields(value, "added")
    return AddedTerm(_text(fields, "attribute", "text"), _word(fields), _text(fields, "by"))


def _read_filter(value: Any) -> TermFilter:
    fields = _fields(value, "filter")
    bits = next(_all(fields, "bits"), None)
    try:
        return TermFilter(
            _number(fields, "keys"), base64.b64decode(bits if isinstance(bits, str) else "?", validate=True)
        )
    except (binascii.Error, ValueError):
        raise LabelError("a filter's bits are no base64") from None
