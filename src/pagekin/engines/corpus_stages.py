"""Stages of a sharded build from parts to the shards' corpora; each function runs one task of a stage.

Tasks go by groups of parts, by ranges of addresses that hold about as many of them, and by shards: as many of each as there are
to be shards, or fewer ranges. Which captures become pages is chosen in rounds of letters between ranges (see `choosing`), where
shards begin follows from sums over ranges, and which addresses a shard knows is found out in rounds of letters between shards.
"""

import hashlib
import json
import secrets
import shutil
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pagekin import hypertext
from pagekin.clusters import LeastHashes
from pagekin.engines.local import require_pages
from pagekin.engines.sample import choose_limit, join_least, least_of_parts
from pagekin.engines.shard_stages import Task
from pagekin.engines.shards import require_division
from pagekin.hypertext import (
    Captures,
    ChoiceState,
    ChosenPages,
    ClosedRanges,
    Corpus,
    Letter,
    Ranges,
    Round,
    ShardNames,
)
from pagekin.store import KinWriter, Names, Storage, Workspace, join_names

_SAMPLE = 1024
"""Addresses of each group of parts by which ranges are chosen."""
RANGE_ADDRESSES = 200_000
"""Addresses of captures that are worth a range: rounds of letters between small ones take longer than they do."""


class PartNames(NamedTuple):
    """The addresses of parts: folders, or archives of them."""

    names: Names


class About(NamedTuple):
    """The sum of the parts' facts, as JSON."""

    data: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, facts: dict[str, Any]) -> "About":
        """Return the packed facts, without the names of archives, which a shard takes from its own parts."""
        return cls(np.frombuffer(json.dumps({**facts, "archives": []}).encode(), np.uint8))

    def facts(self) -> dict[str, Any]:
        """Return the facts."""
        facts: dict[str, Any] = json.loads(self.data.tobytes())
        return facts


def reading_facts(task: Task) -> dict[str, Any]:
    """Return the settings by which parts were read."""
    return task.result("parts")


def _range_starts(task: Task) -> list[bytes]:
    return [name.encode("latin-1") for name in task.result("ranges")["ranges"]]


def _shard_starts(task: Task) -> list[bytes]:
    return [name.encode("latin-1") for name in task.result(_last_round(task, "bounds", 0))["bounds"]]


def _last_round(task: Task, stage: str, number: int) -> str:
    """Return the number of a stage's last round, which recorded that it is the last."""
    name, count = f"{stage}.0", 0
    while not task.result(name, number)["done"]:
        count += 1
        name = f"{stage}.{count}"
    return name


def read_parts(task: Task, groups: Iterable[int]) -> Iterator[Path]:
    """Yield the folders of some groups' parts, each valid until the next; archives are downloaded and unpacked."""
    for group in groups:
        stage, number, to = ("cap", group, 0) if host_limit(reading_facts(task)) else ("parts", 0, group)
        for address in _part_addresses(task, stage, number, to):
            yield _open_part(task, address)


def _part_addresses(task: Task, stage: str, number: int, to: int) -> list[str]:
    names = task.receive_from(stage, number, "parts", PartNames, to=to).names.strings()
    return [name.decode("utf-8", "surrogateescape") for name in names]


def _open_part(task: Task, address: str) -> Path:
    return fetch_part(address, task.room) if address.endswith(".tar") else Path(address)


def upload_part(part: Path, folder: str) -> str:
    """Copy a part to a folder, as an archive; return its address."""
    packed = part.with_name(f"{part.name}.tar")
    with tarfile.open(packed, "w") as archive:
        archive.add(part, part.name)
    Storage(folder).upload(packed, packed.name)
    packed.unlink()
    return f"{folder}/{packed.name}"


def fetch_part(address: str, room: Path) -> Path:
    """Download a part and unpack it; return its folder."""
    folder, _, name = address.rpartition("/")
    packed = room / name
    Storage(folder).download(name, packed)
    with tarfile.open(packed) as archive:
        archive.extractall(room, filter="data")
    packed.unlink()
    part = packed.with_suffix("")
    if not hypertext.is_whole(part):
        raise hypertext.DamagedInputError(f"{address} is not as it was written where it was read. Build again.")
    return part


def forget_part(task: Task, part: Path) -> None:
    """Remove an unpacked part."""
    if part.parent == task.room:
        shutil.rmtree(part)


# -- pages over the limit of their host ---------------------------------------------------------------------------------


def host_limit(facts: Mapping[str, Any]) -> int:
    """Return how many captured addresses each host may keep, by the settings of reading; 0 for all."""
    return int(facts["settings"].get("max_per_host", 0))


def list_hosts(task: Task) -> dict[str, Any]:
    """Send the addresses that each host may keep of a group of parts to the ranges of the hosts' hashes."""

    def parts() -> Iterator[Path]:
        for address in _part_addresses(task, "parts", 0, task.number):
            part = _open_part(task, address)
            yield part
            forget_part(task, part)

    least = hypertext.least_of_hosts(parts(), host_limit(reading_facts(task)))
    task.send("least", _divide_by_hash(least, task.work.shards, hypertext.name_host))
    return {"addresses": len(least)}


def limit_hosts(task: Task) -> dict[str, Any]:
    """Find the last address that each host in a range of hashes may keep; tell the groups that have pages of it."""
    of_groups = [some.strings() for some in task.receive("hosts", "least", Names)]
    last = hypertext.last_of_hosts(chain.from_iterable(of_groups), host_limit(reading_facts(task)))
    of_host = {hypertext.name_host(url): url for url in last}
    hosts = [set(map(hypertext.name_host, some)) for some in of_groups]
    task.send("last", [Names.of(sorted(of_host[host] for host in some & of_host.keys())) for some in hosts])
    return {"hosts": len(last)}


def cap_hosts(task: Task) -> dict[str, Any]:
    """Rewrite those parts of a group that hold pages over the limit of their host."""
    last = [url for some in task.receive("limits", "last", Names) for url in some.strings()]
    limits, addresses = hypertext.HostLimits(last), _part_addresses(task, "parts", 0, task.number)
    rewritten = 0
    for place, address in enumerate(addresses):
        part = _open_part(task, address)
        # Another attempt may write the same part.
        capped = hypertext.cap_part(part, limits, task.room / f"capped-{task.number}-{place}-{secrets.token_hex(8)}")
        if capped != part:
            addresses[place] = upload_part(capped, f"{task.job.address}/capped")
            shutil.rmtree(capped)
            rewritten += 1
        forget_part(task, part)
    task.send("parts", share_parts(addresses, 1))
    return {"rewritten": rewritten}


# -- pages and aliases --------------------------------------------------------------------------------------------------


def list_parts(task: Task) -> dict[str, Any]:
    """List the captures of a group of parts."""
    captures, whole, settings = [], hypertext.sum_abouts([]), task.work.recipe.clusters
    least = []
    for path in read_parts(task, [task.number]):
        part = hypertext.read_part(path)
        least += [least_of_parts([path], settings)] if settings else []
        forget_part(task, path)
        captures.append(hypertext.list_captures(part))
        whole = hypertext.sum_abouts([whole, part.facts()])
    joined = hypertext.join_captures(captures)
    task.send("captures", [joined])
    task.send("sample", [hypertext.sample_addresses(joined.names, _SAMPLE)])
    task.send("about", [About.of(whole)])
    if settings:
        task.send("least", [join_least(least, settings)])
    return {"addresses": len(joined.names.offsets) - 1}


def choose_ranges(task: Task) -> dict[str, Any]:
    """Choose ranges with about equal numbers of addresses: one per shard, or fewer if there are few addresses."""
    addresses = sum(task.result("list", number)["addresses"] for number in range(task.work.shards))
    count = min(task.work.shards, -(-addresses // RANGE_ADDRESSES))
    ranges = hypertext.choose_ranges(task.receive("list", "sample", Names, to=0), count)
    abouts = task.receive("list", "about", About, to=0)
    task.send("about", [About.of(hypertext.sum_abouts(about.facts() for about in abouts))])
    settings, limit = task.work.recipe.clusters, None
    if settings:
        limit = choose_limit(task.receive("list", "least", LeastHashes, to=0), settings)
    return {"ranges": [name.decode("latin-1") for name in ranges], "sample_limit": limit}


def _whole(task: Task) -> dict[str, Any]:
    """Return the sum of all parts' facts."""
    return task.receive_from("ranges", 0, "about", About, to=0).facts()


def spread_captures(task: Task) -> dict[str, Any]:
    """Send the captures of a group of parts to the ranges of their addresses."""
    captures = task.receive_from("list", task.number, "captures", Captures, to=0)
    task.send("captures", hypertext.divide_captures(captures, _range_starts(task)))
    return {}


def join_captures(task: Task) -> dict[str, Any]:
    """Join the captures of a range of addresses; a single range reads the parts itself."""
    if _range_starts(task):
        captures = task.receive("spread", "captures", Captures)
    else:
        captures = task.receive("list", "captures", Captures, to=0)
    task.send("captures", [hypertext.join_captures(captures)])
    return {}


def _captures(task: Task) -> Captures:
    return task.receive_from("captures", task.number, "captures", Captures, to=0)


def _run_round(task: Task, outcome: Round[Any], count: int) -> dict[str, Any]:
    """Store a task's state after a round, and its letters to the given number of tasks."""
    nothing = Letter(np.asarray(task.number), Names.of([]), Names.of([]), np.zeros(0, np.int64))
    task.send("state", [outcome.state])
    task.send("letters", [outcome.letters.get(to, nothing) for to in range(count)])
    return {"tally": outcome.tally, "done": outcome.done}


def _inbox(task: Task, stage: str, count: int) -> list[Letter]:
    """Return the letters to this task from the round before."""
    letters = task.receive(f"{stage}.{task.round - 1}", "letters", Letter, count=count) if task.round else []
    return [letter for letter in letters if len(letter.numbers)]


def _state(task: Task, round_name: str, kind: type[Any]) -> Any:
    return task.receive_from(round_name, task.number, "state", kind, to=0)


def choose_pages(task: Task) -> dict[str, Any]:
    """Run a round in which ranges choose their pages and aliases; a single range runs all rounds."""
    starts = _range_starts(task)
    count, before = len(starts) + 1, f"choose.{task.round - 1}"
    tally = sum(task.result(before, number)["tally"] for number in range(count)) if task.round else 0
    state = _state(task, before, ChoiceState) if task.round else hypertext.begin_choice()
    ranges, captures = Ranges(task.number, tuple(starts)), _captures(task)
    outcome = hypertext.advance_choice(captures, state, _inbox(task, "choose", count), tally, ranges)
    while count == 1 and not outcome.done:
        outcome = hypertext.advance_choice(
            captures, outcome.state, list(outcome.letters.values()), outcome.tally, ranges
        )
    return _run_round(task, outcome, count)


def conclude_choice(task: Task) -> dict[str, Any]:
    """Store the chosen pages and aliases of a range."""
    state = _state(task, _last_round(task, "choose", task.number), ChoiceState)
    chosen = hypertext.conclude_choice(_captures(task), state, reading_facts(task)["all_captures"])
    task.send("chosen", [chosen])
    size = hypertext.measure_chosen(chosen)
    return {"pages": int(size.pages), "work": int(size.work), "skipped": dict(hypertext.count_left_out(chosen))}


# -- where shards begin -------------------------------------------------------------------------------------------------


def _sizes(task: Task) -> list[hypertext.RangeSize]:
    results = [task.result("chosen", number) for number in range(len(_range_starts(task)) + 1)]
    return [hypertext.RangeSize(np.asarray(one["pages"]), np.asarray(one["work"])) for one in results]


def _shares(task: Task) -> npt.NDArray[np.int64]:
    if task.round:
        return np.array(task.result(f"bounds.{task.round - 1}")["shares"], np.int64)
    return hypertext.share_work(hypertext.sum_sizes(_sizes(task)), task.work.shards)


def find_starts(task: Task) -> dict[str, Any]:
    """Find the addresses in a range at which shards may begin."""
    closed = None
    if task.work.recipe.clusters and task.result("ranges")["sample_limit"] is None:
        closed = task.receive_from("whole", 0, "closed", ClosedRanges, to=0)
    chosen = task.receive_from("chosen", task.number, "chosen", ChosenPages, to=0)
    before = hypertext.sum_sizes(_sizes(task)[: task.number])
    task.send("starts", [hypertext.find_starts(chosen, before, _shares(task), closed)])
    return {}


def settle_bounds(task: Task) -> dict[str, Any]:
    """Settle where shards begin, or the shares of work to look for in another round."""
    ranges, shares, settings = len(_range_starts(task)) + 1, _shares(task), reading_facts(task)
    possible = task.receive(f"starts.{task.round}", "starts", hypertext.Starts, to=0, count=ranges)
    starts, wanted = hypertext.settle_bounds(possible, shares)
    bounds = [name.decode("latin-1") for name in starts.addresses.strings()]
    is_settled = wanted.tolist() == shares.tolist()
    if is_settled:
        whole, skipped = _whole(task), Counter[str]()
        for number in range(ranges):
            skipped += Counter(task.result("chosen", number)["skipped"])
        facts = hypertext.count_records(whole, Counter(whole["skipped"]) + skipped)
        pages = int(hypertext.sum_sizes(_sizes(task)).pages)
        hypertext.refuse_damage(facts, settings["strict"])
        require_pages(pages, facts["skipped"], task.work.out)
        require_division(pages, task.work.shards, len(bounds) + 1)
    return {"bounds": bounds, "shares": wanted.tolist(), "done": is_settled}


# -- corpora of shards --------------------------------------------------------------------------------------------------


def move_chosen(task: Task) -> dict[str, Any]:
    """Send the chosen pages of a range to their shards."""
    chosen = task.receive_from("chosen", task.number, "chosen", ChosenPages, to=0)
    task.send("chosen", hypertext.divide_chosen(chosen, _shard_starts(task)))
    return {}


def divide_parts(task: Task) -> dict[str, Any]:
    """Divide a group of parts by shard, with one part in memory at a time."""
    starts = _shard_starts(task)
    spool = task.spool("parts", len(starts) + 1)
    for path in read_parts(task, [task.number]):
        part = hypertext.read_part(path)
        forget_part(task, path)
        for shard, own in enumerate(hypertext.divide_part(part, starts)):
            if len(own.pages):
                task.add_to_spool(spool, shard, own)
    return {}


def _own_parts(task: Task) -> list[Path]:
    """Write the parts of a shard to its work folder; return their folders."""
    parts = task.receive_spooled("divide", "parts", hypertext.Part)
    return [hypertext.write_part(part, task.room / f"part-{number}") for number, part in enumerate(parts)]


def list_links(task: Task) -> dict[str, Any]:
    """List the addresses that the pages of a shard link to."""
    ranges = len(_range_starts(task)) + 1
    chosen = hypertext.join_chosen(task.receive("move", "chosen", ChosenPages, count=ranges))
    folder = task.room / "links"
    folder.mkdir()
    room = Workspace(folder, task.memory)
    task.send("links", [hypertext.list_links(_own_parts(task), chosen, reading_facts(task)["all_captures"], room)])
    task.send("chosen", [chosen])
    return {}


def _chosen_and_links(task: Task) -> tuple[ChosenPages, Names]:
    chosen = task.receive_from("links", task.number, "chosen", ChosenPages, to=0)
    return chosen, task.receive_from("links", task.number, "links", Names, to=0)


def find_names(task: Task) -> dict[str, Any]:
    """Run a round in which shards find out which addresses they need to know."""
    state = _state(task, f"names.{task.round - 1}", ShardNames) if task.round else hypertext.begin_names()
    ranges = Ranges(task.number, tuple(_shard_starts(task)))
    inbox = _inbox(task, "names", task.work.shards)
    outcome = hypertext.advance_names(*_chosen_and_links(task), state, inbox, ranges)
    return _run_round(task, outcome, task.work.shards)


def merge_corpus(task: Task) -> dict[str, Any]:
    """Merge the corpus of a shard; send its words and hosts to ranges of hashes."""
    settings, (chosen, links) = reading_facts(task), _chosen_and_links(task)
    names = _state(task, _last_round(task, "names", task.number), ShardNames)
    parts, all_captures = _own_parts(task), settings["all_captures"]
    task.kept = task.room / "corpus.kin"
    with KinWriter(task.kept, "pagekin build", task.memory) as writer:
        facts = hypertext.merge_shard(
            parts, chosen, links, names, _whole(task), int(chosen.latest), all_captures, writer
        )  # fmt: skip
        corpus = Corpus(writer.view(facts))
        task.send("terms", _divide_by_hash(corpus.terms, task.work.shards))
        task.send("hosts", _divide_by_hash(corpus.hosts, task.work.shards))
        writer.commit({**facts, **settings["settings"]})
    return hypertext.count_shard(facts, chosen, names)


def _divide_by_hash(
    names: Iterable[bytes], count: int, key: Callable[[bytes], bytes] = lambda name: name
) -> list[Names]:
    """Divide names into this many ranges of the hashes of themselves, or of what they have in common."""
    divided: list[list[bytes]] = [[] for _ in range(count)]
    for name in names:
        number = int.from_bytes(hashlib.blake2b(key(name), digest_size=8).digest(), "little")
        divided[number * count >> 64].append(name)
    return list(map(Names.of, divided))


def count_names(task: Task) -> dict[str, Any]:
    """Count the distinct words and hosts of all shards in a range of hashes."""
    return {
        kind: len(join_names(task.receive("corpus", kind, Names)).offsets) - 1 for kind in ("terms", "hosts")
    }  # fmt: skip


def describe_corpus(task: Task) -> dict[str, Any]:
    """Return the facts about the corpus of all shards, and where it is cut."""
    settings, shards = reading_facts(task), range(task.work.shards)
    counts = [task.result("corpus", shard) for shard in shards]
    terms, hosts = (sum(task.result("count", one)[kind] for one in shards) for kind in ("terms", "hosts"))
    facts = hypertext.sum_facts(counts, _whole(task), terms, hosts, settings["all_captures"])
    bounds = task.result(_last_round(task, "bounds", 0))["bounds"]
    return {
        "cuts": find_cuts(counts), "bounds": bounds, "facts": {**facts, **settings["settings"], "seeds": {}},
    }  # fmt: skip


def find_cuts(counts: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Return the shards' ranges of pages and addresses, in the whole's numbers, from each shard's counts."""
    pages, urls = (np.cumsum([0, *(one[name] for one in counts)]).tolist() for name in ("pages", "urls"))
    return [list(numbers) for numbers in zip(pages, pages[1:], urls, urls[1:], strict=False)]


def share_parts(addresses: Sequence[str], groups: int) -> list[PartNames]:
    """Divide the addresses of parts among groups."""
    encoded = [address.encode("utf-8", "surrogateescape") for address in addresses]
    return [PartNames(Names.of(encoded[number::groups])) for number in range(groups)]
