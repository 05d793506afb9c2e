"""Connections to other machines: the guard that says which addresses may be connected to.

The robot uses it, and so does a router that calls its children. In short:

    guard = Guard(parse_allowed(["loopback", "10.2.0.0/16"]))   # public addresses, and these
    guard.check("169.254.169.254")                              # a reason, or '' if it may be connected to
    guard.check_url("http://0x7f.1/")                           # the same for a URL whose host is an address
    async with aiohttp.ClientSession(connector=guarded_connector(guard)) as session:
        ...                                                     # whatever it asks for, redirects too, is checked
    await guarded_socket(guard, "www.example", 80)              # a socket, connected to an address that was checked
    refusal(error)                                              # the guard's reason inside an error of these, or ''

`Guard` is a value that can be compared and pickled. `GuardedResolver` and what is built on it need aiohttp.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
