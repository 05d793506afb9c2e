"""The pages of a site: home, topic hubs, index, a page for each thing, print versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from pagekin.sources.demo.facts import FactError, FactPage, Print, Site
from pagekin.sources.demo.links import GUIDES, Link, LinkMap, page_url, split_sentences, topic_url, url_slug
from pagekin.sources.demo.oldstyles import FramesetWriter, writer_for
from pagekin.sources.demo.writer import Head, PlainWriter, Writer

LINKS_HOST = "links.example"
OWNERS = (
    "{}, compiled by volunteers",
    "{}, corrections welcome",
    "The keepers of {}",
    "{}, written for the curious",
    "{}: write to us, a reply takes a week",
)


@dataclass(frozen=True)
class DemoPage:
    """A page of the demo web: its address, and its bytes as a server would send them."""

    url: str
    html: bytes
    path: str
    """Its path in the directory: '/Science/Chemistry/Nonmetals'."""


def site_pages(site: Site, links: LinkMap, prints: list[Print]) -> Iterator[DemoPage]:
    """Generate all pages of a site, in a fixed order."""
    maker = SiteMaker(site, links, prints)
    yield from maker.make_home()
    for topic, pages in site.topics().items():
        yield maker.make_hub(topic, pages)
    yield maker.make_index()
    for page in site.pages:
        yield maker.make_page(page)
    for item in prints:
        yield maker.make_print_version(item)


def choose(words: str, count: int) -> int:
    """Return a number below `count` that depends only on the words."""
    return crc32(words.encode("utf-8")) % count


class SiteMaker:
    """A generator of the pages of one site."""

    def __init__(self, site: Site, links: LinkMap, prints: list[Print]) -> None:
        """Prepare to make the pages of `site`; `prints` are its print versions."""
        self.site = site
        self.links = links
        self.root = f"http://{site.host}/"
        self.index_url = f"{self.root}a-z.html"
        self.guides = f"/{site.directory}/{GUIDES}"
        self.by_slug = {page.slug: page for page in site.pages}
        self.topics = site.topics()
        self.printed = {item.page.partition(":")[2] for item in prints}

    def begin_page(self, url: str, title: str, topic: str = "", keywords: tuple[str, ...] = ()) -> Writer:
        """Begin a page in the site's style."""
        crumbs = [] if url == self.root else [(self.root, "Home")]
        if topic:
            crumbs.append((topic_url(self.site, topic), topic))
        nav = [(self.root, self.site.title), (self.index_url, "A to Z")]
        owner = OWNERS[choose(self.site.key, len(OWNERS))].format(self.site.title)
        return writer_for(self.site.key, Head(url, title, owner, crumbs, nav, keywords))

    def describe(self, out: Writer, page: FactPage) -> str:
        """Return a link to a page with the first words of its text."""
        words = self.links.first_words(page, self.site.key)
        return f"{out.link(page_url(self.site, page), page.name)}: {out.text(words)}"

    def make_home(self) -> Iterator[DemoPage]:
        """Generate the home page and, if it has frames, the two pages in them."""
        out = self.begin_page(self.root, self.site.title, keywords=tuple(self.topics))
        if isinstance(out, FramesetWriter):
            left, main = f"{self.root}frames/contents.html", f"{self.root}frames/welcome.html"
            out.heading(1, self.site.title)
            out.para(
                f"Your browser shows no frames: go to the {out.link(main, 'welcome page')}, to the "
                f"{out.link(left, 'contents')} or to the {out.link(self.index_url, 'index')}."
            )
            self.write_welcome(out)
            yield DemoPage(self.root, out.frameset(left, main), self.guides)
            contents = self.begin_page(left, f"Contents - {self.site.title}")
            contents.heading(2, "Contents")
            contents.items(contents.link(topic_url(self.site, topic), topic) for topic in self.topics)
            yield DemoPage(left, contents.finish(), self.guides)
            out = self.begin_page(main, f"Welcome to {self.site.title}")
            self.write_home(out)
            yield DemoPage(main, out.finish(), self.guides)
        else:
            self.write_home(out)
            yield DemoPage(self.root, out.finish(), self.guides)

    def write_home(self, out: Writer) -> None:
        """Write the contents of a home page."""
        out.heading(1, self.site.title)
        self.write_welcome(out)
        out.heading(2, "Good pages to start with")
        favourites = self.links.most_linked(self.site, list(self.site.pages), 6)
        out.items(self.describe(out, page) for page in favourites)
        guide = out.link(f"http://{LINKS_HOST}/", "Hand-Picked Links")
        out.para(
            f"All {len(self.site.pages)} pages are in the {out.link(self.index_url, 'A to Z index')}. "
            f"Neighbouring subjects are found through {guide}."
        )

    def write_welcome(self, out: Writer) -> None:
        """Write the introduction and the list of topics."""
        out.para(out.text(self.site.about))
        out.heading(2, "Topics")
        out.items(
            f"{out.link(topic_url(self.site, topic), topic)}: " + out.text(self.list_names(pages))
            for topic, pages in self.topics.items()
        )

    def list_names(self, pages: list[FactPage]) -> str:
        """Return a few names from a topic: 'Carbon, Oxygen and 4 more'."""
        shown = [page.name for page in self.links.most_linked(self.site, pages, 3)]
        rest = len(pages) - len(shown)
        return ", ".join(shown) + (f" and {rest} more" if rest else "")

    def make_hub(self, topic: str, pages: list[FactPage]) -> DemoPage:
        """Make the hub page of a topic: a table of its pages, or annotated lists under headings."""
        url = topic_url(self.site, topic)
        out = self.begin_page(url, f"{topic} - {self.site.title}", keywords=(topic, self.site.title))
        out.heading(1, topic)
        out.para(out.text(f"The {len(pages)} pages of {self.site.title} filed under {topic}."))
        if self.site.layout == "table":
            columns = list(pages[0].facts)[:2]
            rows = [
                [out.link(page_url(self.site, page), page.name)]
                + [out.text(page.facts.get(column, "")) for column in columns]
                + [out.text(self.links.first_words(page, self.site.key))]
                for page in pages
            ]
            out.table(["Name", *columns, "In short"], rows)
        else:
            first = self.links.most_linked(self.site, pages, 3)
            out.heading(2, "Read these first")
            out.items(self.describe(out, page) for page in first)
            rest = [page for page in pages if page not in first]
            if rest:
                out.heading(2, "Also in this section")
                out.items(self.describe(out, page) for page in rest)
        self.write_links_elsewhere(out, pages)
        return DemoPage(url, out.finish(), f"/{self.site.directory}/{topic}")

    def write_links_elsewhere(self, out: Writer, pages: list[FactPage]) -> None:
        """Write up to five links from the topic's texts to other sites, each with the page that mentions it."""
        mentions: dict[str, tuple[Link, FactPage]] = {}
        for page in pages:
            for paragraph in page.paragraphs:
                for piece in self.links.resolve(paragraph, self.site.key):
                    if isinstance(piece, Link) and not piece.target.url.startswith(self.root):
                        mentions.setdefault(piece.target.ref, (piece, page))
        if mentions:
            out.heading(2, "On other sites")
            out.items(
                f"{out.link(link.target.url, link.target.name)} (see {out.text(page.name)})"
                for link, page in list(mentions.values())[:5]
            )

    def make_index(self) -> DemoPage:
        """Make the index from A to Z."""
        out = self.begin_page(self.index_url, f"A to Z - {self.site.title}")
        out.heading(1, f"{self.site.title} from A to Z")
        letters: dict[str, list[FactPage]] = {}
        for page in sorted(self.site.pages, key=lambda page: (url_slug(page.name) or page.slug, page.slug)):
            letters.setdefault((url_slug(page.name) or page.slug)[0].upper(), []).append(page)
        out.para(" ".join(out.here_link(letter, letter) for letter in letters))
        for letter, pages in letters.items():
            out.heading(2, letter, anchor=letter)
            out.items(
                f"{out.link(page_url(self.site, page), page.name)} ({out.text(page.topic.lower())})" for page in pages
            )
        return DemoPage(self.index_url, out.finish(), self.guides)

    def make_page(self, page: FactPage) -> DemoPage:
        """Make the page about one thing."""
        url = page_url(self.site, page)
        keywords = (page.name, page.topic, self.site.directory.partition("/")[2]) if choose(url, 3) == 0 else ()
        out = self.begin_page(url, f"{page.name} - {self.site.title}", page.topic, keywords)
        self.write_body(out, page, page.paragraphs)
        if page.slug in self.printed:
            out.para(out.link(f"{self.root}print/{page.slug}.html", "Print version"))
        if out.see_also and self.site.layout != "table":
            self.write_see_also(out, page)
        return DemoPage(url, out.finish(), f"/{self.site.directory}/{page.topic}")

    def write_body(self, out: Writer, page: FactPage, paragraphs: tuple[str, ...]) -> None:
        """Write heading, picture, text and facts; the site's layout decides where the facts go."""
        key = self.site.key
        out.heading(1, page.name)
        name, value = next(iter(page.facts.items()))
        out.image(f"/img/{page.slug}.jpg", f"{page.name}, {name.lower()}: {value}")
        if self.site.layout == "table":
            out.facts("table", page.facts)
        out.para(out.inline(self.links.resolve(paragraphs[0], key)))
        if self.site.layout == "list":
            out.heading(2, "At a glance")
            out.facts("list", page.facts)
        for paragraph in paragraphs[1:]:
            out.para(out.inline(self.links.resolve(paragraph, key)))
        if self.site.layout == "prose":
            out.heading(2, "Facts")
            out.facts("prose", page.facts)

    def write_see_also(self, out: Writer, page: FactPage) -> None:
        """Write links to three neighbours in the topic, not always the nearest ones."""
        around = self.topics[page.topic]
        start = around.index(page) + 1 + choose(page.slug, 2)
        ring = [around[(start + step) % len(around)] for step in range(len(around))]
        chosen = [other for other in ring if other is not page][:3]
        if chosen:
            out.heading(2, "See also")
            out.items(out.link(page_url(self.site, other), other.name) for other in chosen)

    def make_print_version(self, item: Print) -> DemoPage:
        """Make a print version: no navigation, and another closing sentence."""
        page = self.by_slug.get(item.page.partition(":")[2])
        if page is None:
            raise FactError(f"prints.toml, page '{item.page}': there is no such page")
        url = f"{self.root}print/{page.slug}.html"
        owner = f"Printed from {self.site.title}"
        out = PlainWriter(Head(url, f"{page.name} - {self.site.title} (print version)", owner))
        closing = " ".join([*split_sentences(page.paragraphs[-1])[:-1], item.closing])
        self.write_body(out, page, (*page.paragraphs[:-1], closing))
        out.para(out.text("The page itself: ") + out.link(page_url(self.site, page), page_url(self.site, page)))
        return DemoPage(url, out.finish(), f"/{self.site.directory}/{page.topic}")
