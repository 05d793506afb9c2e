"""Sources of pages: WARC, ARC and WACZ files, folders of HTML, the built-in demo web, live sites.

`plan_units` splits sources into units of work that do not depend on the number of workers. `read_unit` streams one unit
as `Page`, `Redirect`, `Revisit`, `Gone` and `Skip` items; a `Skip` says why a record did not become a page. `crawl` visits a site
and writes a WARC file.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
