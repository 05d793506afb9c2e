"""Publish documentation sites: add related pages, search and topics to a folder of HTML, for any web server.

A survey tells what made the site, where its content is and at which address it stands; the collection is built outside of the
folder; then each page has a marked place with plain links, and a folder `pagekin` beside the pages holds search, data and topics.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
