"""Publish a site that exists only as an archive: write related pages, search and topics to a folder of their own."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from pagekin.bags import Strategy
from pagekin.clusters import choose_clusters
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import Corpus, Note, ReadPlan, default_workers, no_note
from pagekin.similarity import RelatedIndex
from pagekin.site.our_files import (
    LLMS,
    MANIFEST,
    is_ours,
    make_manifest,
    put_file,
    read_manifest,
    remove_files,
    site_files,
    static_file,
)
from pagekin.site.overview import scripted_files
from pagekin.site.pages import SitePages, count_links, pages_that_lead_on, related_lists
from pagekin.site.settings import OUR_FOLDER, SiteError, SiteSettings
from pagekin.site.survey import Survey, survey_samples
from pagekin.sources import Limits, Page, canonical_url, plan_units, read_unit
from pagekin.store import Progress, no_progress

_SAMPLES = 200


@dataclass(frozen=True)
class ArchivePlan:
    """The archive of a site, and the folder to write for it."""

    archive: Path
    address: str
    """The page that the site begins with; the site is what lies below its folder."""
    out: Path
    settings: SiteSettings = field(default_factory=SiteSettings)
    collection: Path | None = None
    """Where to keep the collection; None means beside `out`."""
    workers: int = 0
    """Processes and threads; 0 means one per core."""

    @property
    def kin(self) -> Path:
        """Return the path of the collection, never inside the folder, which is published."""
        kin = self.collection or self.out.with_name(f"{self.out.name}.kin")
        if kin.resolve().is_relative_to(self.out.resolve()):
            raise SiteError(f"{kin} is inside {self.out} and would be published. Name another place.")
        return kin


@dataclass(frozen=True)
class ArchiveReport:
    """The files written for a site."""

    survey: Survey
    pages: int
    """Pages of the site."""
    elsewhere: int
    """Pages of the archive that do not lie below the site's address, or only lead to another page."""
    links: int
    files: int
    bytes: int
    foreign_llms: bool = False
    """Whether there is an `llms.txt` in the folder that is not ours, and was kept."""


class ArchivedPages(SitePages):
    """The pages of a site read from an archive; the path of a page is its address without the site's."""

    def __init__(self, survey: Survey, corpus: Corpus) -> None:
        leading = pages_that_lead_on(corpus)
        urls = ((page, corpus.page_url(page)) for page in range(len(corpus)) if page not in leading)
        base = survey.base_url
        paths = {url.removeprefix(base): page for page, url in urls if url.startswith(base)}
        super().__init__(Path(), survey, corpus)
        self.page_of, self.file_of = paths, {page: path for path, page in paths.items()}

    def name(self, path: str) -> str:
        """Return the relative address of a page, safe if its first part has a colon, as a scheme does."""
        return f"./{path}" if path.startswith("/") or ":" in path.partition("/")[0] else path

    def address(self, path: str) -> str:
        """Return the address of a page, relative to the root, in the site's spelling."""
        return self.name(path)

    @property
    def home(self) -> str:
        """Return the address of the first page, relative to the root."""
        return ""


def publish_archive(plan: ArchivePlan, progress: Progress = no_progress, note: Note = no_note) -> ArchiveReport:
    """Write related pages, search, topics and data for the site of an archive into a folder of their own."""
    out, settings = plan.out, plan.settings
    before = check_out(plan)
    samples = list(islice(_read_pages(plan.archive), _SAMPLES))
    if not samples:
        raise SiteError(f"{plan.archive} holds no page.")
    base = _find_base(plan.address, [page.url for page in samples])
    survey = survey_samples([(page.url.removeprefix(base), page.html) for page in samples], settings, base)
    workers = plan.workers or default_workers()
    read = ReadPlan(
        [str(plan.archive)], plan.kin, workers=workers, exclude=survey.address_patterns, content=survey.content,
        replace=True,
    )  # fmt: skip
    clusters = choose_clusters() if settings.topics or settings.llms else None
    build_collection(read, BuildRecipe(Strategy(), clusters, settings.search), progress, note)
    index = RelatedIndex.open(plan.kin)
    corpus = index.corpora[0]
    pages = ArchivedPages(survey, corpus)
    if not pages.order:
        raise SiteError(f"{plan.archive} holds no page below {base}. Name the address of the site's first page.")
    pages.survey = replace(survey, files=tuple(sorted(pages.page_of)))
    lists = related_lists(pages, index, settings, min(workers, default_workers()), progress)
    ours = site_files(settings, pages, count_links(pages, index), base, progress)
    ours[f"{OUR_FOLDER}/related.js"] = static_file("related.js")
    ours |= {f"{OUR_FOLDER}/{name}": data for name, data in scripted_files(pages, lists, settings.heading).items()}
    foreign = LLMS in ours and (out / LLMS).exists() and not is_ours(out, LLMS, before)
    if foreign:
        del ours[LLMS]
    for name, content in ours.items():
        put_file(out / name, content)
    put_file(out / MANIFEST, make_manifest(pages, ours))
    remove_files(out, {name: digest for name, digest in before.items() if name not in ours})
    return ArchiveReport(
        pages.survey, len(pages.order), len(corpus) - len(pages.order), sum(map(len, lists.values())),
        len(ours) + 1, sum(map(len, ours.values())), foreign,
    )  # fmt: skip


def check_out(plan: ArchivePlan) -> dict[str, str]:
    """Return the files written for a site before; raise a SiteError if Pagekin may not write to its folder."""
    if plan.out.exists() and not plan.out.is_dir():
        raise SiteError(f"{plan.out} exists, but is not a folder. Name another with --out.")
    return read_manifest(plan.out)


def _read_pages(archive: Path) -> Iterator[Page]:
    """Yield the pages of an archive, with their canonical addresses."""
    for unit in plan_units([str(archive)], {}):
        for item in read_unit(unit, Limits()):
            if isinstance(item, Page) and (url := canonical_url(item.url)):
                yield replace(item, url=url)


def _find_base(address: str, urls: list[str]) -> str:
    """Return the folder of the named address, or of the first page if the address redirects to another host."""
    named = canonical_url(address)
    if named is None:
        raise SiteError(f"'{address}' is not an http(s) address, such as https://docs.example.org/")
    bases = (url.partition("?")[0].rpartition("/")[0] + "/" for url in (named, urls[0]))
    return max(bases, key=lambda base: sum(url.startswith(base) for url in urls))
