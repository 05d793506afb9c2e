"""What a collection keeps so that it can be rebuilt: the parts it was merged from, their sources, and opt-outs."""

import hashlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pagekin import __version__
from pagekin.hypertext.opt_outs import NO_OPT_OUTS, OptOuts
from pagekin.sources import Unit
from pagekin.store import MANIFEST, KeptFolders, KinError, KinWriter, damaged_files, read_kept, read_manifest

_ENDS = 1 << 20
"""Bytes at either end of a file by which it is known again."""
_SHOWN_SOURCES = 5
PAGES_OF_PART = "blobs"
"""The file of a part that holds the pages themselves: most of its bytes."""
_RENEWABLE = ("folder", "demo")
"""Kinds of sources that, read again, take the place of what was read of them before; archives add to it."""


class KeptSource(msgspec.Struct, frozen=True):
    """A source of kept parts."""

    key: str
    """As the parts name it: kind, name and address."""
    names: tuple[str, ...]
    """As the manifest names it; each file of a WACZ by itself."""
    fingerprint: str = ""
    """Of an archive: its size and a digest of its ends."""
    read: str = ""
    """When it was read, in UTC."""


class _About(msgspec.Struct):
    """The facts stored with the list of kept parts."""

    form: str
    pagekin: str
    updatable: bool
    sources: tuple[KeptSource, ...]
    opt_outs: tuple[str, ...]
    recipe: dict[str, Any]
    built: str
    updated: str
    base: tuple[str, ...] = ()
    made: str = ""


@dataclass(frozen=True)
class Keeping:
    """The parts, sources and opt-outs that a collection keeps."""

    updatable: bool = False
    """Whether the parts are there."""
    parts: tuple[Path, ...] = ()
    sources: tuple[KeptSource, ...] = ()
    opt_outs: OptOuts = NO_OPT_OUTS
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """What the stages after reading were given beyond what the manifest tells."""
    built: str = ""
    updated: str = ""
    form: str = ""
    """That of the parts, by which they are known to fit those that are read now."""
    bytes_on_disk: int = 0
    base: tuple[str, ...] = ()
    """Of a collection with a delta, the names of the parts that its base was made of."""
    made: str = ""
    """When all of it was last made, by a build, an update without a delta or a compact: that of its epoch, in UTC."""

    @property
    def base_parts(self) -> tuple[Path, ...]:
        """Return the parts of the base; without a delta, these are all parts."""
        return tuple(part for part in self.parts if part.name in self.base) if self.base else self.parts

    def about(self) -> dict[str, Any]:
        """Return the facts to store with the list of parts."""
        fields = _About(
            _part_form(), __version__, self.updatable, self.sources, tuple(self.opt_outs.as_list()), dict(self.recipe),
            self.built, self.updated, self.base, self.made,
        )  # fmt: skip
        facts: dict[str, Any] = msgspec.to_builtins(fields)
        return facts


NOTHING_KEPT = Keeping()


def read_keeping(path: Path) -> Keeping:
    """Return what the collection at `path` keeps; raise a KinError if the stored list is damaged."""
    kept = _kept_folders_of(path)
    if kept is None:
        return NOTHING_KEPT
    try:
        about = msgspec.convert(dict(kept.about), _About)
        opt_outs = OptOuts.of(about.opt_outs)
    except ValueError:
        raise KinError(f"{path} keeps parts from another version of Pagekin. {renewal(path)}") from None
    return Keeping(
        about.updatable, tuple(kept.paths(path)), about.sources, opt_outs, about.recipe, about.built, about.updated,
        about.form, kept.bytes_on_disk, about.base, about.made or (about.built if about.base else about.updated),
    )  # fmt: skip


def require_keeping(path: Path, pages: bool = True) -> Keeping:
    """Return what a collection keeps, or raise a KinError that says why it cannot be rebuilt from that.

    Without `pages` only the tables of parts are checked, not the pages in them: whoever reads few of them checks these.
    """
    keeping = read_keeping(path)
    if not keeping.updatable:
        raise KinError(f"{path} was not built with --updatable, so it cannot be updated. {renewal(path)}")
    if keeping.form != _part_form():
        raise KinError(f"{path} keeps parts from another version of Pagekin. {renewal(path)}")
    kept = _kept_folders_of(path)
    for where, what in damaged_files(path, kept, without="" if pages else PAGES_OF_PART) if kept else ():
        raise KinError(f"{path} cannot be updated: {where} {what}. {renewal(path)}")
    return keeping


def renewal(path: Path) -> str:
    """Return a sentence that says how to build a collection that can be updated."""
    return f"Build it again from all its sources: pagekin build SOURCE... --out {path} --updatable"


def _part_form() -> str:
    """Return the format of parts that this version writes."""
    from pagekin.hypertext.part import PART_FORM  # with the compiler, which showing a collection does not need

    return PART_FORM


def _kept_folders_of(path: Path) -> KeptFolders | None:
    return read_kept(path, read_manifest(path)) if (path / MANIFEST).exists() else None


def source_key(unit: Unit) -> str:
    """Return the string that identifies the source of a unit."""
    return " ".join(filter(None, (unit.kind, Path(unit.path).name, unit.base_url)))


def known_addresses(keeping: Keeping, folder: Path) -> list[str]:
    """Return the addresses that folders of this name had when they were read before."""
    keys = [source.key for source in keeping.sources]
    begin = f"folder {folder.name} "
    return sorted({key.rpartition(" ")[2] for key in keys if key.startswith(begin)})


def is_renewable(key: str) -> bool:
    """Return whether reading a source again replaces its earlier pages (folders do; archives add to them)."""
    return key.partition(" ")[0] in _RENEWABLE


def describe_sources(units: Iterable[Unit], kept: bool) -> tuple[KeptSource, ...]:
    """Return the sources of some units; if they are `kept`, with fingerprints to recognise them later."""
    by_path: dict[tuple[str, str], list[Unit]] = {}
    for unit in units:
        by_path.setdefault((source_key(unit), unit.path), []).append(unit)
    return tuple(
        KeptSource(key, tuple(sorted({unit.where for unit in some})), _fingerprint(some[0]) if kept else "", utc_now())
        for (key, _path), some in by_path.items()
    )


def without_known(units: Sequence[Unit], keeping: Keeping) -> tuple[list[Unit], list[str]]:
    """Return (the units of sources that are new, the names of archives that were read before)."""
    known = {source.fingerprint for source in keeping.sources} - {""}
    prints = {unit.path: _fingerprint(unit) for unit in units}
    again = {path for path, fingerprint in prints.items() if fingerprint in known}
    return [unit for unit in units if unit.path not in again], sorted(Path(path).name for path in again)


def refuse_other_sources(path: Path, units: Sequence[Unit]) -> None:
    """Raise a KinError if replacing a collection would lose pages of sources that are not being read now."""
    if (path / MANIFEST).exists():
        refuse_to_lose(read_manifest(path), path, units)


def refuse_to_lose(manifest: Mapping[str, Any], path: str | Path, units: Sequence[Unit]) -> None:
    """Raise a KinError if a collection, given its manifest, holds pages of sources that are not being read now."""
    stated = manifest["facts"].get("sources")
    held = [str(name) for name in stated] if isinstance(stated, list) else ["(not known)"]
    names = {unit.where for unit in units} | {Path(unit.path).name for unit in units}
    # A file of a WACZ is called NAME.wacz:FILE; a newer WACZ of that name may hold other files.
    others = [name for name in held if name not in names and name.partition(":")[0] not in names]
    if others:
        shown = ", ".join(others[:_SHOWN_SOURCES]) + (", ..." if len(others) > _SHOWN_SOURCES else "")
        raise KinError(
            f"{path} holds a collection of other sources: {shown}. It is left as it was. "
            "Name another place with --out, or overwrite it with --replace."
        )


class PartsToMerge(NamedTuple):
    """The parts that a corpus is merged from."""

    parts: list[Path]
    sources: list[str]
    """The names of their sources."""
    rewritten: int
    """How many of the parts were written again without what is left out."""


def keep_parts(
    writer: KinWriter, units: Sequence[Unit], parts: list[Path], *, keep: bool | None = None, adds: bool = False,
    opt_outs: OptOuts = NO_OPT_OUTS, expire_before: int = 0, recipe: Mapping[str, Any] | None = None,
    max_per_host: int = 0,
) -> PartsToMerge:  # fmt: skip
    """Return the parts to merge: the newly read ones and, with `adds`, those that the collection keeps.

    What is opted out, now or earlier, or expired is in none of them. The writer is told to keep them, if that is wanted; the
    fields of `ReadPlan` say when.
    """
    from pagekin.hypertext.leaving_out import cap_hosts, expire, leave_out  # which showing a collection does not need

    before = read_keeping(writer.path)
    opt_outs = before.opt_outs | opt_outs
    updatable = before.updatable if keep is None else keep
    held, sources = _join_sources(before if adds else NOTHING_KEPT, describe_sources(units, updatable))
    whole = [*held, *parts]
    folder = writer.work / "parts"
    folder.mkdir()
    chosen = expire(whole, expire_before, folder) if expire_before else whole
    chosen = leave_out(chosen, opt_outs, folder) if opt_outs else chosen
    chosen = cap_hosts(chosen, max_per_host, folder) if max_per_host else chosen
    if updatable or opt_outs:
        now = utc_now()
        built = (before.built if adds else "") or now
        keeping = Keeping(updatable, (), sources if updatable else (), opt_outs, recipe or {}, built, now, made=now)
        writer.keep(keeping.about(), chosen if updatable else [])
    names = sorted({name for source in sources for name in source.names})
    return PartsToMerge(chosen, names, len(set(chosen) - set(whole)))


def keep_for_delta(
    writer: KinWriter, units: Sequence[Unit], parts: Sequence[Path], opt_outs: OptOuts, recipe: Mapping[str, Any]
) -> None:
    """Keep newly read parts beside the earlier parts, which stay unchanged, without those of sources that were read again."""
    before = read_keeping(writer.path)
    held, sources = _join_sources(before, describe_sources(units, True))
    base = before.base or tuple(part.name for part in before.parts)
    keeping = Keeping(
        True, (), sources, before.opt_outs | opt_outs, recipe, before.built, utc_now(), base=base, made=before.made
    )  # fmt: skip
    writer.keep(keeping.about(), [*held, *parts])


class PartsForDelta(NamedTuple):
    """The parts that a delta is made from."""

    old: list[Path]
    """Those of the base that still count."""
    new: list[Path]
    """Those read since the base was made, and still count."""
    replaced: bool
    """Whether parts of the base do not count any more, since a source took the place of itself."""


def parts_for_delta(keeping: Keeping, units: Sequence[Unit], parts: Sequence[Path]) -> PartsForDelta:
    """Return the parts for a delta, given what the collection keeps and what was read now."""
    held, _sources = _join_sources(keeping, describe_sources(units, False))
    old = [part for part in keeping.base_parts if part in held]
    new = [part for part in held if part not in old]
    return PartsForDelta(old, [*new, *parts], len(old) < len(keeping.base or keeping.parts))


def _join_sources(keeping: Keeping, read: Sequence[KeptSource]) -> tuple[list[Path], tuple[KeptSource, ...]]:
    """Return (the kept parts that are not replaced, all sources)."""
    renewed = {source.key for source in read if is_renewable(source.key)}
    parts = [
        part for part in keeping.parts if not renewed & set(json.loads((part / "about.json").read_text())["sources"])
    ]
    stay = [source for source in keeping.sources if source.key not in renewed]
    return parts, (*stay, *read)


def _fingerprint(unit: Unit) -> str:
    """Return the size of an archive and a digest of its ends; '' for other sources."""
    if unit.kind in _RENEWABLE:
        return ""
    path = Path(unit.path)
    size = path.stat().st_size
    digest = hashlib.blake2b(digest_size=12)
    with path.open("rb") as stream:
        digest.update(stream.read(_ENDS))
        stream.seek(max(0, size - _ENDS))
        digest.update(stream.read(_ENDS))
    return f"{size}-{digest.hexdigest()}"


def utc_now() -> str:
    """Return the current time in UTC, as text."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
