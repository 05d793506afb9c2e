"""Records that travel between tasks: named tuples of plain arrays, as bytes. No pickle: what is read is numbers, never code."""

import io
from typing import Any, NamedTuple, TypeVar

import numpy as np

Record = TypeVar("Record", bound=NamedTuple)


def pack_record(record: NamedTuple) -> bytes:
    """Return a named tuple of arrays as bytes: its name and fields, then each array as a `.npy` file has it."""
    stream = io.BytesIO()
    stream.write(_header(type(record)))
    for values in record:
        np.lib.format.write_array(stream, np.asarray(values), version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def unpack_record(kind: type[Record], data: bytes) -> Record:
    """Return the named tuple of this kind that `pack_record` made the bytes of; raise ValueError if they are of another."""
    stream = io.BytesIO(data)
    header = _header(kind)
    if stream.read(len(header)) != header:
        raise ValueError(f"these bytes hold no record of the kind {kind.__name__}")
    arrays: list[Any] = [np.lib.format.read_array(stream, allow_pickle=False) for _ in kind._fields]
    if stream.read(1):
        raise ValueError(f"a record of the kind {kind.__name__} is followed by more bytes")
    return kind(*arrays)


def _header(kind: type[NamedTuple]) -> bytes:
    return f"{kind.__name__} {' '.join(kind._fields)}\n".encode()
