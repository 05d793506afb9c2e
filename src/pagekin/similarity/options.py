"""How related pages are chosen and shown."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Sites = Literal["all", "same", "other"]
Method = Literal["reranked", "exact", "estimate"]
Share = Annotated[float, Meta(ge=0, le=1)]


class RankingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How related pages are chosen and shown: the same options through every door."""

    k: Annotated[int, Meta(ge=1, le=10_000, description="The most related pages.")] = 10
    min_similarity: Annotated[Share | None, Meta(description="Only pages more similar than this.")] = None
    """None means the α of the collection's strategy."""
    sites: Annotated[Sites, Meta(description="Pages of all sites, of the same as the page's, or of others.")] = "all"
    captured_only: Annotated[bool, Meta(description="Leave out addresses known only by the links to them.")] = False
    method: Annotated[Method, Meta(description="Compare likely pages exactly, all pages, or signatures.")] = "reranked"
    """Signatures alone are compared as in the paper's Figure 11."""
    fold: Annotated[bool, Meta(description="Show near-copies under the best of them.")] = True
    explain: Annotated[bool, Meta(description="Give reasons: shared terms and citing pages.")] = False
