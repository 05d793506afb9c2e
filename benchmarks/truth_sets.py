"""Real sites with what their authors say of them: which pages stand in one chapter, and which see-also lists name which.

    PAGEKIN_DATA=... python benchmarks/truth_sets.py --out CACHE_DIR [--sets python,git]

Each set becomes CACHE_DIR/SET/site, a folder of HTML from which navigation, tables of contents and see-also lists are
taken out, and CACHE_DIR/SET/truth.json with the chapters and the see-also pairs. So little that is indexed repeats what is judged
by. Most sets are for learning; the others are only ever judged.

It needs a Debian with apt-get and dpkg-deb, as doc_collections.py does, lxml, and PAGEKIN_DATA for the sets that are no packages.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import re
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from lxml import etree
from lxml import html as lxml_html
from warcio.archiveiterator import ArchiveIterator as WarcIterator

sys.path.insert(0, str(Path(__file__).parent))

from doc_collections import fetch, unpack
from truth_dictionaries import write_pages

ClassRule = Callable[[str, etree._Element], str | None]
"""Given a page's path and its parsed form, the chapter it stands in, or None if nobody says."""

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
SEE_ALSO = re.compile(r"\s*see also\b", re.IGNORECASE)
SEE_ALSO_CLASSES = ("seealso", "relatedtopics")
REDIRECT = '//meta[translate(@http-equiv, "REFSH", "refsh") = "refresh"][not(ancestor::noscript)]'
WHOLE_SEE_ALSO = re.compile(r"\s*see also\s*:?\s*", re.IGNORECASE)
LEAST_CLASS = 3
"""Chapters with fewer pages judge nobody."""


@dataclass(frozen=True)
class TruthSet:
    """One site: where its pages come from, what of them is navigation, and how its chapters are told."""

    judged_only: bool
    """Whether the set is kept from learning."""
    base: str
    root: str = ""
    package: str = ""
    chapter: ClassRule = lambda path, page: None
    navigation: tuple[str, ...] = ()
    """XPath of the elements to take out."""
    left_out: str = "(?!)"
    """Pages whose path this matches are indexes and lists made by a program: not part of the set."""
    lists_in: str = ""
    """XPath of the parts of a page whose see-also lists are of the page, where others are of functions on it."""
    archive: str = ""
    """The web archive that holds the pages, in PAGEKIN_DATA; paths are then their addresses, quoted, without the scheme."""

    def url(self, path: str) -> str:
        """Return the address of a page."""
        return "http://" + unquote(path.removesuffix(".html")) if self.archive else self.base + quote(path)


@dataclass
class Truth:
    """What authors say of a site's pages."""

    chapters: dict[str, str] = field(default_factory=dict)
    see_also: dict[str, list[str]] = field(default_factory=dict)


def folder_rule(levels: int, least: int = 1) -> ClassRule:
    """Tell chapters by the first folders of the path."""

    def rule(path: str, page: etree._Element) -> str | None:
        folders = path.split("/")[:-1][:levels]
        return "/".join(folders) if len(folders) >= least else None

    return rule


def dotted_rule(inside: str, parts: int = 2) -> ClassRule:
    """Tell chapters by the first parts of a dotted name, as in reference/generated/scipy.stats.norm.html."""

    def rule(path: str, page: etree._Element) -> str | None:
        name = posixpath.basename(path).removesuffix(".html").split(".")
        return ".".join(name[:parts]) if inside in path and len(name) > parts else None

    return rule


def ingroup_rule(path: str, page: etree._Element) -> str | None:
    """Tell chapters by the first group that doxygen names under the title."""
    groups = page.xpath('//div[@class="ingroups"]/a[last()]/@href')
    return str(groups[0]) if groups else None


def upward_rule(path: str, page: etree._Element) -> str | None:
    """Tell chapters by the page one level up: DocBook's and Texinfo's own link."""
    up = page.xpath('//link[translate(@rel, "UP", "up")="up"]/@href') or page.xpath('//a[@accesskey="u"]/@href')
    target = str(up[0]).split("#")[0] if up else ""
    return target if target not in ("", "index.html") else None


def section_rule(path: str, page: etree._Element) -> str | None:
    """Tell chapters by the number of the section in the title, as in "Reference Manual: Section 4.12"."""
    number = re.search(r"Section ([0-9A-Z]+)\.", page.xpath("string(//title)"))
    return number[1] if number else None


def prefix_rule(path: str, page: etree._Element) -> str | None:
    """Tell chapters by the first part of a dotted name, as in r.slope.html."""
    return path.split(".")[0]


def field_rule(path: str, page: etree._Element) -> str | None:
    """Tell chapters by the field that an entry of a dictionary names."""
    return next(iter(page.xpath('//meta[@name="field"]/@content')), None)


def category_rule(path: str, page: etree._Element) -> str | None:
    """Tell chapters by the category at the end of a page of doctools."""
    return str(page.xpath('normalize-space(//*[@id="category"]/p)')) or None


def sphinx(judged_only: bool, package: str, folder: str, base: str, chapter: ClassRule, left_out: str = "") -> TruthSet:
    """Describe a site made by Sphinx."""
    navigation = (
        "related", "sphinxsidebar", "footer", "mobile-nav", "nav", "bd-sidebar", "bd-toc", "bd-header", "sk-sidebar-toc-wrapper",
        "prev-next-area", "prev-next-bottom", "sk-page-content-navigation", "navbar", "bd-footer", "sphx-glr-thumbnails",
        "toctree-wrapper", "autosummary",
    )  # fmt: skip
    paths = tuple(f'//*[contains(concat(" ", @class, " "), " {name} ")]' for name in navigation)
    generated = r"genindex|py-modindex|search\.html|contents\.html|_modules/|_sources/|modindex"
    return TruthSet(
        judged_only, base, f"usr/share/doc/{folder}", package, chapter, ("//nav", "//footer", *paths),
        f"{generated}|{left_out}" if left_out else generated,
    )  # fmt: skip


SETS: dict[str, TruthSet] = {
    "python": sphinx(
        False, "python3.11-doc", "python3.11/html", "https://docs.python.org/3.11/", lambda path, page: None
    ),
    "school": TruthSet(False, "http://schools-wikipedia.org/"),
    "scipy": sphinx(
        False, "python-scipy-doc", "python-scipy-doc/html", "https://docs.scipy.example/", dotted_rule("generated/")
    ),
    "cppreference": TruthSet(
        False, "https://cppreference.example/", "usr/share/cppreference/doc/html/en", "cppreference-doc-en-html",
        folder_rule(3, least=2),
        ('//*[@class="t-navbar"]', '//*[@id="contentSub"]', '//*[@class="printfooter"]', '//*[@id="cpp-footer-base"]'),
    ),
    "git": TruthSet(
        False, "https://git.example/", "usr/share/doc/git-doc", "git-doc", navigation=('//*[@id="footer"]',),
        left_out="^index",
    ),
    "qt": TruthSet(
        False, "https://qt.example/", "usr/share/qt5/doc", "qtbase5-doc-html", folder_rule(1),
        ('//*[@class="navigationbar"]', '//*[@class="sidebar"]', '//*[@class="footer"]'),
        r"-members\.html|-obsolete\.html|-manifest|-module\.html",
        '//div[@class="descr"]|//div[@class="descr"]/following-sibling::p',
    ),
    "octave": TruthSet(
        False, "https://octave.example/", "usr/share/doc/octave/octave.html", "octave-doc", upward_rule,
        ('//div[@class="header"]', "//link[@rel]", '//*[@class="menu"]', '//*[contains(@class, "-toc")]'),
        r"index\.html|Concept-Index|^_|^XREF",
    ),
    "lazarus": TruthSet(
        False, "https://lazarus.example/", "usr/share/doc/lazarus/2.2.6", "lazarus-doc-2.2", folder_rule(2, least=2),
        ('//table[@class="bar"]',),
        r"/index(-\d+)?\.html|^(?!lcl/(stdctrls|forms|graphics|menus|extctrls|dialogs|buttons|grids)/)",
    ),
    "grass": TruthSet(
        False, "https://grass.example/", "usr/share/doc/grass-doc/html", "grass-doc", prefix_rule,
        ("//script", '//div[@class="toc"]', '//div[@id="container"]/p[contains(., "Main index")]', '//a[img]'),
        r"^[^.]*\.html|^(manual|topic|keyword|class)",
    ),
    "wx": TruthSet(
        False, "https://wx.example/", "usr/share/doc/wx3.2-doc/html", "wx3.2-doc", ingroup_rule,
        ('//*[@id="top"]', '//*[@id="side-nav"]', '//*[@id="nav-path"]', '//*[@class="ingroups"]', '//*[@class="footer"]',
         '//*[@class="category" or @class="category_text"]', '//ul[contains(@class, "navpath")]'),
        r"search/|-members\.html|^(annotated|classes|functions|globals|hierarchy|namespace|files|dir_|group|index)|_8h",
        '//div[@class="textblock"]',
    ),
    "petsc": TruthSet(
        False, "https://petsc.example/", "usr/share/doc/petsc3.18-doc/docs", "petsc3.18-doc", folder_rule(3, least=3),
        ("//header", "//nav", "//footer", '//a[@class="headerlink"]', '//*[contains(@class, "bd-sidebar")]',
         '//*[contains(@class, "bd-toc")]', '//*[contains(@class, "prev-next")]', '//section[@id="level"]'),
        r"^(?!docs/manualpages/(KSP|PC|Vec|SNES|IS|Draw|Viewer|AO|Tao|DMDA|DMLabel|PetscSection)/)|index\.html|\.c\.html",
    ),
    "astropy": sphinx(
        False, "python-astropy-doc", "python-astropy-doc/html", "https://astropy.example/", dotted_rule("api/"),
        "^changelog|whatsnew/",
    ),
    "gtk": TruthSet(
        False, "https://gtk.example/", "usr/share/gtk-doc/html/gtk3", "libgtk-3-doc", upward_rule,
        ('//table[@class="navigation"]', '//div[@class="toc"]', "//link[@rel]", '//div[@class="footer"]'),
        r"^index|api-index|annotation-glossary|^ix",
    ),
    "apache": TruthSet(
        False, "https://apache.example/", "usr/share/doc/apache2-doc/manual/en", "apache2-doc", folder_rule(1),
        ('//*[@id="page-header"]', '//*[@id="path"]', '//*[@class="toplang"]', '//*[@class="bottomlang"]', '//*[@id="footer"]',
         '//*[@id="toc"]', '//*[@id="topics"]', '//*[@class="up"]', '//*[@class="top"]', '//*[@id="comments_section"]'),
        r"(^|/)index\.html|sitemap|quickreference|directives\.html",
    ),
    "qtquick": TruthSet(
        False, "https://qtquick.example/", "usr/share/qt5/doc", "qtdeclarative5-doc-html", folder_rule(1),
        ('//*[@class="navigationbar"]', '//*[@class="sidebar"]', '//*[@class="footer"]'),
        r"-members\.html|-obsolete\.html|-manifest|-module\.html|-qmlmodule\.html",
        '//div[@class="descr"]|//div[@class="descr"]/following-sibling::p',
    ),
    "math": TruthSet(
        False, "https://math.example/", "usr/share/doc/libcommons-math3-java/api", "libcommons-math3-java-doc",
        folder_rule(9, least=5),
        ('//*[@class="topNav" or @class="bottomNav" or @class="subNav"]', '//div[@class="subTitle"]', "//noscript"),
        r"class-use/|index-files/|package-|^[^/]*$", '//div[@class="description"]',
    ),
    "ncurses": TruthSet(
        False, "https://ncurses.example/", "usr/share/doc/ncurses-doc/html/man", "ncurses-doc",
        navigation=('//div[@class="nav"]',), left_out="index",
    ),
    "linux": sphinx(
        False, "linux-doc-6.1", "linux-doc-6.1/html", "https://linux.example/", folder_rule(2),
        r"(^|/)index\.html|^translations/|^userspace-api/media/v4l/vidioc",
    ),
    "glib": TruthSet(
        False, "https://glib.example/", "usr/share/gtk-doc/html", "libglib2.0-doc", upward_rule,
        ('//table[@class="navigation"]', '//div[@class="toc"]', "//link[@rel]", '//div[@class="footer"]'),
        r"/index\.html|api-index|annotation-glossary|/ix|-index\.html",
    ),
    "maxima": TruthSet(
        False, "https://maxima.example/", "usr/share/doc/maxima-doc/html", "maxima-doc", upward_rule,
        ('//div[@class="header"]', "//link[@rel]", '//*[@class="menu"]', '//*[contains(@class, "-toc")]',
         '//p[starts-with(normalize-space(.), "Categories")]'),
        r"index\.html|Index|_toc|^de/|^es/|^pt|singlepage|^XREF",
    ),
    "gnucash": TruthSet(
        False, "https://gnucash.example/", "usr/share/doc/gnucash-docs/gnucash-guide-en", "gnucash-docs", upward_rule,
        ('//div[@class="navheader"]', '//div[@class="navfooter"]', '//div[@class="toc"]', "//link[@rel]"), r"^index\.html|^ix",
    ),
    "slony": TruthSet(
        False, "https://slony.example/", "usr/share/doc/slony1-2-doc/adminguide", "slony1-2-doc", upward_rule,
        ('//div[@class="NAVHEADER"]', '//div[@class="NAVFOOTER"]', '//div[@class="TOC"]', "//link[@rel]"),
        r"^index\.html|bookindex",
    ),
    "prolog": TruthSet(
        False, "https://prolog.example/", "usr/share/swi-prolog/doc/Manual", "swi-prolog-doc", section_rule,
        ('//div[@class="navigate"]', '//div[@class="toc"]', "//link[@rel]"), r"^(index|Contents|DocIndex|summary)\.html",
    ),
    "lilypond": TruthSet(
        False, "https://lilypond.example/", "usr/share/doc/lilypond/html/Documentation/notation", "lilypond-doc-html",
        upward_rule,
        ('//table[@class="nav_table"]', '//table[@class="menu"]', '//div[@id="tocframe"]', '//div[@id="footer"]', "//link[@rel]"),
        r"^index|lilypond-index|^[^/]*\.[a-z]{2}\.html",
    ),
    "django": sphinx(
        True, "python-django-doc", "python-django-doc/html", "https://docs.django.example/", folder_rule(3, least=2),
        r"^releases/.*\d\.\d\.",
    ),
    "sklearn": sphinx(
        True, "python-sklearn-doc", "python-sklearn-doc/html", "https://sklearn.example/", dotted_rule("generated/")
    ),
    "pandas": sphinx(
        True, "python-pandas-doc", "python-pandas-doc/html", "https://pandas.example/", dotted_rule("reference/api/"),
        "^generated/",
    ),
    "openjdk": TruthSet(
        True, "https://openjdk.example/", "usr/share/doc/openjdk-17-jre-headless/api", "openjdk-17-doc",
        folder_rule(9, least=2), ("//header", "//footer", '//div[@class="sub-title"]'),
        r"class-use/|index-files/|(package|module)-(tree|use|summary)|^[^/]*$|^jdk\.",
        '//section[@class="class-description"]',
    ),
    "postgresql": TruthSet(
        True, "https://postgresql.example/", "usr/share/doc/postgresql-doc-15/html", "postgresql-doc-15", upward_rule,
        ('//div[@class="navheader"]', '//div[@class="navfooter"]', '//div[@class="toc"]', "//link[@rel]"),
        r"bookindex|^index\.html|release",
    ),
    "eigen": TruthSet(
        True, "https://eigen.example/", "usr/share/doc/libeigen3-dev/html", "libeigen3-doc", ingroup_rule,
        ('//*[@id="top"]', '//*[@id="side-nav"]', '//*[@id="nav-path"]', '//*[@class="ingroups"]', '//*[@class="footer"]',
         '//table[@class="memberdecls"][contains(., "Modules") or contains(., "Classes")]'),
        r"search/|-members\.html|_source\.html|^(annotated|classes|functions|globals|hierarchy|namespace|files|dir_)",
        '//div[@class="textblock"]',
    ),
    "freepascal": TruthSet(
        True, "https://freepascal.example/", "usr/share/doc/fp-docs/3.2.2", "fp-docs-3.2.2", folder_rule(2, least=2),
        ('//table[@class="bar"]',), r"/index(-\d+)?\.html|^(rtl|ref|prog|user|fpdoc|chart|fclres|buttons)/|^fpctoc",
    ),
    "csound": TruthSet(
        False, "https://csound.example/", "usr/share/doc/csound-doc/html", "csound-doc",
        navigation=('//div[@class="navheader"]', '//div[@class="navfooter"]', '//div[@class="toc"]', "//link[@rel]"),
        left_out=r"^index\.html|^MiscQuickref|^OpcodesTop|^examples/",
    ),
    "rust": TruthSet(
        True, "https://rust.example/", "usr/share/doc/rust-doc/html/std", "rust-doc", folder_rule(3),
        ("//nav", '//*[@class="sub"]', '//h1[@class="fqn"]//a[contains(@href, "index.html")]'),
        r"(^|/)(index|all)\.html$|^prelude/",
    ),
    "foldoc": TruthSet(  # judged only until it was asked why BM25 finds more of its lists
        False, "https://foldoc.example/", "usr/share/dictd/foldoc.dict.dz", "dict-foldoc", field_rule,
        ('//meta[@name="field"]',),
    ),
    "jargon": TruthSet(True, "https://jargon.example/", "usr/share/dictd/jargon.dict.dz", "dict-jargon"),
    "libreoffice": TruthSet(
        True, "https://libreoffice.example/", "usr/share/libreoffice/help", "libreoffice-help-en-us",
        folder_rule(4, least=4), ("//header", "//aside", "//footer"), r"^(?!en-US/text/)|/main\d*\.html|/00/",
    ),
    "tcllib": TruthSet(
        True, "https://tcllib.example/", "usr/share/doc/tcllib/html", "tcllib", category_rule,
        ('//*[@id="toc"]', '//*[@id="category"]', '//*[@id="copyright"]'), "^index|^toc",
    ),
    "webkb": TruthSet(False, "", archive="webkb/webkb.warc.gz"),  # judged only until many_hosts.py looked at it
}  # fmt: skip


def read_pages(name: str, cache: Path, data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path, HTML) of a set's pages."""
    chosen = SETS[name]
    if chosen.root.endswith(".dict.dz"):
        yield from write_pages(unpack(fetch(chosen.package, cache), cache) / chosen.root)
    elif chosen.package:
        root = unpack(fetch(chosen.package, cache), cache) / chosen.root
        for file in sorted(root.rglob("*.htm*")):
            path = file.relative_to(root).as_posix()
            if file.is_file() and not re.search(chosen.left_out, path):
                yield path, file.read_bytes()
    elif chosen.archive:
        with (data / chosen.archive).open("rb") as stream:
            for record in WarcIterator(stream):
                if record.rec_type == "response":
                    address = record.rec_headers.get_header("WARC-Target-URI").removeprefix("http://")
                    yield quote(address, safe="") + ".html", record.content_stream().read()
    elif name == "school":
        with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
            for member in archive:
                if member.isfile() and member.name.startswith("site/") and member.name.endswith(".htm"):
                    held = archive.extractfile(member)
                    assert held is not None
                    yield member.name.removeprefix("site/"), held.read()


def see_also_blocks(page: etree._Element) -> list[etree._Element]:
    """Return the elements that make up a page's see-also lists."""
    blocks = [
        block
        for name in SEE_ALSO_CLASSES
        for block in page.xpath(f'//*[contains(concat(" ", @class, " "), " {name} ")]')
    ]
    blocks += page.xpath('//dl[contains(@class, "section") and contains(@class, "see")]')
    for heading in page.iter(*HEADINGS):
        if WHOLE_SEE_ALSO.fullmatch(heading.text_content()):
            blocks.append(heading)
            for following in heading.itersiblings():
                if following.tag in HEADINGS and following.tag <= heading.tag:
                    break
                blocks.append(following)
    for term in page.iter("dt"):
        if WHOLE_SEE_ALSO.fullmatch(term.text_content()):
            blocks += [term, *(item for item in [term.getnext()] if item is not None)]
    blocks += [paragraph for paragraph in page.iter("p") if SEE_ALSO.match(paragraph.text_content())]
    return blocks


def links_in(element: etree._Element, path: str) -> Iterator[str]:
    """Yield the paths of the pages that an element links to."""
    base = next(iter(element.xpath("//base/@href")), "")
    path = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), base)).lstrip("/") + "/" if base else path
    for link in element.iter("a"):
        target = urlsplit(link.get("href") or "")
        if target.path and not target.scheme:
            yield posixpath.normpath(posixpath.join("/", posixpath.dirname(path), unquote(target.path))).lstrip("/")


def take_out(element: etree._Element) -> None:
    """Remove an element, and keep the text behind it."""
    parent = element.getparent()
    if parent is not None:
        element.clear(keep_tail=True)
        element.drop_tree() if hasattr(element, "drop_tree") else parent.remove(element)


def make_set(name: str, out: Path, cache: Path, data: Path) -> Truth:
    """Write a set's cleaned pages and its truth, unless they are there."""
    folder = out / name
    if (folder / "truth.json").exists():
        return load_truth(folder)
    chosen, truth, pages = SETS[name], Truth(), {}
    for path, raw in read_pages(name, cache, data):
        try:
            page = lxml_html.document_fromstring(raw, parser=lxml_html.HTMLParser(encoding="utf-8"))
        except etree.ParserError:
            continue  # an empty file
        if (
            page.xpath('//meta[translate(@http-equiv, "REFSH", "refsh") = "refresh"][not(ancestor::noscript)]')
            and not chosen.archive
        ):
            continue  # another name of a page
        if (chapter := chosen.chapter(path, page)) is not None:
            truth.chapters[path] = chapter
        for expression in chosen.navigation:
            for element in page.xpath(expression):
                take_out(element)
        blocks = see_also_blocks(page)
        counted = blocks
        if chosen.lists_in:
            parts = page.xpath(chosen.lists_in)
            counted = [block for block in blocks if any(one in parts for one in (block, *block.iterancestors()))]
        truth.see_also[path] = [target for block in counted for target in links_in(block, path) if target != path]
        for block in blocks:
            take_out(block)
        pages[path] = page
    _add_given_chapters(name, truth, pages, data)
    for path, page in pages.items():
        file = folder / "site" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(lxml_html.tostring(page, encoding="utf-8", doctype="<!DOCTYPE html>"))
    truth = Truth(
        {path: chapter for path, chapter in truth.chapters.items() if path in pages},
        {path: named for path, targets in truth.see_also.items() if (named := sorted({*targets} & pages.keys()))},
    )
    (folder / "truth.json").write_text(json.dumps(vars(truth), indent=1), encoding="utf-8")
    return truth


def load_truth(folder: Path) -> Truth:
    """Read the truth of a set that was made before."""
    return Truth(**json.loads((folder / "truth.json").read_text(encoding="utf-8")))


def _add_given_chapters(name: str, truth: Truth, pages: dict[str, etree._Element], data: Path) -> None:
    """Add the chapters that a file or a page of the set tells, where no rule does."""
    if name == "python":
        for line in (data / "python-docs-chapters.tsv").read_text(encoding="utf-8").splitlines():
            address, chapter = line.split("\t")
            truth.chapters[address.removeprefix(SETS[name].base)] = chapter
    elif name == "school":
        with tarfile.open(data / "schoolwiki2007.tar.xz") as archive:
            member = next(m for m in archive if m.name.endswith("directory.tsv"))
            stream = archive.extractfile(member)
            assert stream is not None
            for line in stream.read().decode().splitlines():
                address, chapter = line.split("\t")
                truth.chapters.setdefault(unquote(address).lstrip("/"), "/".join(chapter.split("/")[:3]))
    elif name == "git":
        for section in pages["git.html"].xpath('//div[@class="sect2" or @class="sect1"][h2 or h3]'):
            heading = section.xpath("h2|h3")[0].text_content()
            for target in section.xpath("div/dl/dt/a/@href") + section.xpath("div/div/dl/dt/a/@href"):
                truth.chapters[str(target)] = heading
            for listed in section.xpath("div/dl|div/div/dl"):
                take_out(listed)
    elif name == "csound":
        _add_listed_chapters(truth, pages)
    elif name == "webkb":
        for line in (data / "webkb/directory.tsv").read_text(encoding="utf-8").splitlines():
            address, chapter = line.split("\t")
            if not chapter.startswith("/other/"):  # pages that are no home page of anything: nothing that they share
                truth.chapters[quote(address.removeprefix("http://"), safe="") + ".html"] = chapter


def _add_listed_chapters(truth: Truth, pages: dict[str, etree._Element]) -> None:
    """Take pages that list entries of a reference out of a set, and tell chapters by them: the shortest list counts."""
    entries = {path for path, page in pages.items() if page.xpath('//*[@class="refentrytitle"]')}
    lists: dict[str, list[str]] = {}
    for path in pages.keys() - entries:
        if re.match("Preface|Deprecated|Historical|Experimental|Misc|Using|Csound", path):
            continue  # what is new or old or used in an example is no chapter
        listed = [target for item in pages[path].xpath("//li") for target in links_in(item, path) if target in entries]
        if len(listed) >= LEAST_CLASS:
            lists[path] = listed
    for path, listed in sorted(lists.items(), key=lambda one: (-len(set(one[1])), one[0])):
        truth.chapters.update(dict.fromkeys(listed, path))
        del pages[path]


def judged_chapters(truth: Truth) -> dict[str, str]:
    """Return the chapters that have enough pages to judge by."""
    sizes: dict[str, int] = {}
    for chapter in truth.chapters.values():
        sizes[chapter] = sizes.get(chapter, 0) + 1
    return {path: chapter for path, chapter in truth.chapters.items() if sizes[chapter] >= LEAST_CLASS}


def main() -> None:
    """Make the sets and tell what is in each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--cache", type=Path, help="where packages are downloaded and unpacked; default: in --out")
    parser.add_argument("--sets", default=",".join(SETS))
    given = parser.parse_args()
    data = Path(os.environ.get("PAGEKIN_DATA", ""))
    cache = given.cache or given.out / "packages"
    cache.mkdir(parents=True, exist_ok=True)
    print(f"{'set':<14}{'for':<9}{'pages':>7}{'in chapters':>13}{'chapters':>10}{'with see-also':>15}{'pairs':>8}")
    for name in given.sets.split(","):
        truth = make_set(name, given.out, cache, data)
        chapters = judged_chapters(truth)
        pages = sum(1 for _ in (given.out / name / "site").rglob("*.htm*"))
        pairs = sum(len(targets) for targets in truth.see_also.values())
        use = "judging" if SETS[name].judged_only else "learning"
        print(
            f"{name:<14}{use:<9}{pages:>7,}{len(chapters):>13,}{len(set(chapters.values())):>10,}"
            f"{len(truth.see_also):>15,}{pairs:>8,}",
            flush=True,
        )


if __name__ == "__main__":
    main()
