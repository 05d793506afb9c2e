"""Check of arrays' lengths and values, before anything indexes by them."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from pagekin.store.check import Finding
from pagekin.store.folder import Kin

_STEP = 1 << 22


def check_shapes(
    kin: Kin, part: str, lengths: Mapping[str, int], ends: Mapping[str, int], rising: Iterable[str], limits: Mapping[str, int]
) -> Iterator[Finding]:  # fmt: skip
    """Yield what is wrong with the arrays of one part of a collection.

    `lengths` is how long each array is; those in `ends` run from 0 to a number, those in `rising` rise everywhere, and
    all values of those in `limits` lie below a number.
    """
    for name, length in lengths.items():
        if name not in kin:
            yield Finding(name, f"is missing from the {part}")
        elif len(kin[name]) != length:
            yield Finding(name, f"has {len(kin[name]):,} entries where {length:,} belong")
    for name, end in ends.items():
        if name in kin and len(kin[name]) and (int(kin[name][0]) != 0 or int(kin[name][-1]) != end):
            yield Finding(name, f"does not run from 0 to {end:,}")
    for name in rising:
        if name in kin and bool(np.any(kin[name][1:] <= kin[name][:-1])):
            yield Finding(name, "does not rise everywhere")
    for name, limit in limits.items():
        if name in kin and any(
            bool(np.any(kin[name][start : start + _STEP] >= limit)) for start in range(0, len(kin[name]), _STEP)
        ):
            yield Finding(name, f"refers to a number beyond the last, {limit - 1:,}")
