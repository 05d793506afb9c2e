"""The smaller corners of the demo web: home pages of people, a mirror, the attic, a links directory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pagekin.sources.demo.facts import AtticPage, Facts, Person, Site
from pagekin.sources.demo.links import ATTIC_HOST, GUIDES, PEOPLE_HOST, PERSONAL, LinkMap, page_url, url_slug
from pagekin.sources.demo.oldstyles import WRITERS, SoupWriter
from pagekin.sources.demo.sites import LINKS_HOST, Made
from pagekin.sources.demo.writer import Head, Writer

MIRRORED = "mountains"
MIRROR_HOST = "mirror.example"
LINKS_TITLE = "Hand-Picked Links"
LINKS_HOME = f"http://{LINKS_HOST}/"
RINGS_URL = f"http://{LINKS_HOST}/rings.html"
RINGS_PATH = f"/{PERSONAL}/Webrings"
PEOPLE_HOME = f"http://{PEOPLE_HOST}/"


def mirror_pages(pages: list[Made], host: str) -> Iterator[Made]:
    """The pages of one host as they stand on the mirror: the host's name is all that differs."""
    for page in pages:
        html = page.html.replace(host.encode("ascii"), MIRROR_HOST.encode("ascii"))
        yield Made(page.url.replace(host, MIRROR_HOST), html, page.path)


def attic_pages(facts: Facts, links: LinkMap) -> Iterator[Made]:
    """Pages that hardly anybody links to."""
    for old in facts.attic:
        yield _attic_page(old, links)


def _attic_page(old: AtticPage, links: LinkMap) -> Made:
    """One page of the attic, in the style of its time."""
    target = links.targets[f"attic:{old.slug}"]
    out = SoupWriter(Head(target.url, old.title, f"From the attic of {ATTIC_HOST}, kept as it was"))
    out.heading(1, old.title)
    for paragraph in old.paragraphs:
        out.para(out.inline(links.resolve(paragraph, "attic")))
    return Made(target.url, out.finish(), target.path)


def people_pages(facts: Facts, links: LinkMap) -> Iterator[Made]:
    """The list of residents, then each person's home page."""
    if not facts.people:
        return
    out = Writer(Head(PEOPLE_HOME, "People's pages", "The caretakers of people.example"))
    out.heading(1, "Personal pages")
    out.para(out.text("Home pages of people who like something well enough to write about it."))
    for topic, people in rings(facts).items():
        out.heading(2, topic)
        out.items(f"{_home_link(out, person)}: {out.text(person.title)}" for person in people)
    yield Made(PEOPLE_HOME, out.finish(), RINGS_PATH)
    for person in facts.people:
        yield _person_page(person, rings(facts)[person.topic], links)


def rings(facts: Facts) -> dict[str, list[Person]]:
    """The people by topic: each topic is a webring."""
    found: dict[str, list[Person]] = {}
    for person in facts.people:
        found.setdefault(person.topic, []).append(person)
    return found


def _home_url(person: Person) -> str:
    """The address of a person's home page."""
    return f"{PEOPLE_HOME}~{person.user}/"


def _home_link(out: Writer, person: Person) -> str:
    """A link to a person's home page."""
    return out.link(_home_url(person), person.name)


def _person_page(person: Person, ring: list[Person], links: LinkMap) -> Made:
    """A personal home page: some words, lists of links under headings, the webring at the end."""
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
    return Made(url, out.finish(), f"/{PERSONAL}/{person.topic}")


def links_pages(facts: Facts, links: LinkMap) -> Iterator[Made]:
    """The links directory: a home page, a page per category, and the webrings."""
    categories: dict[str, list[Site]] = {}
    for site in facts.sites:
        categories.setdefault(site.directory, []).append(site)
    if not categories:
        return
    yield _links_home(categories, bool(facts.people))
    for category, sites in categories.items():
        yield _category_page(category, sites, facts, links)
    if facts.people:
        yield _rings_page(facts)


def _category_url(category: str) -> str:
    """The address of a category's page: '/science/chemistry.html'."""
    return LINKS_HOME + "/".join(url_slug(level) for level in category.split("/")) + ".html"


def _links_writer(url: str, title: str) -> Writer:
    """Begin a page of the links directory."""
    nav = [(LINKS_HOME, LINKS_TITLE)]
    crumbs = [] if url == LINKS_HOME else [(LINKS_HOME, "Top")]
    return Writer(Head(url, title, f"The editors of {LINKS_TITLE}", crumbs, nav))


def _links_home(categories: dict[str, list[Site]], has_people: bool) -> Made:
    """The directory's front page: categories under their first level, mirrors, webrings."""
    out = _links_writer(LINKS_HOME, LINKS_TITLE)
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
    mirrored = [site for sites in categories.values() for site in sites if site.key == MIRRORED]
    if mirrored:
        out.heading(2, "Mirrors")
        out.items(f"{out.link(f'http://{MIRROR_HOST}/', MIRROR_HOST)} mirrors {out.text(s.title)}" for s in mirrored)
    if has_people:
        out.heading(2, "People")
        rings_link = out.link(RINGS_URL, "Webrings")
        out.items([f"{rings_link} of the people at {out.link(PEOPLE_HOME, PEOPLE_HOST)}"])
    return Made(LINKS_HOME, out.finish(), "/Reference/Directories/Web Guides")


def _category_page(category: str, sites: list[Site], facts: Facts, links: LinkMap) -> Made:
    """A category: of each topic the pages that others mention most, with what they tell."""
    url = _category_url(category)
    name = category.partition("/")[2]
    out = _links_writer(url, f"{name} - {LINKS_TITLE}")
    out.heading(1, category.replace("/", ": "))
    for site in sites:
        out.heading(2, site.title)
        out.para(f"{out.link(f'http://{site.host}/', site.title)}: {out.text(site.about)}")
        for topic, pages in site.topics().items():
            out.heading(3, topic)
            best = links.popular(site, pages, 3)
            out.items(
                f"{out.link(page_url(site, page), page.name)} - {out.text(_annotation(page.facts))}" for page in best
            )
        fans = [person for person in facts.people if _mentions(person, site.key) >= 3]
        if fans:
            out.heading(3, "Personal pages on the subject")
            out.items(f"{_home_link(out, person)}: {out.text(person.title)}" for person in fans)
    return Made(url, out.finish(), f"/{category}/{GUIDES}")


def _annotation(facts: Mapping[str, str]) -> str:
    """Two facts of a page as an editor's note."""
    return "; ".join(f"{name.lower()}: {value}" for name, value in list(facts.items())[:2])


def _mentions(person: Person, key: str) -> int:
    """How many links from a person's page lead to a site."""
    texts = [*person.paragraphs, *(entry for _, entries in person.sections for entry in entries)]
    return sum(text.count(f"[[{key}:") for text in texts)


def _rings_page(facts: Facts) -> Made:
    """The webrings and their members."""
    out = _links_writer(RINGS_URL, f"Webrings - {LINKS_TITLE}")
    out.heading(1, "Webrings")
    for topic, people in rings(facts).items():
        out.heading(2, f"The {topic} Ring")
        out.para(out.text("Members: ") + ", ".join(_home_link(out, person) for person in people))
    return Made(RINGS_URL, out.finish(), RINGS_PATH)
