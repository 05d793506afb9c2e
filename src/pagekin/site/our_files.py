"""The files that Pagekin writes beside a site's pages: their content, and how to recognise them."""

import hashlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from pagekin import __version__
from pagekin.site.marking import replace_file
from pagekin.site.overview import llms_text, site_name, site_topics, topics_page
from pagekin.site.pages import SitePages
from pagekin.site.search_files import make_search
from pagekin.site.settings import OUR_FOLDER, SiteError, SiteSettings
from pagekin.store import Progress
from pagekin.text import TextIndex

MANIFEST = f"{OUR_FOLDER}/site.json"
LLMS = "llms.txt"
FORMAT = 1


def site_files(
    settings: SiteSettings, pages: SitePages, links_to: Mapping[int, int], name: str, progress: Progress
) -> dict[str, bytes]:
    """Return all files besides the pages and their lists, by path; `name` is for a site without a name.

    `links_to` is the number of pages that link to each page.
    """
    ours = {f"{OUR_FOLDER}/site.css": static_file("site.css")}
    if settings.search:
        search = make_search(pages, TextIndex.open(pages.corpus), progress)
        ours[f"{OUR_FOLDER}/search.js"] = static_file("search.js")
        for file, content in search.files.items():
            ours[f"{OUR_FOLDER}/search/{search.id}/{file}"] = content
        ours[f"{OUR_FOLDER}/search/meta.json"] = search.meta
    topics = site_topics(pages, links_to)
    title = site_name(pages, name)
    if settings.topics or settings.search:
        ours[f"{OUR_FOLDER}/index.html"] = topics_page(
            pages,
            topics if settings.topics else (),
            title,
            settings.search,
            versioned_name("search.js"),
            versioned_name("site.css"),
        )
    if settings.llms:
        ours[LLMS] = llms_text(pages, topics, title)
    return ours


def static_file(name: str) -> bytes:
    """Return a script or stylesheet that is the same for all sites."""
    return (files("pagekin.site") / "static" / name).read_bytes()


def versioned_name(name: str) -> str:
    """Return the name of a static file with a digest, so that browsers do not keep an old one."""
    return f"{name}?{hashlib.blake2b(static_file(name), digest_size=4).hexdigest()}"


def make_manifest(pages: SitePages, ours: Mapping[str, bytes]) -> bytes:
    """Return the list of files that Pagekin wrote, for the next run."""
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


def read_manifest(folder: Path) -> dict[str, str]:
    """Return the files that Pagekin wrote into a site, with digests; refuse a folder of that name that is not ours."""
    try:
        about = msgspec.json.decode((folder / MANIFEST).read_bytes())
        digests = {str(name): str(digest) for name, digest in about["files"].items()}
    except FileNotFoundError:
        ours = folder / OUR_FOLDER
        if ours.exists() and (not ours.is_dir() or any(ours.iterdir())):
            raise SiteError(
                f"{ours} exists, and Pagekin did not write it. Move it elsewhere: the site's search needs that name."
            ) from None
        return {}
    except (OSError, msgspec.DecodeError, KeyError, TypeError, AttributeError):
        raise SiteError(f"{folder / MANIFEST} is damaged. Remove {folder / OUR_FOLDER}, and run this again.") from None
    return {name: digest for name, digest in digests.items() if name == LLMS or _is_below(folder, name)}


def _is_below(folder: Path, name: str) -> bool:
    """Return whether a name in a manifest leads to a file inside our folder."""
    ours = (folder / OUR_FOLDER).resolve()
    return name.startswith(f"{OUR_FOLDER}/") and (folder / name).resolve().is_relative_to(ours)


def is_ours(folder: Path, name: str, before: Mapping[str, str]) -> bool:
    """Return whether a file is unchanged since Pagekin wrote it."""
    file = folder / name
    return name in before and file.is_file() and not file.is_symlink() and _digest(file.read_bytes()) == before[name]


def put_file(file: Path, content: bytes) -> bool:
    """Write a file unless it exists with the same content; return whether it was written."""
    if file.is_file() and file.read_bytes() == content:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, content)
    return True


def remove_files(folder: Path, names: Mapping[str, str]) -> int:
    """Remove files that are unchanged since Pagekin wrote them, then empty folders of ours; return how many files."""
    ours = [name for name in names if is_ours(folder, name, names)]
    for name in ours:
        (folder / name).unlink()
    remove_empty(folder / OUR_FOLDER)
    return len(ours)


def remove_empty(folder: Path) -> None:
    """Remove folders without files."""
    if not folder.is_dir() or folder.is_symlink():
        return
    for below in sorted(folder.rglob("*"), reverse=True):
        if below.is_dir() and not any(below.iterdir()):
            below.rmdir()
    if not any(folder.iterdir()):
        folder.rmdir()
