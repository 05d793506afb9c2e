"""Publish a site: survey, build, write beside the pages, mark the pages. And undo it."""

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from pagekin import __version__
from pagekin.bags import Strategy
from pagekin.clusters import choose_clusters
from pagekin.engines import build_collection
from pagekin.hypertext import Note, ReadPlan, default_workers, no_note
from pagekin.similarity import RelatedIndex
from pagekin.site.marking import (
    UNFINISHED,
    MakeBlock,
    block_html,
    count_reasons,
    mark_files,
    replace_file,
    unmark_files,
)
from pagekin.site.overview import llms_text, related_files, site_name, site_topics, topics_page
from pagekin.site.pages import RelatedLink, SitePages, related_lists
from pagekin.site.search_files import make_search
from pagekin.site.settings import OUR_FOLDER, SiteError, SitePlan
from pagekin.site.survey import Survey, survey_folder
from pagekin.sources import HTML_ENDINGS, list_folder
from pagekin.store import Progress, no_progress
from pagekin.text import TextIndex

MANIFEST = f"{OUR_FOLDER}/site.json"
LLMS = "llms.txt"
FORMAT = 1


@dataclass(frozen=True)
class SiteReport:
    """What was written into a site."""

    survey: Survey
    pages: int
    """Pages that were read."""
    marked: int
    """Files that have a marked place now."""
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


def publish_site(plan: SitePlan, progress: Progress = no_progress, note: Note = no_note) -> SiteReport:
    """Write related pages, search, topics and data into a folder. A second time gives the same bytes."""
    survey = survey_folder(plan)
    folder, settings = plan.folder, plan.settings
    before = _read_manifest(folder)
    if not os.access(folder, os.W_OK):
        raise SiteError(f"{folder} cannot be written to. Nothing was changed.")
    _tidy(folder)
    workers = plan.workers or default_workers()
    read = ReadPlan(
        [str(folder)], plan.kin, workers=workers, base_url=survey.base_url, exclude=survey.address_patterns,
        content=survey.content, replace=True,
    )  # fmt: skip
    clusters = choose_clusters() if settings.topics or settings.llms else None
    facts = build_collection(read, Strategy(), progress, clusters, settings.search, note=note).facts
    index = RelatedIndex.open(plan.kin)
    pages = SitePages(folder, survey, index.corpora[0])
    lists = related_lists(pages, index, settings, min(workers, default_workers()), progress)
    ours = _our_files(plan, pages, lists, progress)
    foreign = LLMS in ours and (folder / LLMS).exists() and not _is_ours(folder, LLMS, before)
    if foreign:
        del ours[LLMS]
    for name, content in ours.items():
        _put(folder / name, content)
    blocks = _blocks(plan, pages, lists, ours)
    reasons = {}
    for done, (path, reason) in enumerate(mark_files(folder, blocks, survey.content), 1):
        reasons[path] = reason
        progress("marking", done / len(pages.page_of))
    unmark_files(folder, sorted(set(survey.files) - set(reasons)))
    _put(folder / MANIFEST, _manifest(pages, ours))
    _remove(folder, {name: digest for name, digest in before.items() if name not in ours})
    marked = [path for path, reason in reasons.items() if not reason]
    return SiteReport(
        survey, len(pages.order), len(marked), sum(len(lists[pages.page_of[path]]) for path in marked),
        len(ours) + 1, sum(map(len, ours.values())), facts["skipped"],
        count_reasons([*reasons.values(), *(["only leads to another page"] * len(pages.stubs))]), foreign,
    )  # fmt: skip


def undo_site(plan: SitePlan) -> int:
    """Take all that was written into a folder out again; return how many pages had a marked place."""
    folder = plan.folder
    if not folder.is_dir():
        raise SiteError(f"{folder} is no folder.")
    before = _read_manifest(folder)
    _tidy(folder)
    changed = unmark_files(folder, (path for path in list_folder(folder) if path.lower().endswith(HTML_ENDINGS)))
    _remove(folder, before)
    (folder / MANIFEST).unlink(missing_ok=True)
    _remove_empty(folder / OUR_FOLDER)
    if plan.collection is None:
        shutil.rmtree(plan.kin, ignore_errors=True)
    return changed


# -- what is written ----------------------------------------------------------------------------------------------------


def _our_files(
    plan: SitePlan, pages: SitePages, lists: Mapping[int, list[RelatedLink]], progress: Progress
) -> dict[str, bytes]:
    """Return all files besides the pages, by their paths."""
    settings = plan.settings
    ours = {f"{OUR_FOLDER}/site.css": _static("site.css")}
    for name, content in related_files(pages, lists).items():
        ours[f"{OUR_FOLDER}/{name}"] = content
    if settings.search:
        found = make_search(pages, TextIndex.open(pages.corpus), progress)
        ours[f"{OUR_FOLDER}/search.js"] = _static("search.js")
        for name, content in found.files.items():
            ours[f"{OUR_FOLDER}/search/{found.id}/{name}"] = content
        ours[f"{OUR_FOLDER}/search/meta.json"] = found.meta
    topics = site_topics(pages)
    title = site_name(pages, plan.folder.resolve().name)
    if settings.topics or settings.search:
        ours[f"{OUR_FOLDER}/index.html"] = topics_page(
            pages,
            topics if settings.topics else (),
            title,
            settings.search,
            _versioned("search.js"),
            _versioned("site.css"),
        )
    if settings.llms:
        ours[LLMS] = llms_text(pages, topics, title)
    return ours


def _blocks(
    plan: SitePlan, pages: SitePages, lists: Mapping[int, list[RelatedLink]], ours: Mapping[str, bytes]
) -> Iterator[tuple[str, MakeBlock]]:
    """Yield each file with what makes the content of its marked place."""
    style, script = _versioned("site.css"), _versioned("search.js") if plan.settings.search else ""
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


def _static(name: str) -> bytes:
    return (files("pagekin.site") / "static" / name).read_bytes()


def _versioned(name: str) -> str:
    """Return the name of a static file with what changes when it does, so that no browser keeps an old one."""
    return f"{name}?{hashlib.blake2b(_static(name), digest_size=4).hexdigest()}"


# -- files --------------------------------------------------------------------------------------------------------------


def _manifest(pages: SitePages, ours: Mapping[str, bytes]) -> bytes:
    survey = pages.survey
    about: dict[str, Any] = {
        "format": FORMAT, "pagekin": __version__, "generator": survey.generator, "pages": len(pages.order),
        "base_url": survey.base_url if survey.address_from else "",
        "related": [name for name in sorted(ours) if name.startswith(f"{OUR_FOLDER}/related-")],
        "files": {name: _digest(content) for name, content in sorted(ours.items())},
    }  # fmt: skip
    return msgspec.json.format(msgspec.json.encode(about), indent=1)


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def _read_manifest(folder: Path) -> dict[str, str]:
    """Return the files that Pagekin wrote into a site, with their digests; refuse a folder of that name that is not ours."""
    try:
        about = msgspec.json.decode((folder / MANIFEST).read_bytes())
        found = {str(name): str(digest) for name, digest in about["files"].items()}
    except FileNotFoundError:
        ours = folder / OUR_FOLDER
        if ours.exists() and (not ours.is_dir() or any(ours.iterdir())):
            raise SiteError(
                f"{ours} is there already, and Pagekin did not write it. Move it elsewhere: the site's search needs that name."
            ) from None
        return {}
    except (OSError, msgspec.DecodeError, KeyError, TypeError, AttributeError):
        raise SiteError(f"{folder / MANIFEST} is damaged. Remove {folder / OUR_FOLDER}, and run this again.") from None
    return {name: digest for name, digest in found.items() if name == LLMS or _is_below(folder, name)}


def _is_below(folder: Path, name: str) -> bool:
    """Return whether a name leads to a file of our folder and nowhere else, whatever a manifest says."""
    ours = (folder / OUR_FOLDER).resolve()
    return name.startswith(f"{OUR_FOLDER}/") and (folder / name).resolve().is_relative_to(ours)


def _is_ours(folder: Path, name: str, before: Mapping[str, str]) -> bool:
    """Return whether a file is still as Pagekin wrote it."""
    file = folder / name
    return name in before and file.is_file() and not file.is_symlink() and _digest(file.read_bytes()) == before[name]


def _put(file: Path, content: bytes) -> None:
    """Write a file unless it is there with the same content."""
    if file.is_file() and file.read_bytes() == content:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, content)


def _remove(folder: Path, names: Mapping[str, str]) -> None:
    """Remove files that are still as Pagekin wrote them, and folders of ours that are empty then."""
    for name in names:
        if _is_ours(folder, name, names):
            (folder / name).unlink()
    _remove_empty(folder / OUR_FOLDER)


def _remove_empty(folder: Path) -> None:
    """Remove folders without files."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for below in sorted(folder.rglob("*"), reverse=True):
        if below.is_dir() and not any(below.iterdir()):
            below.rmdir()
    if not any(folder.iterdir()):
        folder.rmdir()


def _tidy(folder: Path) -> None:
    """Remove what a run that was killed left behind."""
    for path in list_folder(folder):
        if path.endswith(UNFINISHED) and path.rpartition("/")[2].startswith("."):
            (folder / path).unlink(missing_ok=True)
