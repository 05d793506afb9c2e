"""Update collections with new, changed and removed pages and opt-outs, without reading all sources again.

A small update of a large collection is put into a delta beside it. Otherwise a collection is made anew from the parts that it
keeps and those of the new sources, by the way of every build. Its bytes are those of a build of all sources, but for clusters,
which few new pages join, and label parts that hardly differ; `compact_collection` renews these, too.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from pagekin.engines.delta import (
    DeltaMaker,
    DeltaReport,
    NotInDeltaError,
    commit_delta,
    without_delta,
)
from pagekin.engines.delta_limits import FEWEST_PAGES, LARGEST_SHARE
from pagekin.engines.local import BuildRecipe, BuildReport, build_into, note_lost_directory
from pagekin.engines.local_shards import build_shards_into
from pagekin.engines.needs import require_room
from pagekin.hypertext import (
    NO_OPT_OUTS,
    Corpus,
    Keeping,
    Note,
    OptOuts,
    PageChanges,
    ReadPlan,
    ReadReport,
    compare_pages,
    expired_addresses,
    keep_for_delta,
    known_addresses,
    no_note,
    open_corpora,
    parts_for_delta,
    read_parts,
    require_keeping,
    without_known,
)
from pagekin.labels import added_terms
from pagekin.sources import Limits, Unit, plan_units
from pagekin.store import (
    DELTA,
    NO_LIMIT,
    SHARDS,
    Kin,
    KinError,
    KinWriter,
    MemoryBudget,
    Progress,
    no_progress,
    open_kin,
)

UpdateWay = Literal["auto", "delta", "merge"]
"""How an update is made: by a delta if its size suggests that, by a delta of any size, or by making the collection anew."""


@dataclass
class UpdateReport:
    """The result of an update."""

    build: BuildReport | None = None
    """None if there was nothing to do."""
    pages: PageChanges = field(default_factory=PageChanges)
    opted_out: list[str] = field(default_factory=list)
    """Addresses and hosts that are left out from now on."""
    read_before: list[str] = field(default_factory=list)
    """Archives that were not read, as they had been before."""
    delta: DeltaReport | None = None
    """What waits in the delta, if the update added to it; None if the collection was made anew."""
    reason: str = ""
    """Which way the update was made, and why: one sentence; '' if there was nothing to do."""

    @property
    def way(self) -> str:
        """Return how the update was made: 'delta', 'merge', or '' if nothing changed."""
        return "delta" if self.delta else "merge" if self.build else ""

    @property
    def bytes_stay(self) -> bool:
        """Return whether bytes of opted-out pages stay on disk until the collection is rebuilt."""
        return self.delta is not None and self.delta.erasable


def update_collection(
    path: Path,
    sources: Sequence[str] = (),
    *,
    base_urls: Mapping[str, str] | None = None,
    base_url: str = "",
    opt_outs: OptOuts = NO_OPT_OUTS,
    expire_before: int = 0,
    way: UpdateWay = "auto",
    erase: bool = False,
    workers: int = 1,
    memory: MemoryBudget = NO_LIMIT,
    progress: Progress = no_progress,
    note: Note = no_note,
) -> UpdateReport:
    """Add new sources to a collection, and remove pages, all or nothing.

    An archive adds to what is there, and one that was read before is left out; a folder takes the place of what was read
    of it before. Addresses of `opt_outs`, with their other names, and hosts stay out of the collection for good; pages last
    seen before `expire_before`, in seconds since 1970, may come back. `note` is told what people should know.

    By the way 'auto' a small update of a large collection is put into a delta beside it, and the collection stays as it is;
    what is left out is in no answer any more, and its bytes go with `compact_collection`, or at once with `erase`, which
    makes the collection anew. By the way 'delta' also a small collection gets one. What cannot be a delta makes the
    collection anew. The report says which, and why.
    """
    open_kin(path)  # a folder that is no collection is refused, not made
    with KinWriter(path, "pagekin update", memory) as writer:
        kin, keeping = open_living(path, pages=False)
        before = open_corpora(path)
        bases = (
            dict(base_urls or {}) if base_url else _with_known_addresses(sources, base_urls or {}, keeping, path, note)
        )
        units, again = without_known(plan_units(sources, bases, base_url), keeping)
        for name in again:
            note(f"{name} was read before, and is left out")
        wanted = _with_other_names(opt_outs, before, path, note)
        fresh = OptOuts(wanted.addresses - keeping.opt_outs.addresses, wanted.hosts - keeping.opt_outs.hosts)
        report = UpdateReport(opted_out=fresh.as_list(), read_before=again)
        to_erase = bool(kin.facts.get(DELTA, {}).get("erasable", DELTA in kin.facts))
        expires = bool(expire_before and (units or expired_addresses(keeping.parts, expire_before)))
        if not (units or fresh or expires or (erase and to_erase)):
            return report
        plan = replace(plan_of(kin, path, units, workers, memory), opt_outs=wanted, expire_before=expire_before)
        try:
            _refuse_delta(plan, kin, "merge" if erase else way, erase)
            plan = replace(plan, read_already=True)
            if outcome := _put_delta(writer, plan, kin, keeping, way, progress, note):
                report.delta, report.pages, report.reason = outcome
            return report
        except NotInDeltaError as reason:
            writer.forget_kept()
            require_keeping(path)
            report.reason = f"the collection was made anew, because {reason}"
        # Names of clusters, and words of the label, may come from pages of which nothing is to be left.
        follow = not (fresh or expire_before or to_erase)
        report.build = _remake(writer, plan, kin, keeping, progress, note, follow)
    report.pages = compare_pages(before, open_corpora(path))
    return report


def _with_known_addresses(
    sources: Sequence[str], base_urls: Mapping[str, str], keeping: Keeping, path: Path, note: Note
) -> dict[str, str]:
    """Return the addresses of folders; one without an address has that under which it was read before, and this is noted."""
    bases = dict(base_urls)
    given = {Path(folder) for folder in bases}
    for source in sources:
        if Path(source) in given or not Path(source).is_dir():
            continue
        known = known_addresses(keeping, Path(source))
        if len(known) > 1:
            shown = ", ".join(known)
            raise KinError(
                f"{path} holds several folders called {Path(source).name}: {shown}. Say which one: --base-url {source}=URL"
            )
        if known:
            bases[source] = known[0]
            note(f"{source} is read as {known[0]}, as before")
    return bases


def _put_delta(
    writer: KinWriter, plan: ReadPlan, kin: Kin, keeping: Keeping, way: UpdateWay, progress: Progress, note: Note
) -> tuple[DeltaReport, PageChanges, str] | None:
    """Write an update as a delta; return (the delta's report, the update's changes, why it is a delta), None if nothing is new.

    Raise a NotInDeltaError if the collection is to be made anew.
    """
    read = replace(plan, read_already=False)
    units, parts = read_parts(writer, read, ReadReport({}), progress, note) if plan.units else ([], [])
    if plan.expire_before and (expired := expired_addresses([*keeping.parts, *parts], plan.expire_before)):
        raise NotInDeltaError(f"{len(expired):,} pages expire")
    work = writer.work / "making"
    work.mkdir()
    maker = DeltaMaker(kin, parts_for_delta(keeping, units, parts), keeping.opt_outs | plan.opt_outs, work)
    if DELTA not in kin.facts and not maker.has_changes:
        return None
    pages = int(kin.facts["pages"])
    most = sys.maxsize if way == "delta" else int(LARGEST_SHARE * pages)
    keep_for_delta(writer, units, parts, plan.opt_outs, keeping.recipe)
    progress("delta", 0.0)
    report = commit_delta(writer, kin, lambda own: maker.make(own, most, plan.workers))
    progress("delta", 1.0)
    before = kin.facts.get(DELTA, {})
    changes = PageChanges(*(getattr(report, name) - before.get(name, 0) for name in PageChanges._fields))
    share = f"{report.pages / max(pages, 1):.1%} of the collection's {pages:,} pages"
    why = "as was asked for" if way == "delta" else f"at most {LARGEST_SHARE:.0%} are put beside it"
    return report, changes, f"the update was put into a delta, which has {report.pages:,} pages: {share}, and {why}"


def _refuse_delta(plan: ReadPlan, kin: Kin, way: UpdateWay, erase: bool) -> None:
    """Raise a NotInDeltaError with the reason why an update needs a rebuild."""
    if way == "merge":
        raise NotInDeltaError("bytes of what is left out were to be erased" if erase else "this was asked for")
    if SHARDS in kin.facts:
        raise NotInDeltaError("it is in shards")
    if plan.max_per_host:
        raise NotInDeltaError(f"it keeps {plan.max_per_host:,} pages of each host, which are chosen among all")
    if plan.all_captures:
        raise NotInDeltaError("every capture is a page by itself")
    if "epoch" not in kin.facts["index"]:
        raise NotInDeltaError("an earlier Pagekin indexed it")
    if way == "auto" and kin.facts["pages"] < FEWEST_PAGES:
        raise NotInDeltaError(f"it has fewer than {FEWEST_PAGES:,} pages, which takes little time")


def compact_collection(
    path: Path,
    *,
    workers: int = 1,
    memory: MemoryBudget = NO_LIMIT,
    progress: Progress = no_progress,
    note: Note = no_note,
) -> BuildReport:
    """Rebuild a collection from its kept parts, with the bytes of a build from all its sources."""
    open_kin(path)
    with KinWriter(path, "pagekin compact", memory) as writer:
        kin, keeping = open_living(path)
        return _remake(writer, plan_of(kin, path, (), workers, memory), kin, keeping, progress, note)


def open_living(path: Path, pages: bool = True) -> tuple[Kin, Keeping]:
    """Return (a collection to rebuild, what it keeps); refuse one that cannot be rebuilt. For `pages` see `require_keeping`."""
    kin = open_kin(path)
    keeping = require_keeping(path, pages)
    if "index" not in kin.facts:
        raise KinError(f"{path} has no index yet. Make it with: pagekin index {path}")
    if kin.facts["index"].get("not_citing"):
        raise KinError(
            f"{path} was indexed without the links of some pages (--not-citing), which an update does not know. "
            f"Index it with them first: pagekin index {path}"
        )
    return kin, keeping


def plan_of(kin: Kin, path: Path, units: Sequence[Unit], workers: int, memory: MemoryBudget) -> ReadPlan:
    """Return a plan that reads units as the collection's sources were read, and adds them to it."""
    facts = kin.facts
    return ReadPlan(
        [], path, facts["parser"], workers, all_captures=facts["all_captures"], limits=Limits(**facts["limits"]),
        exclude=tuple(facts["exclude"]), content=tuple(facts.get("content", ())), units=tuple(units), replace=True,
        memory=memory, adds=True, obey=tuple(facts.get("obey", ())), max_per_host=facts.get("max_per_host", 0),
    )  # fmt: skip


def _remake(
    writer: KinWriter, plan: ReadPlan, kin: Kin, keeping: Keeping, progress: Progress, note: Note, follow: bool = False
) -> BuildReport:
    """Rebuild a collection by a plan; with `follow`, keep its clusters and label where possible."""
    recipe = BuildRecipe.of(kin, keeping.recipe)
    require_room(plan, recipe.clusters is not None, recipe.text, note, held=int(kin.facts["html_bytes"]))
    if not follow:
        note_lost_directory(kin, note)
    if SHARDS in kin.facts:
        return build_shards_into(writer, plan, len(kin.facts[SHARDS]), recipe, progress, note)
    kin = without_delta(kin)
    before = kin if follow else None
    return build_into(writer, plan, recipe, progress, note, before, added_terms(kin.facts), follow)


def _with_other_names(opt_outs: OptOuts, corpora: Sequence[Corpus], path: Path, note: Note) -> OptOuts:
    """Return opt-outs with all known aliases of their pages, so that no page stays under another name."""
    names: set[str] = set(opt_outs.addresses)
    for address in sorted(opt_outs.addresses):
        known = {corpus.url(number) for corpus in corpora if (number := corpus.url_number(address)) >= 0}
        if not known:
            note(f"{address} is not in {path}; it is left out from now on")
        aliases = {
            alias
            for corpus in corpora
            for home in known
            if (number := corpus.url_number(home)) >= 0
            for alias in corpus.aliases_of(number)
        }
        others = (known | aliases) - names
        for other in sorted(others):
            note(f"{other}, another name of {address}, is left out with it")
        names |= others
    return OptOuts(frozenset(names), opt_outs.hosts)
