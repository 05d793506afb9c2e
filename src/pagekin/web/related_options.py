"""The options of related pages in a page's address, with the names and defaults of `GET /related`."""

from typing import Annotated, Any, Literal

from litestar.di import NamedDependency, Provide
from litestar.params import Parameter
from msgspec.structs import asdict

from pagekin.collection import Answer, RelatedOptions, RelatedRequest, ServiceError
from pagekin.routers import ServedService
from pagekin.web.question import filters_of

_LONGEST_NOTE = 400
"""Characters of a note: it may name an address, and these have no end."""
Text = Annotated[str, Parameter(max_length=200)]


def related_options(
    k: Annotated[int, Parameter(ge=1, le=100, description="Maximum number of related pages.")] = 10,
    min_similarity: Annotated[float | None, Parameter(ge=0, le=1, description="Only pages more similar than this.")] = None,
    sites: Annotated[
        Literal["all", "same", "other"], Parameter(description="Pages of all sites, of the same site, or of other sites.")
    ] = "all",
    other: Annotated[bool, Parameter(description="Short for sites=other.")] = False,
    captured_only: Annotated[bool, Parameter(description="Leave out addresses known only from links to them.")] = False,
    wish: Annotated[
        Literal["", "both", "kin", "see-also"], Parameter(description="What related means: kin, see-also, or both.")
    ] = "",
    site: Text = "", since: Text = "", until: Text = "", language: Text = "",
    method: Annotated[
        Literal["reranked", "exact", "estimate"], Parameter(description="reranked, exact or estimate.")
    ] = "reranked",
    fold: Annotated[bool, Parameter(description="Show near-copies under the best of them.")] = True,
    explain: Annotated[bool, Parameter(description="Give reasons.")] = True,
) -> RelatedOptions:  # fmt: skip
    """Return the options in an address."""
    return RelatedOptions(
        k=k, min_similarity=min_similarity, sites="other" if other else sites, captured_only=captured_only,
        wish=wish, filters=filters_of(site, since, until, language), method=method, fold=fold, explain=explain,
    )  # fmt: skip


Options = NamedDependency[RelatedOptions]
OPTIONS = {"options": Provide(related_options, sync_to_thread=False)}
"""For routes that take these options."""
DEFAULTS = RelatedOptions(explain=True)
"""What pages ask for: they show reasons."""


def changed_options(options: RelatedOptions) -> dict[str, Any]:
    """Return the options that differ from the defaults, by their names in an address."""
    changed = {name: str(value) for name, value in asdict(options).items() if value != getattr(DEFAULTS, name)}
    changed.pop("filters", None)
    return changed | {name: value for name, value in asdict(options.filters).items() if value}


async def ask_related(here: ServedService, request: RelatedRequest) -> Answer:
    """Return related pages; for a page that cannot be compared, none and a note that says why."""
    try:
        return await here.measure("related", here.service.related(request))
    except ServiceError as error:
        if error.status != 404:
            raise
        return Answer(note=str(error)[:1].upper() + str(error)[1:_LONGEST_NOTE])
