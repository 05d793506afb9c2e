"""Chains of addresses, each of which leads to at most one other: where they end, found by pointer jumping.

Addresses are whatever can be sorted: numbers in the order of addresses, or the addresses themselves as bytes. Who has them in
several parts, divided by address, runs rounds: each part asks for the addresses that it has come to, the parts that hold these
answer, and each goes on from the answers. A round doubles the steps that were taken.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.store import Array


class Leads(NamedTuple):
    """Addresses, rising, each with the one that it leads to."""

    sources: Array
    targets: Array


class Chains(NamedTuple):
    """How far the chains of some addresses were followed."""

    addresses: Array
    """Addresses that lead to another, rising."""
    jumps: Array
    """Where each has come to."""
    least: Array
    """The least address on the way, the last one not counted."""


def start_chains(leads: Leads) -> Chains:
    """Return chains of one step."""
    return Chains(leads.sources, leads.targets, leads.sources)


def count_rounds(leads: int) -> int:
    """Return how many rounds follow so many leads, of all parts, to their ends."""
    return (leads + 1).bit_length()


def ask_chains(chains: Chains) -> Array:
    """Return the addresses, rising, that a part has come to and has to know more of."""
    return np.unique(chains.jumps)


def answer_chains(chains: Chains, asked: Array) -> tuple[Array, Array]:
    """Return (where each address has come to, the least on the way); those that lead nowhere stay where they are."""
    places, are_known = find_places(chains.addresses, asked)
    jumps, least = asked.copy(), asked.copy()
    jumps[are_known], least[are_known] = chains.jumps[places[are_known]], chains.least[places[are_known]]
    return jumps, least


def advance_chains(chains: Chains, asked: Array, jumps: Array, least: Array) -> Chains:
    """Return chains of twice as many steps, given the answers for the addresses that were asked for."""
    place = np.searchsorted(asked, chains.jumps)
    return Chains(chains.addresses, jumps[place], np.minimum(chains.least, least[place]))


def end_chains(chains: Chains, asked: Array, least: Array) -> Leads:
    """Return where chains end that were followed for all rounds, given the answers of one more: a cycle ends at its least."""
    return Leads(chains.addresses, least[np.searchsorted(asked, chains.jumps)])


def follow(ends: Leads, addresses: Array) -> Array:
    """Return where addresses lead; those that lead nowhere are their own ends."""
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
    """Return where the chains of all leads end: the rounds of one part that asks itself."""
    chains = start_chains(leads)
    for _ in range(count_rounds(len(leads.sources))):
        asked = ask_chains(chains)
        chains = advance_chains(chains, asked, *answer_chains(chains, asked))
    asked = ask_chains(chains)
    return end_chains(chains, asked, answer_chains(chains, asked)[1])
