"""The web interface: pages for people, the same as JSON for programs, SVG pictures, and static exports.

Pages only translate: a request becomes a question to a service, its answer a view (a msgspec struct, made in `pages/`), and a
view a page through a template, or JSON at the same address with `.json` behind it or by the Accept header.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
