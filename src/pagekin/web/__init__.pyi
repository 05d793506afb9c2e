"""What other rooms may import of this one; each name is loaded when it is first used."""

from .addresses import PublicAddressError, ReplayPatternError, public_address, replay_pattern
from .app import web_app
from .collection_view import warm_pages
from .export import ExportError, ExportPlan, export_site

__all__ = [
    "ExportError",
    "ExportPlan",
    "PublicAddressError",
    "ReplayPatternError",
    "export_site",
    "public_address",
    "replay_pattern",
    "warm_pages",
    "web_app",
]
