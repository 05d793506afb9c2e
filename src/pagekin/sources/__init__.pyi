"""What other rooms may import of this one; each name is loaded when it is first used."""

from .copying import CopyError, RecordCopier, payload_digest, warcinfo
from .demo import demo_pages
from .folder import HTML_ENDINGS, file_url, list_folder
from .http import PDF_TYPE, media_type
from .items import (
    DAMAGE_REASONS,
    NO_PLACE,
    TOO_SLOW,
    Gone,
    Item,
    Page,
    RecordPlace,
    Redirect,
    Revisit,
    Skip,
    SourceError,
)
from .limits import Limits, parse_limits
from .plan import Unit, expand_lists, plan_units, read_unit
from .robot import crawl, fetch_seeds
from .robot.addresses import clean_url, has_credentials
from .robot.plan import SCOPES, CrawlError, CrawlLimits, CrawlPlan
from .robot.report import CrawlReport
from .robot.seeds import Seeds, read_seeds
from .urls import canonical_url, host_of, host_of_url, site_of, split_port

__all__ = [
    "DAMAGE_REASONS",
    "HTML_ENDINGS",
    "NO_PLACE",
    "PDF_TYPE",
    "SCOPES",
    "TOO_SLOW",
    "CopyError",
    "CrawlError",
    "CrawlLimits",
    "CrawlPlan",
    "CrawlReport",
    "Gone",
    "Item",
    "Limits",
    "Page",
    "RecordCopier",
    "RecordPlace",
    "Redirect",
    "Revisit",
    "Seeds",
    "Skip",
    "SourceError",
    "Unit",
    "canonical_url",
    "clean_url",
    "crawl",
    "demo_pages",
    "expand_lists",
    "fetch_seeds",
    "file_url",
    "has_credentials",
    "host_of",
    "host_of_url",
    "list_folder",
    "media_type",
    "parse_limits",
    "payload_digest",
    "plan_units",
    "read_seeds",
    "read_unit",
    "site_of",
    "split_port",
    "warcinfo",
]
