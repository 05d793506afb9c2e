"""Find the addresses that each shard has to know, in rounds of letters between shards.

A collection needs the addresses of its pages, what these link to, and the other names of both. A shard knows those of its
range, those that its pages link to, the other names of its own, and what its names stand for.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.chains import Leads, find_places, follow
from pagekin.hypertext.choosing import ChosenPages
from pagekin.hypertext.letters import Letter, Ranges, Round, as_array, in_order, no_names, read_all
from pagekin.store import Array, Names

_NAME, _SEND_NAMES, _COLLECT, _DONE = range(4)
_LINKED, _ALIAS = 0, 1
"""What a row says: an address is linked to, or leads to another; an address is an alias, or a home that is needed."""


class ShardNames(NamedTuple):
    """The addresses that a shard knows so far."""

    step: npt.NDArray[np.int64]
    """()"""
    needed: Names
    """Addresses of its range that the collection needs, in order."""
    raw: Names
    """Addresses that its pages link to and that are aliases, in order …"""
    targets: Names
    """… and the addresses for which these links count."""
    aliases: Names
    """Other names of addresses of its range …"""
    homes: Names
    """… and these."""


def begin_names() -> ShardNames:
    """Return the state before the first round."""
    nothing = Names.of([])
    return ShardNames(np.asarray(0), nothing, nothing, nothing, nothing, nothing)


def advance_names(
    chosen: ChosenPages, links: Names, state: ShardNames, inbox: Sequence[Letter], ranges: Ranges
) -> Round[ShardNames]:
    """Run one round of a shard, given its pages and aliases, its links, its state and its incoming letters."""
    own = Leads(chosen.aliases.array(), chosen.homes.array())
    step, letters = int(state.step), {}
    state = state._replace(step=np.asarray(step + 1))
    if step == _NAME:
        asked = links.array()
        kinds = np.repeat([_LINKED, _ALIAS], [len(asked), len(own.sources)])
        first, second = np.concatenate([asked, own.sources]), np.concatenate([no_names(len(asked)), own.targets])
        letters = ranges.write(np.concatenate([asked, own.targets]), first, second, kinds)
    elif step == _SEND_NAMES:
        first, second, kinds = read_all(inbox)
        named = _sorted_set(first[kinds == _LINKED])
        state = state._replace(
            needed=Names.of(_sorted_set(np.concatenate([chosen.pages.array(), named]))),
            aliases=Names.of(first[kinds == _ALIAS]),
            homes=Names.of(second[kinds == _ALIAS]),
        )
        ends = follow(own, named[find_places(own.sources, named)[1]])
        letters = _answer(inbox, own, _sorted_set(ends), ranges)
    elif step == _COLLECT:
        first, second, kinds = read_all(inbox)
        needed = _sorted_set(np.concatenate([state.needed.array(), first[kinds == _ALIAS]]))
        order = np.argsort(first[kinds == _LINKED], kind="stable")
        aliases, homes = state.aliases.array(), state.homes.array()
        use = find_places(needed, homes)[1]
        by_name = np.argsort(aliases[use], kind="stable")
        aliases, homes = aliases[use][by_name], homes[use][by_name]
        state = state._replace(
            needed=Names.of(needed),
            raw=Names.of(first[kinds == _LINKED][order]),
            targets=Names.of(second[kinds == _LINKED][order]),
            aliases=Names.of(aliases),
            homes=Names.of(homes),
        )
        letters = ranges.write(aliases, aliases, no_names(len(aliases)), np.zeros(len(aliases), np.int64))
    elif step == _DONE:
        needed = _sorted_set(np.concatenate([state.needed.array(), read_all(inbox)[0]]))
        state = state._replace(needed=Names.of(needed))
    else:
        raise ValueError("this shard knows its addresses already")
    return Round(state, letters, 0, step == _DONE)


def _answer(inbox: Sequence[Letter], own: Leads, ends: Array, ranges: Ranges) -> dict[int, Letter]:
    """Tell shards that link to our aliases what these stand for; tell the owners of those addresses of the need."""
    rows = {
        number: (letter.first.array(), no_names(len(letter.numbers)), np.full(len(letter.numbers), _ALIAS))
        for number, letter in ranges.write(ends, ends, ends, np.zeros(len(ends), np.int64)).items()
    }
    for letter in in_order(inbox):
        asked = letter.first.array()[letter.numbers == _LINKED]
        asked = asked[find_places(own.sources, asked)[1]]
        before = rows.get(int(letter.sender), (no_names(0), no_names(0), np.zeros(0, np.int64)))
        answers = asked, follow(own, asked), np.full(len(asked), _LINKED)
        rows[int(letter.sender)] = tuple(np.concatenate(pair) for pair in zip(before, answers, strict=True))  # type: ignore[assignment]
    return {
        number: Letter(np.asarray(ranges.number), Names.of(first), Names.of(second), numbers)
        for number, (first, second, numbers) in sorted(rows.items())
        if len(numbers)
    }


class KnownAddresses(NamedTuple):
    """The addresses that a shard knows, when all rounds are done."""

    addresses: Array
    """All that it knows, in order."""
    aliases: Leads
    """Those that are aliases, in order."""
    links: Leads
    """Aliases that its pages link to, in order, and what these links count for."""


def list_known(chosen: ChosenPages, links: Names, names: ShardNames) -> KnownAddresses:
    """Return the addresses that a shard knows, given the addresses it links to."""
    needed = names.needed.array()
    own = Leads(chosen.aliases.array(), chosen.homes.array())
    use = find_places(needed, own.sources)[1]
    leads = Leads(names.raw.array(), names.targets.array())
    homes = dict(zip(own.sources[use], own.targets[use], strict=True))
    homes |= dict(zip(names.aliases.array(), names.homes.array(), strict=True))
    aliases = as_array(sorted(homes))
    ends = as_array(homes[alias] for alias in aliases)
    addresses = _sorted_set(np.concatenate([needed, follow(leads, links.array()), aliases, ends]))
    return KnownAddresses(addresses, Leads(aliases, ends), leads)


def _sorted_set(addresses: Array) -> Array:
    return np.unique(addresses)
