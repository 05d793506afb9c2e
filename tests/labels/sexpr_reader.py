"""Reads labels back from S-expressions, to show that the export says everything."""

import base64
import re
from typing import Any

from pagekin.labels import LABEL_VERSION, AddedTerm, ContentLabel, LeafCount, SubCluster, TermFilter
from pagekin.labels.model import LabelLosses, Term, check_label, pack_terms

_TOKEN = re.compile(r'\s*(?:([()])|"((?:[^"\\]|\\.)*)"|([^\s()"]+))', re.DOTALL)
Fields = dict[str, list[Any]]


def label_from_sexpr(text: str) -> ContentLabel:
    """The label that was written so."""
    top = _fields(_parse(text))
    parts = [_fields(value) for value in top.get("cluster", [])]
    words, packed = pack_terms([_term(value) for value in part.get("term", [])] for part in (top, *parts))
    clusters = tuple(
        SubCluster(
            _number(part, "cluster-num"), part["name"][0], _number(part, "num-docs"), _number(part, "size"),
            _number(part, "num-terms"), tuple(map(int, part.get("node", ()))), tuple(part.get("url", ())),
            tuple(part.get("heavy", ())), terms, _filters(part),
        )
        for part, terms in zip(parts, packed[1:], strict=True)
    )  # fmt: skip
    (lost,) = map(_fields, top["lost"])
    assert _number(top, "version") == LABEL_VERSION
    label = ContentLabel(
        LABEL_VERSION, top.get("analyser", [""])[0], top["name"][0], _number(top, "num-docs"), _number(top, "size"),
        _number(top, "num-terms"), top["exact"] == ["yes"],
        LabelLosses(*(_number(lost, name) for name in ("terms", "clusters", "filters"))), tuple(top.get("heavy", ())),
        tuple(_added(value) for value in top.get("added", ())), words, packed[0], _filters(top), clusters,
        _number(top, "num-words"), _number(top, "waiting") if "waiting" in top else 0,
        tuple(_leaf(value) for value in top.get("leaf", ())),
    )  # fmt: skip
    check_label(label)
    return label


def _parse(text: str) -> Any:
    stack: list[list[Any]] = [[]]
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at, end)
        assert token, f"the S-expression cannot be read at character {at:,}"
        at = token.end()
        bracket, quoted, bare = token.groups()
        if bracket == "(":
            stack.append([])
        elif bracket == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(bare if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
    ((whole,),) = stack
    return whole


def _fields(pairs: list[Any]) -> Fields:
    """The values of each name in a list of (name: value)."""
    fields: Fields = {}
    for name, value in pairs:
        assert name.endswith(":")
        fields.setdefault(name[:-1], []).append(value)
    return fields


def _number(fields: Fields, name: str) -> int:
    (value,) = fields[name]
    return int(value)


def _term(value: Any) -> Term:
    fields = _fields(value)
    return Term(fields.get("attribute", ["text"])[0], fields["value"][0], _number(fields, "tf"), _number(fields, "df"))


def _added(value: Any) -> AddedTerm:
    fields = _fields(value)
    return AddedTerm(fields.get("attribute", ["text"])[0], fields["value"][0], fields["by"][0])


def _leaf(value: Any) -> LeafCount:
    fields = _fields(value)
    return LeafCount(fields["identity"][0], _number(fields, "num-docs"), _number(fields, "hops"))


def _filters(part: Fields) -> tuple[TermFilter, ...]:
    held = map(_fields, part.get("filter", ()))
    return tuple(TermFilter(_number(one, "keys"), base64.b64decode(one["bits"][0], validate=True)) for one in held)
