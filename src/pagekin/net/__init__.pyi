"""What other rooms may import of this one; each name is loaded when it is first used."""

from .client import BrokenError, ConnectError, HttpClient, HttpError, Reply, TooLargeError, is_loopback
from .guard import Guard, Network, parse_allowed
from .resolver import AddressRefusedError, GuardedResolver, guarded_connector, parse_names, refusal

__all__ = [
    "AddressRefusedError",
    "BrokenError",
    "ConnectError",
    "Guard",
    "GuardedResolver",
    "HttpClient",
    "HttpError",
    "Network",
    "Reply",
    "TooLargeError",
    "guarded_connector",
    "is_loopback",
    "parse_allowed",
    "parse_names",
    "refusal",
]
