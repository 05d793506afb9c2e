"""Groups of arrays with names and types, so that only the room that writes an array spells its name."""

from dataclasses import fields
from typing import Any, ClassVar, Self

from pagekin.store.folder import Kin


class Columns:
    """Base of the frozen dataclasses whose fields are memory-mapped arrays of one kind of thing.

    The field `date` of a class with the prefix `page` is the array `page.date`.
    """

    prefix: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]

    @classmethod
    def of(cls, kin: Kin) -> Self:
        """Return the columns of a collection; KinError if it lacks one of them."""
        return cls(**{field.name: kin[f"{cls.prefix}.{field.name}"] for field in fields(cls)})

    @classmethod
    def is_in(cls, kin: Kin) -> bool:
        """Return whether a collection has the columns."""
        return all(f"{cls.prefix}.{field.name}" in kin for field in fields(cls))
