"""The operations of services over HTTP: the methods of `Service`, and the fields of requests that a URL may carry."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_type_hints

import msgspec
from litestar.datastructures import MultiDict
from litestar.openapi.spec import Parameter

from pagekin.collection import Filters, RelatedOptions, Request, Service, ServiceError

_NESTED: dict[str, type[msgspec.Struct]] = {"filters": Filters, "options": RelatedOptions}
"""Fields whose own fields are parameters of a URL."""
_RENAMED = {"query": "q"}


@dataclass(frozen=True)
class Operation:
    """A question that services answer."""

    name: str
    request: type[Request]
    answer: type[Any]
    description: str
    parameters: tuple[str, ...]
    """Fields of the request that a URL may carry; the first is required. None: POST only."""

    @classmethod
    def of(cls, name: str, *parameters: str) -> "Operation":
        """Make an operation of the method of `Service` that has its types and its description."""
        method = getattr(Service, name)
        types = get_type_hints(method)
        return cls(name, types["request"], types["return"], str(method.__doc__), parameters)

    def request_of(self, given: MultiDict[Any]) -> Request:
        """Return the request given by the parameters of a URL; raise a ServiceError if they are invalid."""
        needed = _RENAMED.get(self.parameters[0], self.parameters[0])
        if needed not in given:
            raise ServiceError(f"the address needs {needed}=...")
        try:
            return msgspec.convert(_fields(self.parameters, given), self.request, strict=False)
        except msgspec.ValidationError as error:
            raise ServiceError(f"this request is not valid: {error}") from None

    def describe_parameters(self) -> list[Parameter]:
        """Return the parameters of an address, as OpenAPI describes them."""
        described = list(_describe(self.request, self.parameters))
        described[0].required = True
        return described


def _fields(names: Sequence[str], given: MultiDict[Any]) -> dict[str, Any]:
    """Return the fields of a request that an address carries; a list is a parameter that is repeated."""
    fields: dict[str, Any] = {}
    for name in names:
        if nested := _NESTED.get(name):
            fields[name] = _fields(nested.__struct_fields__, given)
        elif (key := _RENAMED.get(name, name)) in given:
            fields[name] = given.getall(key) if name == "also" else given[key]
    return fields


def _describe(struct: type[msgspec.Struct], names: Sequence[str]) -> Iterator[Parameter]:
    components: Mapping[str, Any] = msgspec.json.schema_components([struct])[1]
    for name in names:
        if nested := _NESTED.get(name):
            yield from _describe(nested, nested.__struct_fields__)
        else:
            schema: Any = dict(components[struct.__name__]["properties"][name])
            description = schema.pop("description")
            yield Parameter(_RENAMED.get(name, name), "query", schema, description=description)


_CURRENT_SET = ("query", "first", "limit", "each", "filters", "deadline")
OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation.of("search", "query", "first", "limit", "filters", "ask", "routing", "deadline"),
        Operation.of("show"),
        Operation.of("select", *_CURRENT_SET),
        Operation.of("expand", *_CURRENT_SET),
        Operation.of("refine", "query", "count", "preset", "deadline"),
        Operation.of("cooccurrences"),
        Operation.of("suggest", "query", "limit", "filters", "preset", "deadline"),
        Operation.of("related", "url", "also", "ask", "options", "deadline"),
        Operation.of("bag"),
        Operation.of("describe", "url", "inlinks", "deadline"),
        Operation.of("tree"),
    )
}
"""All operations by name."""
OTHER_PATHS = {"/together": "cooccurrences"}
"""Paths that earlier versions had."""
