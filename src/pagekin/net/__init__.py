"""Connections to other machines: the guard that decides which addresses may be connected to.

The robot uses it, and so does a router that calls its children:

    guard = Guard(parse_allowed(["loopback", "10.2.0.0/16"]))   # public addresses, and these
    guard.check("169.254.169.254")                              # the reason against it, or ''
    guard.check_url("http://0x7f.1/")                           # the same for a URL whose host is an address
    async with aiohttp.ClientSession(connector=guarded_connector(guard)) as session:
        ...                                                     # every connection is checked, redirects included
    refusal(error)                                              # the guard's reason in an error of aiohttp, or ''

`Guard` is a value that can be compared and pickled. The names of `resolver` import aiohttp.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
