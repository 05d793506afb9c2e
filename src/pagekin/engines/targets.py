"""The place of a new collection: a folder, or an address in an object store."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pagekin.engines.local import BuildRecipe, BuildReport, build_collection
from pagekin.engines.local_shards import build_shards
from pagekin.hypertext import Note, ReadPlan, no_note, refuse_other_sources, refuse_to_lose
from pagekin.sources import Unit, plan_units
from pagekin.store import (
    MANIFEST,
    RESUME,
    KinWriter,
    MissingFileError,
    Progress,
    Storage,
    no_progress,
    parse_manifest,
    publish,
    put_manifest,
    temporary_folder,
)


@dataclass(frozen=True)
class Target:
    """The place of a collection that a cluster writes: its files, the work folder, and the commit."""

    out: str
    folder: str
    """For what a later job may go on from; a commit removes it."""
    commit: Callable[[bytes], None]
    """Takes the manifest, when all files that it names are there."""


@contextlib.contextmanager
def prepare_target(out: Path | str, replace_others: bool, units: Sequence[Unit]) -> Iterator[Target]:
    """Prepare the place of a collection; a folder is locked against other writers, an object store cannot be."""
    if isinstance(out, Path):
        with KinWriter(out.absolute(), "pagekin build") as writer:
            writer.refuse_to_lose_kept()
            if not replace_others:
                refuse_other_sources(out, units)
            yield Target(str(writer.path), str(writer.resume_folder()), writer.commit_manifest)
        return
    if not replace_others:
        _refuse_other_sources_at(out, units)
    yield Target(out, f"{out.rstrip('/')}/{RESUME}", partial(put_manifest, out))


def _refuse_other_sources_at(address: str, units: Sequence[Unit]) -> None:
    with contextlib.suppress(MissingFileError):
        refuse_to_lose(parse_manifest(Storage(address).read(MANIFEST), address), address, units)


def build_here(
    plan: ReadPlan,
    out: Path | str,
    shards: int,
    recipe: BuildRecipe,
    progress: Progress = no_progress,
    note: Note = no_note,
) -> BuildReport:
    """Build a collection on this machine, whole or in shards; for an object store, on the temporary disk first."""
    if isinstance(out, str):
        with temporary_folder("build") as folder:
            local = folder / Path(out).name  # the label has this name
            units = tuple(plan_units(plan.sources, plan.base_urls, plan.base_url))
            if not plan.replace:
                _refuse_other_sources_at(out, units)
            here = replace(plan, units=units)
            report = build_here(here, local, shards, recipe, progress, note)
            progress("copying", 0.0)
            publish(local, out)
            progress("copying", 1.0)
            return report
    here = replace(plan, out=out)
    if shards > 1:
        return build_shards(here, shards, recipe, progress, note)
    return build_collection(here, recipe, progress, note)
