"""The data that the page of results shows."""

from msgspec import Struct, field

from pagekin.web.pictures.group import Picture
from pagekin.web.question import Question


class Link(Struct, frozen=True, kw_only=True):
    """A link to a next step."""

    text: str
    address: str
    about: str = ""
    on: bool = False
    """Whether this is where one is."""
    note: str = ""
    """More about it, as a tooltip."""


class Result(Struct, frozen=True, kw_only=True):
    """A result: a document, or a cluster."""

    kind: str
    place: int
    title: str
    url: str
    """The original, or the cluster's own site; empty for a group of this collection."""
    address: str
    """Here: the page of the page, or of the cluster."""
    site: str = ""
    snippet: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    date: int = 0
    language: str = ""
    """If it is another than the collection's main one."""
    pages: int = 1
    copies: list[Link] = []
    label: str = ""
    """Where a cluster's content label is."""
    matches: int = 0
    """Documents of a cluster that match, if they were counted."""
    inside: list[tuple[str, int]] = []
    """What a cluster holds: names of sub-clusters and their documents."""


class ResultGroup(Struct, frozen=True, kw_only=True):
    """Results of one sub-cluster."""

    cluster: int
    name: str
    address: str
    """Of the cluster's page; empty if there is none."""
    results: list[Result]
    matches: int = 0
    """Documents in it that match, if they were counted."""


class AskedService(Struct, frozen=True, kw_only=True):
    """A service that was asked, or why it was not."""

    who: str
    leaf: bool = False
    seconds: float = 0.0
    results: int = 0
    reason: str = ""


class Choice(Struct, frozen=True, kw_only=True):
    """A value of a filter."""

    value: str
    name: str
    count: int = 0
    """Pages that match and have it; 0 if they were not counted."""


class Choices(Struct, frozen=True, kw_only=True):
    """The values of filters that leave some results."""

    sites: list[Choice] = []
    languages: list[Choice] = []
    years: list[Link] = []
    """Each a link to what matches of it."""
    dates: bool = True
    """Whether there are several days."""
    closed: bool = False
    """Whether there are no other sites and languages than these."""


class ResultsView(Struct, frozen=True, kw_only=True):
    """Results of a query, and next steps."""

    asked: Question
    problem: str = ""
    """Why the query cannot be answered."""
    note: str = ""
    """How the question was understood: words spelt otherwise, results that hold only some of the words."""
    total: int = 0
    """Documents that match, or groups that hold some."""
    whole: bool = False
    """Whether all that match are known, as in a collection; in a network they are not."""
    different: int = 0
    """On the last page: how many documents there were on all pages, copies folded."""
    documents: int = 0
    """Documents in all groups, if groups were asked for and counted."""
    shown: int = 0
    groups: list[ResultGroup] = []
    modes: list[Link] = []
    words: list[Link] = []
    """Parts of the query, each with a link to the query without it."""
    any_of: str = ""
    """The address of the query for any of the words."""
    meant: list[Link] = []
    """Where nothing matches: the query with words that are spelt alike."""
    active: list[Link] = []
    """Filters, each a link to the same without it."""
    choices: Choices = field(default_factory=Choices)
    filtered: bool = True
    """Whether filters count in this way to look."""
    along: list[Link] = []
    wider: list[Link] = []
    narrower: list[Link] = []
    similar: list[Result] = []
    picture: Picture | None = None
    examples: list[Link] = []
    partial: list[str] = []
    """Why something may be missing, the first reasons."""
    reasons: int = 0
    """How many reasons there are in all."""
    missing: int = 0
    """How many places they are about."""
    routers: list[AskedService] = []
    skipped: list[AskedService] = []
    routers_total: int = 0
    skipped_total: int = 0
    fewer: Link | None = None
    """The same question to fewer others, or to all again."""
    previous: str = ""
    next: str = ""
    seconds: float = 0.0
