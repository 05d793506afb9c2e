"""Records that tasks exchange: named tuples of plain arrays, as bytes. No pickle, so that reading runs no code."""

import io
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pagekin.store.arrays import Array
from pagekin.store.ragged import RaggedBytes, pack_strings

Record = TypeVar("Record", bound=NamedTuple)


class Names(NamedTuple):
    """Byte strings, such as addresses or words, as a record or a field of one."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> "Names":
        """Pack strings."""
        return cls(*pack_strings(list(strings)))

    def strings(self) -> list[bytes]:
        """Return the strings."""
        return list(RaggedBytes(self.data, self.offsets))

    def array(self) -> Array:
        """Return the strings as an array of objects, which can be sorted and searched."""
        values = np.empty(len(self.offsets) - 1, dtype=object)
        values[:] = self.strings()
        return values


def join_names(parts: Iterable[Names]) -> Names:
    """Return the sorted distinct strings of several records."""
    return Names.of(sorted(set().union(*(part.strings() for part in parts))))


def pack_record(record: NamedTuple) -> bytes:
    """Return a named tuple of arrays as bytes: its name and fields, then each array as a `.npy` file has it.

    A field may be such a named tuple itself.
    """
    stream = io.BytesIO()
    _write(stream, record)
    return stream.getvalue()


def unpack_record(kind: type[Record], data: bytes) -> Record:
    """Return the named tuple of this kind from the bytes of `pack_record`; raise a ValueError if they are of another kind."""
    stream = io.BytesIO(data)
    record = _read(stream, kind)
    if stream.read(1):
        raise ValueError(f"a record of the kind {kind.__name__} is followed by more bytes")
    return record


def _write(stream: io.BytesIO, record: NamedTuple) -> None:
    stream.write(_header(type(record)))
    for values in record:
        if hasattr(values, "_fields"):
            _write(stream, values)
        else:
            np.lib.format.write_array(stream, np.asarray(values), version=(1, 0), allow_pickle=False)


def _read(stream: io.BytesIO, kind: type[Record]) -> Record:
    header = _header(kind)
    if stream.read(len(header)) != header:
        raise ValueError(f"these bytes hold no record of the kind {kind.__name__}")
    values: list[Any] = []
    for field in kind._fields:
        type_of_field = kind.__annotations__[field]
        if isinstance(type_of_field, type) and issubclass(type_of_field, tuple):
            values.append(_read(stream, type_of_field))  # type: ignore[type-var]
        else:
            values.append(np.lib.format.read_array(stream, allow_pickle=False))
    return kind(*values)


def _header(kind: type[NamedTuple]) -> bytes:
    return f"{kind.__name__} {' '.join(kind._fields)}\n".encode()
