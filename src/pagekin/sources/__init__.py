"""Where pages come from: WARC, ARC and WACZ files, folders of HTML, the built-in demo web.

`plan_units` splits sources into units of work that do not depend on the number of workers; `read_unit`
streams one unit as `Page`, `Redirect`, `Revisit` and `Skipped` items. Nothing is dropped without a `Skipped`
that says why.
"""

from pagekin.sources.items import DAMAGE, Item, Page, Redirect, Revisit, Skipped, SourceError
from pagekin.sources.limits import LIMITS, Limits, parse_limits
from pagekin.sources.plan import Unit, plan_units, read_unit

__all__ = [
    "DAMAGE",
    "LIMITS",
    "Item",
    "Limits",
    "Page",
    "Redirect",
    "Revisit",
    "Skipped",
    "SourceError",
    "Unit",
    "parse_limits",
    "plan_units",
    "read_unit",
]
