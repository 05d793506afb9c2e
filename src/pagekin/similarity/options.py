"""Options of related pages, and the reasons in an answer: the same through every door."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Sites = Literal["all", "same", "other"]
Method = Literal["reranked", "exact", "estimate"]
Wish = Literal["", "both", "kin", "see-also"]
Share = Annotated[float, Meta(ge=0, le=1)]
_Line = Annotated[str, Meta(max_length=2_000)]
_Origins = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=16)]


class RankingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How related pages are chosen and shown."""

    k: Annotated[int, Meta(ge=1, le=10_000, description="The most related pages.")] = 10
    min_similarity: Annotated[Share | None, Meta(description="Only pages more similar than this.")] = None
    """None means the α of the collection's strategy."""
    sites: Annotated[Sites, Meta(description="Pages of all sites, of the same as the page's, or of others.")] = "all"
    captured_only: Annotated[bool, Meta(description="Leave out addresses known only by the links to them.")] = False
    method: Annotated[Method, Meta(description="Compare likely pages exactly, all pages, or signatures.")] = "reranked"
    """Signatures alone are compared as in the paper's Figure 11."""
    wish: Annotated[
        Wish, Meta(description="What related means: of the same kind, worth a link from the page, or both.")
    ] = ""
    """'' means what the collection's strategy is for."""
    fold: Annotated[bool, Meta(description="Show near-copies under the best of them.")] = True
    explain: Annotated[bool, Meta(description="Give reasons: shared terms and citing pages.")] = False


SIGNAL_NAMES = {
    "bag": "words and links in common",
    "tfidf": "the same words",
    "containment": "holds the page's words",
    "title": "title words in the other page",
    "links": "a link between them",
    "cocitation": "linked by the same pages",
    "coupling": "links to the same pages",
}
"""What signals are called for people."""


class SignalShare(msgspec.Struct, frozen=True):
    """One signal between two pages, as a reason why they are related."""

    name: Annotated[str, Meta(max_length=200)]
    value: float
    """Between 0 and 1."""
    contribution: float
    """What it adds to the similarity; over all signals the sum is the similarity."""

    def describe(self, similarity: float) -> str:
        """Return the signal for people, with its part of the similarity."""
        return f"{SIGNAL_NAMES.get(self.name, self.name)} {self.contribution / max(similarity, 1e-9):.0%}"


class SharedTerm(msgspec.Struct, frozen=True, kw_only=True):
    """A term that two pages share, as a reason why they are related."""

    term: _Line
    title: _Line = ""
    """Of a term that is a page, to or from which both have links: its title."""
    share: float
    """Its part of what is shared; over all shared terms the parts sum to 1."""
    contribution: float = 0.0
    """What it adds to the similarity of the bags; over all shared terms the sum is the signal `bag`."""
    origins: _Origins = ()
    """Where the related page has it from: content, anchors, title, links, outlinks."""
    query_origins: _Origins = ()
    """Where the page that was asked about has it from."""


class Citation(msgspec.Struct, frozen=True):
    """A link to a related page, with the text of its line around it, as a reason."""

    source: Annotated[str, Meta(min_length=1, max_length=8_000)]
    """The address of the page on which it stands."""
    text: _Line = ""
    """The link's own words."""
    left: _Line = ""
    right: _Line = ""
    cites_both: bool = False
    """Whether the same page links to the page that was asked about, too."""
