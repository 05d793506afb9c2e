"""Publish a site: survey it, build, write files beside the pages, mark the pages; or undo all of that."""

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pagekin.bags import Strategy
from pagekin.clusters import choose_clusters
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import Note, ReadPlan, default_workers, no_note
from pagekin.similarity import RelatedIndex
from pagekin.site.marking import UNFINISHED, MakeBlock, block_html, count_reasons, mark_files, unmark_files
from pagekin.site.our_files import (
    LLMS,
    MANIFEST,
    is_ours,
    make_manifest,
    put_file,
    read_manifest,
    remove_empty,
    remove_files,
    site_files,
    versioned_name,
)
from pagekin.site.overview import related_files
from pagekin.site.pages import RelatedLink, SitePages, count_links, related_lists
from pagekin.site.settings import OUR_FOLDER, SiteError, SitePlan
from pagekin.site.survey import Survey, survey_folder
from pagekin.sources import HTML_ENDINGS, list_folder
from pagekin.store import Progress, no_progress


@dataclass(frozen=True)
class SiteReport:
    """The files and pages written into a site."""

    survey: Survey
    pages: int
    """Pages that were read."""
    marked: int
    """Files that have a marked place now."""
    linked: int
    """Those of them that have a list of related pages: not every page has pages like it."""
    links: int
    """Related pages on them."""
    files: int
    """Files besides the pages."""
    bytes: int
    skipped: Mapping[str, int] = field(default_factory=dict)
    """Files that were not read, by reasons."""
    left_alone: Mapping[str, int] = field(default_factory=dict)
    """Pages that were read but have no marked place, by reasons."""
    foreign_llms: bool = False
    """Whether there is an `llms.txt` that is not ours, and was kept."""
    has_llms: bool = False
    """Whether there is an `llms.txt` of ours, beside the folder of the other files."""
    changed: int = 0
    """Files that were written or removed: 0 if everything was there already."""


class UndoReport(NamedTuple):
    """What was removed from a site."""

    pages: int
    """Pages that had a marked place."""
    files: int
    """Other files."""


def publish_site(plan: SitePlan, progress: Progress = no_progress, note: Note = no_note) -> SiteReport:
    """Write related pages, search, topics and data into a folder; a second run writes the same bytes."""
    survey = survey_folder(plan)
    folder, settings = plan.folder, plan.settings
    before = read_manifest(folder)
    if not os.access(folder, os.W_OK):
        raise SiteError(f"{folder} cannot be written to. Nothing was changed.")
    _tidy(folder)
    workers = plan.workers or default_workers()
    read = ReadPlan(
        [str(folder)], plan.kin, workers=workers, base_url=survey.base_url, exclude=survey.address_patterns,
        content=survey.content, replace=True, small_here=not plan.workers,
    )  # fmt: skip
    clusters = choose_clusters() if settings.topics or settings.llms else None
    recipe = BuildRecipe(Strategy(), clusters, settings.search)
    written = [name for name in (*before, MANIFEST) if (folder / name).is_file()]
    skipped = _without_ours(build_collection(read, recipe, progress, note).facts["skipped"], written)
    index = RelatedIndex.open(plan.kin)
    pages = SitePages(folder, survey, index.corpora[0])
    lists = related_lists(pages, index, settings, min(workers, default_workers()), progress)
    ours = site_files(settings, pages, count_links(pages, index), plan.folder.resolve().name, progress)
    ours |= {f"{OUR_FOLDER}/{name}": content for name, content in related_files(pages, lists).items()}
    foreign = LLMS in ours and (folder / LLMS).exists() and not is_ours(folder, LLMS, before)
    if foreign:
        del ours[LLMS]
    changed = sum(put_file(folder / name, content) for name, content in ours.items())
    blocks = _blocks(plan, pages, lists, ours)
    reasons = {}
    for done, (path, reason, is_written) in enumerate(mark_files(folder, blocks, survey.content), 1):
        reasons[path] = reason
        changed += is_written
        progress("marking", done / len(pages.page_of))
    changed += unmark_files(folder, sorted(set(survey.files) - set(reasons)))
    changed += put_file(folder / MANIFEST, make_manifest(pages, ours))
    changed += remove_files(folder, {name: digest for name, digest in before.items() if name not in ours})
    marked = [path for path, reason in reasons.items() if not reason]
    links = [len(lists[pages.page_of[path]]) for path in marked]
    return SiteReport(
        survey, len(pages.order), len(marked), sum(map(bool, links)), sum(links), len(ours) + 1, sum(map(len, ours.values())),
        skipped, count_reasons([*reasons.values(), *(["only redirects to another page"] * len(pages.stubs))]), foreign,
        LLMS in ours, changed,
    )  # fmt: skip


def undo_site(plan: SitePlan) -> UndoReport:
    """Remove everything that was written into a folder."""
    folder = plan.folder
    if not folder.is_dir():
        raise SiteError(f"{folder} is not a folder.")
    before = read_manifest(folder)
    _tidy(folder)
    pages = unmark_files(folder, (path for path in list_folder(folder) if path.lower().endswith(HTML_ENDINGS)))
    files = remove_files(folder, before)
    if (folder / MANIFEST).is_file():
        (folder / MANIFEST).unlink()
        files += 1
    remove_empty(folder / OUR_FOLDER)
    if plan.collection is None:
        shutil.rmtree(plan.kin, ignore_errors=True)
    return UndoReport(pages, files)


# -- what is written ----------------------------------------------------------------------------------------------------


def _blocks(
    plan: SitePlan, pages: SitePages, lists: Mapping[int, list[RelatedLink]], ours: Mapping[str, bytes]
) -> Iterator[tuple[str, MakeBlock]]:
    """Yield each file with a function that makes the content of its marked block."""
    style, script = versioned_name("site.css"), versioned_name("search.js") if plan.settings.search else ""
    topics = f"{OUR_FOLDER}/index.html" if plan.settings.topics and f"{OUR_FOLDER}/index.html" in ours else ""

    def make(path: str, page: int, base: str) -> bytes:
        home = pages.link(path, f"{OUR_FOLDER}/site.css", base).removesuffix("site.css")
        links = [(pages.link(path, one.path, base), one) for one in lists[page] if one.path != path]
        return block_html(
            links, plan.settings.heading, home + style, home + script if script else "",
            pages.link(path, topics, base) if topics else "",
        )  # fmt: skip

    for path, page in sorted(pages.page_of.items()):
        yield path, partial(make, path, page)


def _without_ours(skipped: Mapping[str, int], ours: Sequence[str]) -> dict[str, int]:
    """Return the numbers of skipped files by reason, without files that an earlier run wrote."""
    left = Counter(skipped)
    left.subtract("excluded" if name.lower().endswith(HTML_ENDINGS) else "not html" for name in ours)
    return dict(+left)


def _tidy(folder: Path) -> None:
    """Remove leftovers of an interrupted run."""
    for path in list_folder(folder):
        if path.endswith(UNFINISHED) and path.rpartition("/")[2].startswith("."):
            (folder / path).unlink(missing_ok=True)
