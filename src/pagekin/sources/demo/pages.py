"""All pages of the demo web: the sites, a mirror, people's home pages, the attic, a links directory."""

from collections.abc import Iterator
from zlib import crc32

from pagekin.sources.demo.facts import PEOPLE_HOME, FactPage, Facts, Print, Site, group, url_slug
from pagekin.sources.demo.links import LinkMap, split_sentences
from pagekin.sources.demo.markup import render
from pagekin.sources.items import Page

MIRRORED_SITE = "mountains"
MIRROR_HOST = "mirror.example"
LINKS_TITLE = "Hand-Picked Links"
LINKS_HOME = "http://links.example/"
RINGS_URL = f"{LINKS_HOME}rings.html"


def build_pages(facts: Facts) -> Iterator[Page]:
    """Generate every page once: the sites in order of their keys, then the smaller parts."""
    links = LinkMap(facts)
    for site in facts.sites:
        prints = [item for item in facts.prints if item.page.startswith(f"{site.key}:")]
        pages = list(SiteMaker(site, links, prints).make_pages())
        yield from pages
        if site.key == MIRRORED_SITE:
            yield from mirror_pages(pages, site.host)
    yield from people_pages(facts, links)
    for old in facts.attic:
        yield render("attic", links.targets[f"attic:{old.slug}"].url, "soup", page=old, links=links)
    yield from links_pages(facts, links)


def choose(words: str, count: int) -> int:
    """Return a number below `count` that depends only on the words."""
    return crc32(words.encode("utf-8")) % count


class SiteMaker:
    """A generator of the pages of one site: home, topic hubs, index, a page for each thing, print versions."""

    def __init__(self, site: Site, links: LinkMap, prints: list[Print]) -> None:
        """Prepare to make the pages of `site`; `prints` are its print versions."""
        self.site, self.links, self.topics = site, links, site.topics
        self.index_url = f"{site.root}a-z.html"
        self.prints = {item.page.partition(":")[2]: item for item in prints}

    def render(self, template: str, url: str, title: str, topic: str = "", **values: object) -> Page:
        """Make a page in the site's look, with its navigation."""
        site = self.site
        crumbs = [(site.root, "Home")] if url != site.root else []
        crumbs += [(site.topic_url(topic), topic)] if topic else []
        frame = {
            "title": title, "owner": site.owner, "crumbs": crumbs,
            "nav": [(site.root, site.title), (self.index_url, "A to Z")],
            "site": site, "links": self.links, "topics": self.topics, "guide": (LINKS_HOME, LINKS_TITLE),
        }  # fmt: skip
        return render(template, url, site.look, **frame, **values)

    def make_pages(self) -> Iterator[Page]:
        """Generate all pages, in a fixed order."""
        site = self.site
        yield from self.make_home()
        for topic, pages in self.topics.items():
            yield self.render(
                "hub", site.topic_url(topic), f"{topic} - {site.title}", keywords=[topic, site.title], name=topic, pages=pages,
            )  # fmt: skip
        yield self.make_index()
        for page in site.pages:
            yield self.make_page(page)
        for slug, item in self.prints.items():
            yield self.make_print_version(slug, item)

    def make_home(self) -> Iterator[Page]:
        """Generate the home page and, if it has frames, the two pages in them."""
        root, title = self.site.root, self.site.title
        if self.site.look != "framed":
            yield self.render("home", root, title, keywords=list(self.topics))
            return
        left, main = f"{root}frames/contents.html", f"{root}frames/welcome.html"
        yield self.render("frameset", root, title, keywords=list(self.topics), left=left, main=main)
        yield self.render("contents", left, f"Contents - {title}")
        yield self.render("home", main, f"Welcome to {title}")

    def make_index(self) -> Page:
        """Make the index from A to Z."""
        names = {page.slug: url_slug(page.name) or page.slug for page in self.site.pages}
        letters: dict[str, list[FactPage]] = {}
        for page in sorted(self.site.pages, key=lambda page: (names[page.slug], page.slug)):
            letters.setdefault(names[page.slug][0].upper(), []).append(page)
        return self.render("index", self.index_url, f"A to Z - {self.site.title}", letters=letters)

    def make_page(self, page: FactPage) -> Page:
        """Make the page about one thing, with links to three neighbours in the topic, not always the nearest ones."""
        site, url = self.site, self.site.page_url(page)
        around = self.topics[page.topic]
        start = around.index(page) + 1 + choose(page.slug, 2)
        ring = [around[(start + step) % len(around)] for step in range(len(around))]
        return self.render(
            "page", url, f"{page.name} - {site.title}", page.topic,
            keywords=[page.name, page.topic, site.category] if choose(url, 3) == 0 else [],
            page=page, paragraphs=page.paragraphs,
            print_url=f"{site.root}print/{page.slug}.html" if page.slug in self.prints else "",
            see_also=[other for other in ring if other is not page][:3] if site.style != "table" else [],
        )  # fmt: skip

    def make_print_version(self, slug: str, item: Print) -> Page:
        """Make a print version: no navigation, and another closing sentence."""
        site = self.site
        page = next(page for page in site.pages if page.slug == slug)
        *paragraphs, last = page.paragraphs
        paragraphs.append(" ".join([*split_sentences(last)[:-1], item.closing]))
        return render(
            "print", f"{site.root}print/{slug}.html",
            title=f"{page.name} - {site.title} (print version)", owner=f"Printed from {site.title}",
            site=site, links=self.links, page=page, paragraphs=paragraphs,
        )  # fmt: skip


def mirror_pages(pages: list[Page], host: str) -> Iterator[Page]:
    """Copy the pages of a host to the mirror; only the host's name differs."""
    for page in pages:
        html = page.html.replace(host.encode("ascii"), MIRROR_HOST.encode("ascii"))
        yield Page(page.url.replace(host, MIRROR_HOST), html)


def people_pages(facts: Facts, links: LinkMap) -> Iterator[Page]:
    """Generate the list of people, then each person's home page with the neighbours in the webring."""
    yield render("people", PEOPLE_HOME, rings=facts.rings)
    for person in facts.people:
        ring = facts.rings[person.topic]
        place = ring.index(person)
        yield render(
            "person", person.url, person.look, person=person, links=links,
            lang=person.lang, mailbox=person.user, rings_url=RINGS_URL,
            neighbours=[ring[place - 1], ring[(place + 1) % len(ring)]] if len(ring) > 1 else [],
        )  # fmt: skip


def links_pages(facts: Facts, links: LinkMap) -> Iterator[Page]:
    """Generate the links directory: a home page, a page per category, and the webrings."""
    categories = group(facts.sites, "directory")
    urls = {directory: f"{LINKS_HOME}{'/'.join(map(url_slug, directory.split('/')))}.html" for directory in categories}
    yield render(
        "links", LINKS_HOME, title=LINKS_TITLE,
        sites=facts.sites, urls=urls, mirrored=[site for site in facts.sites if site.key == MIRRORED_SITE],
        mirror=MIRROR_HOST, rings_url=RINGS_URL, people_url=PEOPLE_HOME,
    )  # fmt: skip
    for directory, sites in categories.items():
        fans = {
            site.key: [person for person in facts.people if "".join(person.texts).count(f"[[{site.key}:") >= 3]
            for site in sites
        }
        yield render(
            "category", urls[directory], links=links, sites=sites, fans=fans,
            title=f"{sites[0].category} - {LINKS_TITLE}", directory=directory,
        )  # fmt: skip
    yield render("rings", RINGS_URL, title=f"Webrings - {LINKS_TITLE}", rings=facts.rings)
