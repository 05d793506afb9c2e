"""What other rooms may import of this one; each name is loaded when it is first used."""

from .demo import demo_pages
from .items import DAMAGE_REASONS, Item, Page, Redirect, Revisit, Skip, SourceError
from .limits import Limits, parse_limits
from .plan import Unit, plan_units, read_unit
from .robot import crawl
from .robot.addresses import clean_url, has_credentials
from .robot.plan import SCOPES, CrawlError, CrawlLimits, CrawlPlan
from .robot.report import CrawlReport

__all__ = [
    "DAMAGE_REASONS",
    "SCOPES",
    "CrawlError",
    "CrawlLimits",
    "CrawlPlan",
    "CrawlReport",
    "Item",
    "Limits",
    "Page",
    "Redirect",
    "Revisit",
    "Skip",
    "SourceError",
    "Unit",
    "clean_url",
    "crawl",
    "demo_pages",
    "has_credentials",
    "parse_limits",
    "plan_units",
    "read_unit",
]
