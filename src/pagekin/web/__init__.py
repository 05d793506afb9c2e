"""The web interface: pages for people, the same as JSON for programs, pictures as SVG, and static exports.

A page is a view (a msgspec struct, made by a function in `pages/`) that is shown through a template, or as JSON at the same
address with `.json` behind it or by the Accept header.
"""

from pagekin.web.addresses import PublicAddressError, public_address
from pagekin.web.app import web_app
from pagekin.web.collection import warm

__all__ = ["PublicAddressError", "public_address", "warm", "web_app"]
