"""Aliases chosen from records that are divided by address are those of all records together."""

import random
from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from pagekin.hypertext.aliases import (
    Moves,
    Records,
    SettledRecords,
    choose_pages,
    judge_claims,
    lead_on,
    override,
    settle_pages,
)
from pagekin.hypertext.chains import (
    Chains,
    Leads,
    advance_chains,
    answer_chains,
    ask_chains,
    count_rounds,
    end_chains,
    find_places,
    follow,
    start_chains,
)
from pagekin.hypertext.part import PAGE_ROW

Array = np.ndarray[Any, Any]
Rows = list[tuple[bytes, bytes, int]]


def names(addresses: list[bytes]) -> Array:
    """Return addresses as an array of bytes of any length."""
    array = np.empty(len(addresses), dtype=object)
    array[:] = addresses
    return array


class DividedAliases:
    """Records divided by a hash of their address; what passes between parts are addresses and answers about them."""

    def __init__(self, parts: int, rng: random.Random) -> None:
        self.parts, self.rng = parts, rng

    def part_of(self, address: bytes) -> int:
        return crc32(address) % self.parts

    def split(self, rows: Rows) -> list[Rows]:
        """Return the rows of each part, in any order."""
        self.rng.shuffle(rows)
        return [[row for row in rows if self.part_of(row[0]) == part] for part in range(self.parts)]

    def ask(self, asked: Array, answer: Callable[[int, Array], list[Any]], kind: Any) -> Array:
        """Return the answers of the parts that hold the addresses."""
        answers = np.empty(len(asked), dtype=kind)
        parts = np.array([self.part_of(address) for address in asked.tolist()], np.int64)
        for part in self.rng.sample(range(self.parts), self.parts):
            answers[parts == part] = answer(part, asked[parts == part])
        return answers

    def advance(self, chains: list[Chains]) -> list[Chains]:
        """Run one round of all parts."""
        advanced = list(chains)
        for part in self.rng.sample(range(self.parts), self.parts):
            asked = ask_chains(chains[part])
            jumps = self.ask(asked, lambda there, some: answer_chains(chains[there], some)[0], object)
            least = self.ask(asked, lambda there, some: answer_chains(chains[there], some)[1], object)
            advanced[part] = advance_chains(chains[part], asked, jumps, least)
        return advanced

    def end(self, leads: list[Leads]) -> list[Leads]:
        """Follow the chains of all parts to their ends."""
        chains = [start_chains(one) for one in leads]
        for _ in range(count_rounds(sum(len(one.sources) for one in leads))):
            chains = self.advance(chains)
        ends = []
        for one in chains:
            asked = ask_chains(one)
            least = self.ask(asked, lambda there, some: answer_chains(chains[there], some)[1], object)
            ends.append(end_chains(one, asked, least))
        return ends

    def aliases(self, pages: Rows, redirects: Rows, revisits: Rows, gone: Rows, titles: dict[bytes, bytes]) -> Any:
        """Return ({alias: address}, addresses of pages that are there, claims that are not believed)."""

        def moves(rows: Rows) -> Moves:
            sources, targets, dates = zip(*rows, strict=True) if rows else ((), (), ())
            return Moves(names(list(sources)), names(list(targets)), np.array(dates, np.int64))

        divided = zip(*(map(moves, self.split(rows)) for rows in (pages, redirects, revisits, gone)), strict=True)
        settled: list[SettledRecords] = []
        named: list[Moves] = []
        for captured, *others in divided:
            settled.append(settle_pages(captured.sources, captured.dates, *others))
            there = find_places(settled[-1].pages, captured.sources)[1]
            named.append(captured.some(there & (captured.sources != captured.targets)))

        def is_page(asked: Array) -> Array:
            return self.ask(asked, lambda there, some: find_places(settled[there].pages, some)[1], np.bool_)

        leads = [lead_on(one, is_page(one.revisits.targets)) for one in settled]
        ends = self.end(leads)
        claims: Rows = []
        for one in named:
            wanted = self.ask(one.targets, lambda there, some: follow(ends[there], some), object)
            claims += [(want, claimant, 0) for want, claimant in zip(wanted, one.sources, strict=True)]
        homes: Rows = []
        not_believed = 0
        for rows in self.split(claims):
            wanted, claimants, _dates = moves(rows)
            verdict = judge_claims(claimants, wanted, is_page(wanted), titles.__getitem__)
            not_believed += verdict.not_believed
            homes += [(*pair, 0) for pair in zip(*verdict.wanted, strict=True)]
            homes += [(*pair, 0) for pair in zip(*verdict.claimants, strict=True)]
        for part, rows in enumerate(self.split(homes)):
            sources, targets, _dates = moves(sorted(rows))
            leads[part] = override(leads[part], Leads(sources, targets))
        aliases = {alias: home for one in self.end(leads) for alias, home in zip(*one, strict=True) if alias != home}
        return aliases, sorted(page for one in settled for page in one.pages), not_believed


@pytest.mark.parametrize("seed", range(40))
def test_parts_choose_the_aliases_that_all_records_together_do(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.choice([2, 6, 25, 120])
    urls = sorted(
        {f"http://{rng.choice('abc')}.example/{rng.randrange(10 ** rng.randint(1, 6))}".encode() for _ in range(count)}
    )
    count = len(urls)
    captured = sorted(rng.sample(range(count), rng.randint(1, count)))
    popular = rng.randrange(count)
    rows = np.zeros(len(captured), PAGE_ROW)
    rows["url"], rows["date"] = captured, [rng.randint(0, 4) for _ in captured]
    rows["canonical"] = [rng.choice([-1, -1, popular, rng.randrange(count)]) for _ in captured]
    rows["canonical"][rows["canonical"] == rows["url"].astype(np.int64)] = -1
    titles = {url: rng.choice([b"same", b"other", url]) for url in urls}

    def table() -> Array:
        pairs = [(rng.randrange(count), rng.randrange(count), rng.randint(0, 4)) for _ in range(rng.randint(0, count))]
        return np.unique(np.array([pair for pair in pairs if pair[0] != pair[1]], np.int64).reshape(-1, 3), axis=0)

    gone = table()[: count // 4]
    gone[:, 1] = gone[:, 0]
    others = Records(table(), table(), gone)
    chosen = choose_pages(rows, others, count, False, lambda row: titles[urls[int(row["url"])]])

    def named(numbers: Array) -> Rows:
        return [(urls[source], urls[target], date) for source, target, date in numbers.tolist()]

    pages = [
        (urls[url], urls[canonical if canonical >= 0 else url], date)
        for url, canonical, date in zip(*(rows[name].tolist() for name in ("url", "canonical", "date")), strict=True)
    ]
    divided = DividedAliases(rng.randint(1, 5), rng)
    aliases, there, not_believed = divided.aliases(pages, *map(named, others), titles)
    expected = zip(chosen.alias_url.tolist(), chosen.alias_target.tolist(), strict=True)
    assert aliases == {urls[alias]: urls[home] for alias, home in expected}
    assert [page for page in there if page not in aliases] == [urls[captured[row]] for row in chosen.pages.tolist()]
    assert not_believed == chosen.left_out["canonical not believed"]
