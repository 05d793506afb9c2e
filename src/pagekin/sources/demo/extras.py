"""The smaller parts of the demo web: home pages of people, a mirror, the attic, a links directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pagekin.sources.demo.facts import AtticPage, Facts, Person, Site
from pagekin.sources.demo.links import ATTIC_HOST, GUIDES, PEOPLE_HOST, PERSONAL, LinkMap, page_url, url_slug
from pagekin.sources.demo.oldstyles import WRITERS, SoupWriter
from pagekin.sources.demo.sites import LINKS_HOST, DemoPage
from pagekin.sources.demo.writer import Head, Writer

MIRRORED_SITE = "mountains"
MIRROR_HOST = "mirror.example"
LINKS_TITLE = "Hand-Picked Links"
LINKS_HOME = f"http://{LINKS_HOST}/"
RINGS_URL = f"http://{LINKS_HOST}/rings.html"
RINGS_PATH = f"/{PERSONAL}/Webrings"
PEOPLE_HOME = f"http://{PEOPLE_HOST}/"


def mirror_pages(pages: list[DemoPage], host: str) -> Iterator[DemoPage]:
    """Copy the pages of a host to the mirror; only the host's name differs."""
    for page in pages:
        html = page.html.replace(host.encode("ascii"), MIRROR_HOST.encode("ascii"))
        yield DemoPage(page.url.replace(host, MIRROR_HOST), html, page.path)


def attic_pages(facts: Facts, links: LinkMap) -> Iterator[DemoPage]:
    """Generate the pages that hardly any page links to."""
    for old in facts.attic:
        yield _make_attic_page(old, links)


def _make_attic_page(old: AtticPage, links: LinkMap) -> DemoPage:
    """Make a page of the attic in the style of 1996."""
    target = links.targets[f"attic:{old.slug}"]
    out = SoupWriter(Head(target.url, old.title, f"From the attic of {ATTIC_HOST}, kept as it was"))
    out.heading(1, old.title)
    for paragraph in old.paragraphs:
        out.para(out.inline(links.resolve(paragraph, "attic")))
    return DemoPage(target.url, out.finish(), target.path)


def people_pages(facts: Facts, links: LinkMap) -> Iterator[DemoPage]:
    """Generate the list of people, then each person's home page."""
    if not facts.people:
        return
    out = Writer(Head(PEOPLE_HOME, "People's pages", "The caretakers of people.example"))
    out.heading(1, "Personal pages")
    out.para(out.text("Home pages of people who like something well enough to write about it."))
    for topic, people in group_rings(facts).items():
        out.heading(2, topic)
        out.items(f"{_home_link(out, person)}: {out.text(person.title)}" for person in people)
    yield DemoPage(PEOPLE_HOME, out.finish(), RINGS_PATH)
    for person in facts.people:
        yield _make_person_page(person, group_rings(facts)[person.topic], links)


def group_rings(facts: Facts) -> dict[str, list[Person]]:
    """Group people by topic: each topic is a webring."""
    groups: dict[str, list[Person]] = {}
    for person in facts.people:
        groups.setdefault(person.topic, []).append(person)
    return groups


def _home_url(person: Person) -> str:
    """Return the address of a person's home page."""
    return f"{PEOPLE_HOME}~{person.user}/"


def _home_link(out: Writer, person: Person) -> str:
    """Return a link to a person's home page."""
    return out.link(_home_url(person), person.name)


def _make_person_page(person: Person, ring: list[Person], links: LinkMap) -> DemoPage:
    """Make a personal home page: text, lists of links under headings, and the webring at the end."""
    url = _home_url(person)
    out = WRITERS[person.look](Head(url, person.title, person.name, lang=person.lang, mailbox=person.user))
    out.heading(1, person.title)
    for paragraph in person.paragraphs:
        out.para(out.inline(links.resolve(paragraph, "people")))
    for heading, entries in person.sections:
        out.heading(2, heading)
        out.items(out.inline(links.resolve(entry, "people")) for entry in entries)
    place = ring.index(person)
    if len(ring) > 1:
        before, after = ring[place - 1], ring[(place + 1) % len(ring)]
        all_rings = out.link(RINGS_URL, f"The {person.topic} Ring")
        out.para(f"{all_rings}: before me {_home_link(out, before)}, after me {_home_link(out, after)}.")
    return DemoPage(url, out.finish(), f"/{PERSONAL}/{person.topic}")


def links_pages(facts: Facts, links: LinkMap) -> Iterator[DemoPage]:
    """Generate the links directory: a home page, a page per category, and the webrings."""
    categories: dict[str, list[Site]] = {}
    for site in facts.sites:
        categories.setdefault(site.directory, []).append(site)
    if not categories:
        return
    yield _make_links_home(categories, bool(facts.people))
    for category, sites in categories.items():
        yield _make_category_page(category, sites, facts, links)
    if facts.people:
        yield _make_rings_page(facts)


def _category_url(category: str) -> str:
    """Return the address of a category's page: '/science/chemistry.html'."""
    return LINKS_HOME + "/".join(url_slug(level) for level in category.split("/")) + ".html"


def _begin_links_page(url: str, title: str) -> Writer:
    """Begin a page of the links directory."""
    nav = [(LINKS_HOME, LINKS_TITLE)]
    crumbs = [] if url == LINKS_HOME else [(LINKS_HOME, "Top")]
    return Writer(Head(url, title, f"The editors of {LINKS_TITLE}", crumbs, nav))


def _make_links_home(categories: dict[str, list[Site]], has_people: bool) -> DemoPage:
    """Make the front page of the directory: categories by first level, mirrors, webrings."""
    out = _begin_links_page(LINKS_HOME, LINKS_TITLE)
    out.heading(1, LINKS_TITLE)
    out.para(out.text("The best pages we know, chosen by people and filed by subject."))
    for level in sorted({category.partition("/")[0] for category in categories}):
        out.heading(2, level)
        out.items(
            f"{out.link(_category_url(category), category.partition('/')[2])}: "
            + ", ".join(out.link(f"http://{site.host}/", site.title) for site in sites)
            for category, sites in sorted(categories.items())
            if category.startswith(level + "/")
        )
    mirrored = [site for sites in categories.values() for site in sites if site.key == MIRRORED_SITE]
    if mirrored:
        out.heading(2, "Mirrors")
        out.items(f"{out.link(f'http://{MIRROR_HOST}/', MIRROR_HOST)} mirrors {out.text(s.title)}" for s in mirrored)
    if has_people:
        out.heading(2, "People")
        rings_link = out.link(RINGS_URL, "Webrings")
        out.items([f"{rings_link} of the people at {out.link(PEOPLE_HOME, PEOPLE_HOST)}"])
    return DemoPage(LINKS_HOME, out.finish(), "/Reference/Directories/Web Guides")


def _make_category_page(category: str, sites: list[Site], facts: Facts, links: LinkMap) -> DemoPage:
    """Make a category's page: for each topic the most linked pages, each with a note."""
    url = _category_url(category)
    name = category.partition("/")[2]
    out = _begin_links_page(url, f"{name} - {LINKS_TITLE}")
    out.heading(1, category.replace("/", ": "))
    for site in sites:
        out.heading(2, site.title)
        out.para(f"{out.link(f'http://{site.host}/', site.title)}: {out.text(site.about)}")
        for topic, pages in site.topics().items():
            out.heading(3, topic)
            best = links.most_linked(site, pages, 3)
            out.items(
                f"{out.link(page_url(site, page), page.name)} - {out.text(_describe_facts(page.facts))}"
                for page in best
            )
        fans = [person for person in facts.people if _count_mentions(person, site.key) >= 3]
        if fans:
            out.heading(3, "Personal pages on the subject")
            out.items(f"{_home_link(out, person)}: {out.text(person.title)}" for person in fans)
    return DemoPage(url, out.finish(), f"/{category}/{GUIDES}")


def _describe_facts(facts: Mapping[str, str]) -> str:
    """Return two facts of a page as an editor's note."""
    return "; ".join(f"{name.lower()}: {value}" for name, value in list(facts.items())[:2])


def _count_mentions(person: Person, key: str) -> int:
    """Count the links from a person's page to a site."""
    texts = [*person.paragraphs, *(entry for _, entries in person.sections for entry in entries)]
    return sum(text.count(f"[[{key}:") for text in texts)


def _make_rings_page(facts: Facts) -> DemoPage:
    """Make the page of the webrings and their members."""
    out = _begin_links_page(RINGS_URL, f"Webrings - {LINKS_TITLE}")
    out.heading(1, "Webrings")
    for topic, people in group_rings(facts).items():
        out.heading(2, f"The {topic} Ring")
        out.para(out.text("Members: ") + ", ".join(_home_link(out, person) for person in people))
    return DemoPage(RINGS_URL, out.finish(), RINGS_PATH)
