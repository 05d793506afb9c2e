"""Letters: the messages that ranges of addresses exchange, round by round.

A stage that needs what other ranges know runs in rounds. In each, every range is given the letters that were written to it in the
round before, in any order, and returns what it knows now and letters to others. An engine has to carry letters, to add up the
tallies of a round, and to go on until all ranges are done: all of them are after the same round.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pagekin.store import Array, Names

State = TypeVar("State")


class Letter(NamedTuple):
    """Rows of two addresses and a number, from one range of addresses to another."""

    sender: npt.NDArray[np.int64]
    """() the number of the range."""
    first: Names
    second: Names
    numbers: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Round(Generic[State]):
    """The result of one round of a range."""

    state: State
    letters: dict[int, Letter]
    """Letters by the number of the range that each goes to; none is empty."""
    tally: int
    """What is to be added up over all ranges, and given to all in the next round."""
    done: bool


class Ranges(NamedTuple):
    """The division of addresses into ranges, as one of the ranges sees it."""

    number: int
    """Which one it is, from 0."""
    first_addresses: tuple[bytes, ...]
    """The least addresses of all ranges but the first."""

    def find(self, addresses: Array) -> npt.NDArray[np.int64]:
        """Return the number of the range that each address lies in."""
        return np.searchsorted(as_array(self.first_addresses), addresses, side="right")

    def write(self, to: Array, first: Array, second: Array, numbers: Array) -> dict[int, Letter]:
        """Write rows to the ranges that hold the addresses `to`; the order of rows is kept."""
        ranges = self.find(to)
        letters = {}
        for number in np.unique(ranges).tolist():
            own = ranges == number
            letters[number] = Letter(
                np.asarray(self.number), Names.of(first[own]), Names.of(second[own]), numbers[own].astype(np.int64)
            )
        return letters

    def answer(self, letter: Letter, first: Array, second: Array, numbers: Array) -> dict[int, Letter]:
        """Write rows to the sender of a letter."""
        if not len(numbers):
            return {}
        reply = Letter(np.asarray(self.number), Names.of(first), Names.of(second), numbers.astype(np.int64))
        return {int(letter.sender): reply}


def as_array(addresses: Iterable[bytes]) -> Array:
    """Return addresses as an array of objects."""
    values = list(addresses)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def no_names(count: int) -> Array:
    """Return empty strings, for letters without second addresses."""
    names = np.empty(count, dtype=object)
    names[:] = b""
    return names


def in_order(inbox: Sequence[Letter]) -> list[Letter]:
    """Return letters in the order of their senders."""
    return sorted(inbox, key=lambda letter: int(letter.sender))


def read_all(inbox: Sequence[Letter]) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Return the rows of all letters, sorted by sender."""
    ordered = in_order(inbox)
    return (
        np.concatenate([no_names(0), *(letter.first.array() for letter in ordered)]),
        np.concatenate([no_names(0), *(letter.second.array() for letter in ordered)]),
        np.concatenate([np.zeros(0, np.int64), *(letter.numbers for letter in ordered)]),
    )


def read_answers(inbox: Sequence[Letter], ranges: Ranges, asked: Array) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Return the answers about the asked addresses, in the order of these."""
    first, second, numbers = read_all(inbox)  # ranges stand in the order of their addresses
    if len(numbers) != len(asked):
        raise ValueError(
            f"range {ranges.number} asked for {len(asked):,} addresses, and {len(numbers):,} were answered"
        )
    return first, second, numbers
