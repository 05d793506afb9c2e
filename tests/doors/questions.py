"""The questions that every door is asked, as data: each by the names and values that Python's methods take."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

FULL_PAGE = 10


@dataclass(frozen=True)
class Question:
    """One question about one web."""

    name: str
    verb: str
    asked: Mapping[str, Any] = field(default_factory=dict)
    least: int = 1
    """Results that an answer has at least: fewer are no answer."""
    holds: str = ""
    """The kind of result that an answer holds, if it is to be an answer."""
    unlike: str = ""
    """The question without the option that this one is about: its answer must be another, or the option does nothing here."""


@dataclass(frozen=True)
class Subject:
    """What one web can be asked about."""

    words: str
    common: str
    """A word of so many pages that there are fifty pages of results, if the web is large enough."""
    attribute: str
    phrase: str
    filters: Mapping[str, str]
    """The filters that leave some of the pages that match `words`."""
    page: str
    """The address of a page with related pages on several sites."""
    second: str
    """Another page, to ask about both together."""
    min_similarity: float = 0.1
    least: Mapping[str, int] = field(default_factory=dict)
    """Results at least, where they are not one or a full page."""
    expands_to: str = "document"
    """The kind of result that is one step below the children."""
    without_effect: tuple[str, ...] = ()
    """Questions whose option changes nothing here: this web has no page that it would leave out or find."""


SUBJECTS = {
    "demo": Subject(
        words="mont blanc",
        common="editor",
        attribute="title:river",
        phrase='"the first"',
        filters={"site": "mountains.example", "language": "fr"},
        page="http://mountains.example/mont-blanc.html",
        second="http://birds.example/kiwi.html",
        min_similarity=0.2,
        without_effect=("related exact", "related captured"),
    ),
    "copies": Subject(
        words="harbour",
        common="harbour",
        attribute="title:harbour",
        phrase='"harbour wall"',
        filters={"site": "one.example", "since": "2012-01-01", "until": "2014-12-31", "language": "de"},
        page="http://one.example/near",
        second="http://two.example/6",
        least={
            "search attribute": 8,
            "search phrase": 9,
            "search since": FULL_PAGE,
            "search page 50": 0,
            "suggest": 0,  # all pages match
            "expand": FULL_PAGE,
            "expand since": FULL_PAGE,
        },
        without_effect=("related exact", "related captured", "related see also"),
    ),
    "network": Subject(
        words="harbour",
        common="the",
        attribute="title:harbour",
        phrase='"the harbour"',
        filters={"site": "one.example", "since": "2012-01-01", "until": "2014-12-31", "language": "de"},
        page="http://one.example/near",
        second="http://two.example/6",
        min_similarity=0.14,
        least={"search attribute": FULL_PAGE, "search since": FULL_PAGE, "search page 50": 0},
        expands_to="cluster",
        without_effect=("related exact", "related captured", "related see also"),
    ),
}
SHARDED = {"demo": "demo in shards", "copies": "copies in shards"}
"""Webs that are asked in one piece and in shards."""
SUBJECTS |= {
    SHARDED["demo"]: replace(SUBJECTS["demo"], expands_to="cluster"),
    SHARDED["copies"]: replace(
        SUBJECTS["copies"],
        expands_to="cluster",
        least=SUBJECTS["copies"].least | {"expand": 1, "expand since": 1},
    ),
}
HTML = "<title>Owls of barns</title><p>A barn owl hunts voles by ear over the harbour wall at night, and nests in barns.</p>"
"""A page that is in none of the webs."""
RELATED = {
    "exact": {"exact": True},
    "estimate": {"estimate": True},
    "other sites": {"other_sites": True},
    "same site": {"same_site": True},
    "captured": {"captured": True},
    "kin": {"wish": "kin"},
    "see also": {"wish": "see-also"},
    "unfolded": {"unfold": True},
    "explained": {"explain": True},
}
"""Options of related pages besides filters."""


def questions_about(subject: Subject) -> list[Question]:
    """Return all questions about one web."""
    words, page = {"query": subject.words}, {"url": subject.page}
    filters = [(name, {name: value}) for name, value in subject.filters.items()]
    questions = [
        Question("search", "search", words, FULL_PAGE),
        Question("search some words", "search", {"query": f"{subject.words} zugzwanging"}, FULL_PAGE),
        Question("search question", "search", {"query": f"what is {subject.words}?"}, FULL_PAGE),
        Question("search attribute", "search", {"query": subject.attribute}),
        Question("search phrase", "search", {"query": subject.phrase}),
        *(Question(f"search {name}", "search", words | one, unlike="search") for name, one in filters),
        Question("search page 2", "search", {"query": subject.common, "first": 10}, FULL_PAGE),
        Question("search page 50", "search", {"query": subject.common, "first": 490}, FULL_PAGE),
        Question("related", "related", page, FULL_PAGE),
        *(Question(f"related {name}", "related", page | one, unlike="related") for name, one in RELATED.items()),
        *(Question(f"related {name}", "related", page | one, unlike="related") for name, one in filters),
        Question("related similarity", "related", page | {"min_similarity": subject.min_similarity}, unlike="related"),
        Question("related several", "related", {"url": (subject.page, subject.second)}, unlike="related"),
        Question("related html", "related", {"html": HTML}, unlike="related"),
        Question("refine", "refine", words),
        Question("refine 1996", "refine", words | {"preset": "hypursuit1996"}, unlike="refine"),
        Question("suggest", "suggest", words),
        Question("suggest 1996", "suggest", words | {"preset": "hypursuit1996"}, unlike="suggest"),
        Question("select", "select", words, holds="cluster"),
        Question("expand", "expand", words, holds=subject.expands_to, unlike="select"),
        *(Question(f"select {name}", "select", words | one, holds="cluster") for name, one in filters),
        *(Question(f"expand {name}", "expand", words | one, holds=subject.expands_to) for name, one in filters),
        Question("label", "label"),
        Question("summary", "summary"),
    ]
    return [
        replace(
            one,
            least=subject.least.get(one.name, one.least),
            unlike="" if one.name in subject.without_effect else one.unlike,
        )
        for one in questions
    ]


QUESTIONS = {web: {one.name: one for one in questions_about(subject)} for web, subject in SUBJECTS.items()}
"""Questions by web and name."""
