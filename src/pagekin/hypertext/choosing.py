"""Choose pages and aliases by the rules of `aliases`, where captures are divided by address, in rounds of messages.

Each range asks those of revisited addresses for their pages, follows where its addresses lead, sends the claims of its pages
to the range of the canonical address and on to where that leads, which judges them, and follows again. What each round of
following takes is the addresses that were come to, and it doubles the steps taken; see `chains`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin.hypertext.aliases import SettledRecords, judge_claims, lead_on, override, settle_pages
from pagekin.hypertext.captures import Captures
from pagekin.hypertext.chains import (
    Chains,
    Leads,
    advance_chains,
    answer_chains,
    ask_chains,
    end_chains,
    find_places,
    follow,
    start_chains,
)
from pagekin.hypertext.letters import Letter, Ranges, Round, in_order, no_names, read_all, read_answers
from pagekin.store import Array, Names, RaggedBytes

LEFT_OUT = ("gone", "older capture", "canonical elsewhere", "canonical not believed")
"""Why captures are left out, and claims not believed, in the order of `ChosenPages.left_out`."""


class _Step(IntEnum):
    """The next step of a range."""

    ASK = 0
    """Ask which revisited addresses have a page."""
    ANSWER_PAGES = 1
    LEAD = 2
    """Decide where own addresses lead, and begin to follow."""
    ANSWER = 3
    """Say where own addresses have come to."""
    ADVANCE = 4
    """Follow the answers; at the end of the first following send claims."""
    FORWARD = 5
    """Pass claims on to where the canonical address leads."""
    JUDGE = 6
    OVERRIDE = 7
    """Take back what became of claims, and begin to follow again."""
    DONE = 8


class ChoiceState(NamedTuple):
    """The state of a range of addresses between two rounds."""

    counters: npt.NDArray[np.int64]
    """The step, how often the steps of following were doubled, whether the answers to come are the last, whether claims were
    judged, and how many of them were not believed."""
    sources: Names
    """Own addresses that lead on, in order."""
    targets: Names
    """Where each leads."""
    jumps: Names
    """Where each has come to; at the end of following, where it ends."""
    least: Names
    """The least address on its way."""


_STEP, _DOUBLED, _LAST, _JUDGED, _NOT_BELIEVED = range(5)


class ChosenPages(NamedTuple):
    """The chosen pages and aliases of some addresses."""

    pages: Names
    """The addresses of pages, in order."""
    captures: npt.NDArray[np.int64]
    """(pages): captures of each that are kept."""
    tokens: npt.NDArray[np.int64]
    """(pages): words of these."""
    aliases: Names
    """Addresses, in order, that are names of another."""
    homes: Names
    """The address that each of these stands for."""
    left_out: npt.NDArray[np.int64]
    """How many were left out for each reason of `LEFT_OUT`."""
    latest: npt.NDArray[np.int64]
    """() the date of the newest page; 0 if none has a date."""


def begin_choice() -> ChoiceState:
    """Return the state before the first round."""
    nothing = Names.of([])
    return ChoiceState(np.zeros(5, np.int64), nothing, nothing, nothing, nothing)


def advance_choice(
    captures: Captures, state: ChoiceState, inbox: Sequence[Letter], tally: int, ranges: Ranges
) -> Round[ChoiceState]:
    """Run one round of a range, given its captures, its state, its incoming letters and the sum of the last tallies."""
    step = _Step(int(state.counters[_STEP]))
    if step is _Step.ANSWER:
        return _answer(state, inbox, tally, ranges)
    if step is _Step.ADVANCE:
        return _advance(captures, state, inbox, ranges)
    if step is _Step.FORWARD:
        ends = Leads(state.sources.array(), state.jumps.array())
        canonical, claimants, titles = read_all(inbox)
        wanted = follow(ends, canonical)
        return _round(_with(state, {_STEP: _Step.JUDGE}), ranges.write(wanted, wanted, claimants, titles))
    if step is _Step.OVERRIDE:
        sources, homes, _numbers = read_all(inbox)
        order = np.argsort(sources, kind="stable")
        leads = Leads(state.sources.array(), state.targets.array())
        return _begin_following(state, override(leads, Leads(sources[order], homes[order])), ranges)
    settled = _settle(captures)
    if step is _Step.JUDGE:
        return _judge(settled, state, inbox, ranges)
    asked = np.unique(settled.revisits.targets)
    if step is _Step.ASK:
        empty = no_names(len(asked))
        letters = ranges.write(asked, asked, empty, np.zeros(len(asked), np.int64))
        return _round(_with(state, {_STEP: _Step.ANSWER_PAGES}), letters)
    if step is _Step.ANSWER_PAGES:
        letters = {}
        for letter in in_order(inbox):
            are_pages = find_places(settled.pages, letter.first.array())[1]
            empty = no_names(len(are_pages))
            letters |= ranges.answer(letter, empty, empty, are_pages)
        return _round(_with(state, {_STEP: _Step.LEAD}), letters)
    if step is _Step.LEAD:
        are_pages = read_answers(inbox, ranges, asked)[2].astype(np.bool_)
        leads = lead_on(settled, are_pages[np.searchsorted(asked, settled.revisits.targets)])
        return _begin_following(state, leads, ranges)
    raise ValueError("this range has chosen its pages already")


def conclude_choice(captures: Captures, state: ChoiceState, all_captures: bool) -> ChosenPages:
    """Return the pages and aliases of a finished range: all captures of an address, or the newest."""
    rows = captures.pages
    addresses = captures.names.array()
    settled = _settle(captures)
    ends = Leads(state.sources.array(), state.jumps.array())
    renamed = ends.sources != ends.targets
    aliases = Leads(ends.sources[renamed], ends.targets[renamed])
    place, first = np.unique(rows["url"], return_index=True)
    newest = np.zeros(len(rows), np.bool_)
    newest[first] = True
    still = _is_one_of(addresses, settled.pages)[rows["url"]]
    chosen = (newest | all_captures) & still
    gave_way = _is_one_of(addresses, aliases.sources)[rows["url"]]
    left_out = [~still, ~chosen & still, gave_way & chosen]
    chosen &= ~gave_way
    kept = rows[chosen]
    place, first = np.unique(kept["url"], return_index=True)
    ends_of = np.append(first, len(kept))
    tokens = np.append(0, np.cumsum(kept["tokens"]))
    return ChosenPages(
        Names.of(addresses[place]), np.diff(ends_of), np.diff(tokens[ends_of]),
        Names.of(aliases.sources), Names.of(aliases.targets),
        np.array([*map(np.count_nonzero, left_out), state.counters[_NOT_BELIEVED]], np.int64),
        np.asarray(kept["date"].max(initial=0)),
    )  # fmt: skip


def divide_chosen(chosen: ChosenPages, first_addresses: Sequence[bytes]) -> list[ChosenPages]:
    """Divide chosen pages by other ranges of addresses; the counts of left-out captures go to the first."""
    page_cuts, alias_cuts = (
        [0, *map(RaggedBytes(*names).nearest, first_addresses), len(names.offsets) - 1]
        for names in (chosen.pages, chosen.aliases)
    )
    pages, aliases, homes = chosen.pages.array(), chosen.aliases.array(), chosen.homes.array()
    divided = []
    for number, (page, alias) in enumerate(zip(pairwise(page_cuts), pairwise(alias_cuts), strict=True)):
        own, own_aliases = slice(*page), slice(*alias)
        divided.append(
            ChosenPages(
                Names.of(pages[own]), chosen.captures[own], chosen.tokens[own], Names.of(aliases[own_aliases]),
                Names.of(homes[own_aliases]), chosen.left_out * (number == 0), chosen.latest,
            )
        )  # fmt: skip
    return divided


def join_chosen(parts: Iterable[ChosenPages]) -> ChosenPages:
    """Join the chosen pages of different ranges, given in any order."""
    every = list(parts)
    pages, aliases, homes = (
        np.concatenate([no_names(0), *(getattr(one, name).array() for one in every)])
        for name in ("pages", "aliases", "homes")
    )
    captures, tokens = (
        np.concatenate([np.zeros(0, np.int64), *(getattr(one, name) for one in every)])
        for name in ("captures", "tokens")
    )
    order, alias_order = np.argsort(pages, kind="stable"), np.argsort(aliases, kind="stable")
    return ChosenPages(
        Names.of(pages[order]), captures[order], tokens[order], Names.of(aliases[alias_order]),
        Names.of(homes[alias_order]), sum((one.left_out for one in every), np.zeros(len(LEFT_OUT), np.int64)),
        np.asarray(max((int(one.latest) for one in every), default=0)),
    )  # fmt: skip


def count_left_out(chosen: ChosenPages) -> Counter[str]:
    """Return the number of captures left out, by reason."""
    return +Counter(dict(zip(LEFT_OUT, chosen.left_out.tolist(), strict=True)))


def _settle(captures: Captures) -> SettledRecords:
    """Decide which pages are there, by the newest capture of each address."""
    addresses = captures.names.array()
    place, newest = np.unique(captures.pages["url"], return_index=True)
    redirects, revisits, gone = captures.moves(addresses)
    return settle_pages(addresses[place], captures.pages["date"][newest], redirects, revisits, gone)


def _answer(state: ChoiceState, inbox: Sequence[Letter], open_chains: int, ranges: Ranges) -> Round[ChoiceState]:
    """Answer where the asked addresses of this range lead.

    When 2^k steps were taken and at most 2^k chains lead on, doubling once more reaches all ends and goes round all cycles:
    the addresses from which 2^k steps lead on are distinct on the way to an end, and all those of a cycle are among them.
    """
    chains = _chains(state)
    letters: dict[int, Letter] = {}
    for letter in in_order(inbox):
        asked = letter.first.array()
        jumps, least = answer_chains(chains, asked)
        letters |= ranges.answer(letter, jumps, least, find_places(chains.addresses, asked)[1])
    doubled = int(state.counters[_DOUBLED])
    last = doubled > 0 and open_chains <= 1 << (doubled - 1)
    return _round(_with(state, {_STEP: _Step.ADVANCE, _LAST: int(last)}), letters)


def _advance(captures: Captures, state: ChoiceState, inbox: Sequence[Letter], ranges: Ranges) -> Round[ChoiceState]:
    """Follow chains by the answers; when all ends are reached, send the claims to canonical addresses."""
    chains = _chains(state)
    asked = ask_chains(chains)
    jumps, least, lead = read_answers(inbox, ranges, asked)
    if not state.counters[_LAST]:
        open_chains = int(lead[np.searchsorted(asked, chains.jumps)].sum())
        state = _with(state, {_STEP: _Step.ANSWER, _DOUBLED: int(state.counters[_DOUBLED]) + 1})
        return _follow(state, advance_chains(chains, asked, jumps, least), open_chains, ranges)
    state = state._replace(jumps=Names.of(end_chains(chains, asked, least).targets), least=Names.of([]))
    if state.counters[_JUDGED]:
        return Round(_with(state, {_STEP: _Step.DONE}), {}, 0, True)
    settled, addresses, rows = _settle(captures), captures.names.array(), captures.pages
    newest = rows[np.unique(rows["url"], return_index=True)[1]]
    claims = newest[(newest["canonical"] >= 0) & _is_one_of(addresses, settled.pages)[newest["url"]]]
    canonical = addresses[claims["canonical"]]
    letters = ranges.write(canonical, canonical, addresses[claims["url"]], claims["title"])
    return _round(_with(state, {_STEP: _Step.FORWARD}), letters)


def _judge(settled: SettledRecords, state: ChoiceState, inbox: Sequence[Letter], ranges: Ranges) -> Round[ChoiceState]:
    """Decide on the claims to addresses of this range, and send the result to the ranges concerned."""
    wanted, claimants, titles = read_all(inbox)
    title_of = dict(zip(claimants, titles.tolist(), strict=True))
    is_page = find_places(settled.pages, wanted)[1]
    verdict = judge_claims(
        claimants, wanted, is_page, lambda address: title_of[address].to_bytes(8, "little", signed=True)
    )
    sources, homes = (
        np.concatenate([mine, theirs]) for mine, theirs in zip(verdict.claimants, verdict.wanted, strict=True)
    )
    letters = ranges.write(sources, sources, homes, np.zeros(len(sources), np.int64))
    return _round(_with(state, {_STEP: _Step.OVERRIDE, _JUDGED: 1, _NOT_BELIEVED: verdict.not_believed}), letters)


def _begin_following(state: ChoiceState, leads: Leads, ranges: Ranges) -> Round[ChoiceState]:
    state = state._replace(sources=Names.of(leads.sources), targets=Names.of(leads.targets))
    return _follow(_with(state, {_STEP: _Step.ANSWER, _DOUBLED: 0, _LAST: 0}), start_chains(leads), 0, ranges)


def _follow(state: ChoiceState, chains: Chains, open_chains: int, ranges: Ranges) -> Round[ChoiceState]:
    """Ask the other ranges where the reached addresses lead."""
    asked = ask_chains(chains)
    letters = ranges.write(asked, asked, no_names(len(asked)), np.zeros(len(asked), np.int64))
    return _round(state._replace(jumps=Names.of(chains.jumps), least=Names.of(chains.least)), letters, open_chains)


def _chains(state: ChoiceState) -> Chains:
    return Chains(state.sources.array(), state.jumps.array(), state.least.array())


def _is_one_of(addresses: Array, ordered: Array) -> npt.NDArray[np.bool_]:
    """Mark the addresses that occur in a sorted array."""
    return find_places(ordered, addresses)[1]


def _with(state: ChoiceState, counters: dict[int, int]) -> ChoiceState:
    """Return a state with some counters changed."""
    changed = state.counters.copy()
    for place, value in counters.items():
        changed[place] = value
    return state._replace(counters=changed)


def _round(state: ChoiceState, letters: dict[int, Letter], tally: int = 0) -> Round[ChoiceState]:
    return Round(state, letters, tally, False)
