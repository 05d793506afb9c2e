"""Follow chains of addresses, each of which leads to at most one other, to their ends, by pointer jumping.

Addresses are whatever can be sorted: numbers in the order of addresses, or the addresses themselves as bytes. Who has them in
several parts, divided by address, runs rounds: each part asks for the addresses that it has come to, the parts that hold these
answer, and each goes on from the answers. A round doubles the steps that were taken.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.store import Array


class Leads(NamedTuple):
    """Addresses in order, each with the address that it leads to."""

    sources: Array
    targets: Array


class Chains(NamedTuple):
    """The chains of some addresses, followed so far."""

    addresses: Array
    """Addresses that lead to another, rising."""
    jumps: Array
    """Where each has come to."""
    least: Array
    """The least address on the way, the last one not counted."""


def start_chains(leads: Leads) -> Chains:
    """Return chains that were followed for one step."""
    return Chains(leads.sources, leads.targets, leads.sources)


def count_rounds(leads: int) -> int:
    """Return how many rounds are enough to follow this many leads, over all parts, to their ends."""
    return (leads + 1).bit_length()


def ask_chains(chains: Chains) -> Array:
    """Return the sorted addresses that a part has reached, to ask other parts where these lead."""
    return np.unique(chains.jumps)


def answer_chains(chains: Chains, asked: Array) -> tuple[Array, Array]:
    """Return (where each asked address leads, the least address on the way); an unknown address leads to itself."""
    places, are_known = find_places(chains.addresses, asked)
    jumps, least = asked.copy(), asked.copy()
    jumps[are_known], least[are_known] = chains.jumps[places[are_known]], chains.least[places[are_known]]
    return jumps, least


def advance_chains(chains: Chains, asked: Array, jumps: Array, least: Array) -> Chains:
    """Return chains followed for twice as many steps, given the answers about the asked addresses."""
    place = np.searchsorted(asked, chains.jumps)
    return Chains(chains.addresses, jumps[place], np.minimum(chains.least, least[place]))


def end_chains(chains: Chains, asked: Array, least: Array) -> Leads:
    """Return the ends of chains, given one more round of answers after the last; a cycle ends at its least address."""
    return Leads(chains.addresses, least[np.searchsorted(asked, chains.jumps)])


def follow(ends: Leads, addresses: Array) -> Array:
    """Return the end of each address's chain; an address that leads nowhere is its own end."""
    places, are_known = find_places(ends.sources, addresses)
    followed = addresses.copy()
    followed[are_known] = ends.targets[places[are_known]]
    return followed


def find_places(ordered: Array, values: Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return (the place of each value in an ordered array, whether it is there)."""
    places = np.searchsorted(ordered, values)
    are_known = places < len(ordered)
    are_known[are_known] = ordered[places[are_known]] == values[are_known]
    return places, are_known


def find_ends(leads: Leads) -> Leads:
    """Return the ends of all chains, when one part holds them all."""
    chains = start_chains(leads)
    for _ in range(count_rounds(len(leads.sources))):
        asked = ask_chains(chains)
        chains = advance_chains(chains, asked, *answer_chains(chains, asked))
    asked = ask_chains(chains)
    return end_chains(chains, asked, answer_chains(chains, asked)[1])
