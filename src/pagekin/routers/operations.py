"""The table of operations that services answer over HTTP: request, answer, and what an address may carry."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from litestar.params import Parameter

from pagekin.collection import (
    Answer,
    Bag,
    CooccurrenceCounts,
    CooccurrencesRequest,
    DescribeRequest,
    Filters,
    PageDescription,
    Refinements,
    RefineRequest,
    RelatedOptions,
    RelatedRequest,
    Request,
    SearchRequest,
    SelectRequest,
    ShowRequest,
    SuggestRequest,
    TreeNode,
    TreeRequest,
)

_DESCRIPTIONS = {
    "query": "Words, attributes as in title:lock, phrases, OR, NOT.",
    "first": "How many of the best to pass over.",
    "limit": "The most results.",
    "count": "The most terms in each list.",
    "site": "Only pages of this host, or of hosts that end so.",
    "language": "Only pages in this language, such as en.",
    "since": "Only pages from then on: seconds since 1970.",
    "until": "Only pages until then: seconds since 1970.",
    "url": "The address of a page.",
    "also": "Further pages that are asked about together with `url`; may be repeated.",
    "ask": "The most children to ask at each router; 0 means all that may hold a match.",
    "routing": "What children are chosen by: filters, terms (as in 1996), all.",
    "each": "For expand: the most results of each cluster; 0 means all.",
    "preset": "default, or hypursuit1996 for the paper's own way.",
    "deadline": "Seconds to wait.",
    "k": "The most related pages.",
    "min_similarity": "Only pages more similar than this.",
    "sites": "Pages of all sites, of the same, or of others.",
    "captured_only": "Leave out addresses that are known only by links to them.",
    "method": "reranked, exact or estimate.",
    "fold": "Show near-copies under the best of them.",
    "explain": "Give reasons.",
    "inlinks": "The most anchors that lead to the page.",
}
_NESTED: dict[str, type[msgspec.Struct]] = {"filters": Filters, "options": RelatedOptions}
"""Fields whose own fields stand in an address themselves."""
_RENAMED = {"query": "q"}
_LIMITS = ("ge", "le", "min_length", "max_length")


@dataclass(frozen=True)
class Operation:
    """A question that services answer."""

    request: type[Request]
    answer: type[Any]
    description: str
    parameters: tuple[str, ...] = ()
    """Fields of the request that an address may carry; those of filters and options one by one. None: POST only."""
    required: tuple[str, ...] = field(default=("query",))

    def _fields(self) -> dict[str, tuple[Any, Any]]:
        """Return name in the address -> (type, default) of all parameters."""
        found: dict[str, tuple[Any, Any]] = {}
        for name in self.parameters:
            struct = _NESTED.get(name)
            found |= _columns(struct) if struct else {name: _columns(self.request)[name]}
        return {_RENAMED.get(name, name): column for name, column in found.items()}

    def annotations(self) -> dict[str, Any]:
        """Return the type of each parameter, with its description."""
        names = {new: old for old, new in _RENAMED.items()}
        return {
            name: _describe(kind, _DESCRIPTIONS.get(names.get(name, name), ""))
            for name, (kind, _default) in self._fields().items()
        }

    def signature(self, scope: Any) -> inspect.Signature:
        """Return the signature of a handler that takes all parameters by name, and the scope."""
        needed = {_RENAMED.get(name, name) for name in self.required}
        annotations = self.annotations()
        named = [inspect.Parameter("scope", inspect.Parameter.KEYWORD_ONLY, annotation=scope)]
        for name, (_kind, default) in self._fields().items():
            default = inspect.Parameter.empty if name in needed else default
            named.append(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotations[name])
            )
        return inspect.Signature(named)

    def request_of(self, given: Mapping[str, Any]) -> Request:
        """Return the request that the parameters of an address make."""
        return self.request(**_fill(self.request, self.parameters, given))


def _describe(kind: Any, description: str) -> Any:
    """Return the type of a parameter with its description and the limits that the message has, as Litestar wants them."""
    bare = kind
    limits: dict[str, Any] = {}
    options = [option for option in get_args(kind) if option is not NoneType]
    inner = options[0] if get_origin(kind) in (Union, UnionType) and len(options) == 1 else kind
    if get_origin(inner) is Annotated:
        base, *metas = get_args(inner)
        bare = base if inner is kind else base | None
        for meta in metas:
            limits |= {name: value for name in _LIMITS if (value := getattr(meta, name, None)) is not None}
    return Annotated[bare, Parameter(description=description, **limits)]


def _fill(struct: type[msgspec.Struct], names: tuple[str, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name in names:
        if nested := _NESTED.get(name):
            inner = tuple(column.name for column in msgspec.structs.fields(nested))
            values[name] = nested(**_fill(nested, inner, given))
        elif (key := _RENAMED.get(name, name)) in given:
            values[name] = tuple(given[key]) if isinstance(given[key], list) else given[key]
    return values


def _columns(struct: type[msgspec.Struct]) -> dict[str, tuple[Any, Any]]:
    """Return name -> (type, default) of a struct's fields, nested ones opened."""
    found: dict[str, tuple[Any, Any]] = {}
    for column in msgspec.structs.fields(struct):
        if nested := _NESTED.get(column.name):
            found |= _columns(nested)
        else:
            default = inspect.Parameter.empty if column.default is msgspec.NODEFAULT else column.default
            # An address carries a list as a parameter that is repeated.
            found[column.name] = (list[str], ()) if column.name == "also" else (column.type, default)
    return found


_SET = ("query", "first", "limit", "each", "filters", "deadline")
OPERATIONS: dict[str, Operation] = {
    "search": Operation(
        SearchRequest, Answer, "Documents that match a query.",
        ("query", "first", "limit", "filters", "ask", "routing", "deadline"),
    ),
    "show": Operation(ShowRequest, Answer, "Documents with a piece of their text."),
    "select": Operation(
        SelectRequest, Answer, "The clusters and documents of the current set that match. Filters are for documents.", _SET
    ),
    "expand": Operation(
        SelectRequest, Answer, "The matching children of the matching clusters of the current set.", _SET
    ),
    "refine": Operation(
        RefineRequest, Refinements, "Collocated, broader and narrower terms.", ("query", "count", "preset", "deadline")
    ),
    "cooccurrences": Operation(
        CooccurrencesRequest, CooccurrenceCounts, "How many pages of a query are about each word.",
    ),
    "suggest": Operation(
        SuggestRequest, Answer, "Documents like those of the current set, or like the best hits of a query.",
        ("query", "limit", "filters", "preset", "deadline"),
    ),
    "related": Operation(
        RelatedRequest, Answer, "Pages like a page, or like several together.", ("url", "also", "ask", "options", "deadline"),
        required=("url",),
    ),
    "bag": Operation(RelatedRequest, Bag, "A page's weighted bag, to be compared elsewhere."),
    "describe": Operation(
        DescribeRequest, PageDescription, "What was understood of a page.", ("url", "inlinks", "deadline"),
        required=("url",),
    ),
    "tree": Operation(TreeRequest, TreeNode, "The services below this one, and their health."),
}  # fmt: skip
"""All operations by name; a service has a method of the same name."""
OTHER_PATHS = {"/together": "cooccurrences"}
"""Paths that earlier versions had."""
