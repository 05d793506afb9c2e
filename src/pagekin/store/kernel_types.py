"""Write the types of a kernel's arguments as text, and read them again: `int64, readonly(uint8[1, C]), pagekin.x.Urls(…)`."""

import ast
from collections.abc import Sequence
from importlib import import_module
from typing import Any


def _numba_types() -> Any:
    """Return numba's types; numba is imported where it is needed, and its own annotations are incomplete."""
    return import_module("numba.types")


def signature_text(types: Sequence[Any]) -> str:
    """Return the types of arguments, as numba has them, as text. A type that `read_signature` does not know has its name."""
    return ", ".join(map(_type_text, types))


def _type_text(kind: Any) -> str:
    types = _numba_types()
    if isinstance(kind, types.Array) and kind.aligned:
        text = f"{_type_text(kind.dtype)}[{kind.ndim}, {kind.layout}]"
        return text if kind.mutable else f"readonly({text})"
    if isinstance(kind, types.BaseTuple):
        parts = ", ".join(map(_type_text, kind))
        named = getattr(kind, "instance_class", None)
        return f"{named.__module__}.{named.__qualname__}({parts})" if named else f"({parts},)"
    if isinstance(kind, types.Omitted):
        return f"omitted({kind.value!r})"
    return str(kind)


def read_signature(text: str) -> tuple[Any, ...]:
    """Parse the types of arguments for numba; raise a ValueError for an invalid text."""
    try:
        tree = ast.parse(f"({text},)" if text else "()", mode="eval").body
        return tuple(map(_read_type, tree.elts))  # type: ignore[attr-defined]
    except (AttributeError, ImportError, SyntaxError, TypeError) as error:
        raise ValueError(f"not the types of arguments: {text}") from error


def _read_type(node: ast.expr) -> Any:
    types = _numba_types()
    match node:
        case ast.Name(id=name):
            kind = getattr(types, name)
            if not isinstance(kind, types.Type):
                raise TypeError(name)
            return kind
        case ast.Subscript(value=item, slice=ast.Tuple(elts=[ast.Constant(value=dimensions), ast.Name(id=layout)])):
            return types.Array(_read_type(item), dimensions, layout)
        case ast.Call(func=ast.Name(id="readonly"), args=[array]):
            return _read_type(array).copy(readonly=True)
        case ast.Call(func=ast.Name(id="omitted"), args=[default]):
            return types.Omitted(ast.literal_eval(default))
        case ast.Call(func=ast.Attribute() as place, args=parts):
            module, _dot, name = ast.unparse(place).rpartition(".")
            named = getattr(import_module(module), name)
            return types.BaseTuple.from_types(tuple(map(_read_type, parts)), named)
        case ast.Tuple(elts=parts):
            return types.BaseTuple.from_types(tuple(map(_read_type, parts)))
    raise TypeError(ast.dump(node))
