"""The pages of a fact site: home, topic hubs, index, one page per thing, print versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from zlib import crc32

from pagekin.sources.demo.facts import FactError, FactPage, Print, Site
from pagekin.sources.demo.links import GUIDES, Link, LinkMap, page_url, sentences, topic_url, url_slug
from pagekin.sources.demo.oldstyles import FramedWriter, writer_for
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
class Made:
    """A finished page and its place in the directory ('/Science/Chemistry/Nonmetals')."""

    url: str
    html: bytes
    path: str


def site_pages(site: Site, links: LinkMap, prints: list[Print]) -> Iterator[Made]:
    """All pages of one site, in a fixed order."""
    maker = SiteMaker(site, links, prints)
    yield from maker.home()
    for topic, pages in site.topics().items():
        yield maker.hub(topic, pages)
    yield maker.index()
    for page in site.pages:
        yield maker.page(page)
    for item in prints:
        yield maker.print_version(item)


def choice(words: str, count: int) -> int:
    """A number below `count` that depends on the words alone."""
    return crc32(words.encode("utf-8")) % count


class SiteMaker:
    """Makes the pages of one site."""

    def __init__(self, site: Site, links: LinkMap, prints: list[Print]) -> None:
        """Remember the site, and which of its pages have a print version."""
        self.site = site
        self.links = links
        self.root = f"http://{site.host}/"
        self.index_url = f"{self.root}a-z.html"
        self.guides = f"/{site.directory}/{GUIDES}"
        self.by_slug = {page.slug: page for page in site.pages}
        self.topics = site.topics()
        self.printed = {item.page.partition(":")[2] for item in prints}

    def writer(self, url: str, title: str, topic: str = "", keywords: tuple[str, ...] = ()) -> Writer:
        """Begin a page in the site's style."""
        crumbs = [] if url == self.root else [(self.root, "Home")]
        if topic:
            crumbs.append((topic_url(self.site, topic), topic))
        nav = [(self.root, self.site.title), (self.index_url, "A to Z")]
        owner = OWNERS[choice(self.site.key, len(OWNERS))].format(self.site.title)
        return writer_for(self.site.key, Head(url, title, owner, crumbs, nav, keywords))

    def entry(self, out: Writer, page: FactPage) -> str:
        """A link to a page with the opening words of its text."""
        glimpse = self.links.glimpse(page, self.site.key)
        return f"{out.link(page_url(self.site, page), page.name)}: {out.text(glimpse)}"

    def home(self) -> Iterator[Made]:
        """The home page; with frames, also the two pages that it shows."""
        out = self.writer(self.root, self.site.title, keywords=tuple(self.topics))
        if isinstance(out, FramedWriter):
            left, main = f"{self.root}frames/contents.html", f"{self.root}frames/welcome.html"
            out.heading(1, self.site.title)
            out.para(
                f"Your browser shows no frames: go to the {out.link(main, 'welcome page')}, to the "
                f"{out.link(left, 'contents')} or to the {out.link(self.index_url, 'index')}."
            )
            self.welcome(out)
            yield Made(self.root, out.frameset(left, main), self.guides)
            contents = self.writer(left, f"Contents - {self.site.title}")
            contents.heading(2, "Contents")
            contents.items(contents.link(topic_url(self.site, topic), topic) for topic in self.topics)
            yield Made(left, contents.finish(), self.guides)
            out = self.writer(main, f"Welcome to {self.site.title}")
            self.root_page(out)
            yield Made(main, out.finish(), self.guides)
        else:
            self.root_page(out)
            yield Made(self.root, out.finish(), self.guides)

    def root_page(self, out: Writer) -> None:
        """What a home page shows."""
        out.heading(1, self.site.title)
        self.welcome(out)
        out.heading(2, "Good pages to start with")
        favourites = self.links.popular(self.site, list(self.site.pages), 6)
        out.items(self.entry(out, page) for page in favourites)
        guide = out.link(f"http://{LINKS_HOST}/", "Hand-Picked Links")
        out.para(
            f"All {len(self.site.pages)} pages are in the {out.link(self.index_url, 'A to Z index')}. "
            f"Neighbouring subjects are found through {guide}."
        )

    def welcome(self, out: Writer) -> None:
        """The about text and the list of topics."""
        out.para(out.text(self.site.about))
        out.heading(2, "Topics")
        out.items(
            f"{out.link(topic_url(self.site, topic), topic)}: " + out.text(self.names(pages))
            for topic, pages in self.topics.items()
        )

    def names(self, pages: list[FactPage]) -> str:
        """A few names from a topic: 'Carbon, Oxygen and 4 more'."""
        shown = [page.name for page in self.links.popular(self.site, pages, 3)]
        rest = len(pages) - len(shown)
        return ", ".join(shown) + (f" and {rest} more" if rest else "")

    def hub(self, topic: str, pages: list[FactPage]) -> Made:
        """The hub page of a topic: a table of its pages, or annotated lists under headings."""
        url = topic_url(self.site, topic)
        out = self.writer(url, f"{topic} - {self.site.title}", keywords=(topic, self.site.title))
        out.heading(1, topic)
        out.para(out.text(f"The {len(pages)} pages of {self.site.title} filed under {topic}."))
        if self.site.layout == "table":
            columns = list(pages[0].facts)[:2]
            rows = [
                [out.link(page_url(self.site, page), page.name)]
                + [out.text(page.facts.get(column, "")) for column in columns]
                + [out.text(self.links.glimpse(page, self.site.key))]
                for page in pages
            ]
            out.table(["Name", *columns, "In short"], rows)
        else:
            first = self.links.popular(self.site, pages, 3)
            out.heading(2, "Read these first")
            out.items(self.entry(out, page) for page in first)
            rest = [page for page in pages if page not in first]
            if rest:
                out.heading(2, "Also in this section")
                out.items(self.entry(out, page) for page in rest)
        self.elsewhere(out, pages)
        return Made(url, out.finish(), f"/{self.site.directory}/{topic}")

    def elsewhere(self, out: Writer, pages: list[FactPage]) -> None:
        """Up to five links to other sites that the topic's texts make, each with who mentions it."""
        found: dict[str, tuple[Link, FactPage]] = {}
        for page in pages:
            for paragraph in page.paragraphs:
                for piece in self.links.resolve(paragraph, self.site.key):
                    if isinstance(piece, Link) and not piece.target.url.startswith(self.root):
                        found.setdefault(piece.target.ref, (piece, page))
        if found:
            out.heading(2, "On other sites")
            out.items(
                f"{out.link(link.target.url, link.target.name)} (see {out.text(page.name)})"
                for link, page in list(found.values())[:5]
            )

    def index(self) -> Made:
        """The index from A to Z."""
        out = self.writer(self.index_url, f"A to Z - {self.site.title}")
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
        return Made(self.index_url, out.finish(), self.guides)

    def page(self, page: FactPage) -> Made:
        """The page about one thing."""
        url = page_url(self.site, page)
        keywords = (page.name, page.topic, self.site.directory.partition("/")[2]) if choice(url, 3) == 0 else ()
        out = self.writer(url, f"{page.name} - {self.site.title}", page.topic, keywords)
        self.body(out, page, page.paragraphs)
        if page.slug in self.printed:
            out.para(out.link(f"{self.root}print/{page.slug}.html", "Print version"))
        if out.see_also and self.site.layout != "table":
            self.see_also(out, page)
        return Made(url, out.finish(), f"/{self.site.directory}/{page.topic}")

    def body(self, out: Writer, page: FactPage, paragraphs: tuple[str, ...]) -> None:
        """Heading, picture, text and facts; where the facts stand depends on the site's layout."""
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

    def see_also(self, out: Writer, page: FactPage) -> None:
        """Three neighbours in the topic, not always the nearest ones."""
        around = self.topics[page.topic]
        start = around.index(page) + 1 + choice(page.slug, 2)
        ring = [around[(start + step) % len(around)] for step in range(len(around))]
        chosen = [other for other in ring if other is not page][:3]
        if chosen:
            out.heading(2, "See also")
            out.items(out.link(page_url(self.site, other), other.name) for other in chosen)

    def print_version(self, item: Print) -> Made:
        """A page without navigation and with another closing sentence."""
        page = self.by_slug.get(item.page.partition(":")[2])
        if page is None:
            raise FactError(f"prints.toml, page '{item.page}': no such page")
        url = f"{self.root}print/{page.slug}.html"
        owner = f"Printed from {self.site.title}"
        out = PlainWriter(Head(url, f"{page.name} - {self.site.title} (print version)", owner))
        closing = " ".join([*sentences(page.paragraphs[-1])[:-1], item.closing])
        self.body(out, page, (*page.paragraphs[:-1], closing))
        out.para(out.text("The page itself: ") + out.link(page_url(self.site, page), page_url(self.site, page)))
        return Made(url, out.finish(), f"/{self.site.directory}/{page.topic}")
