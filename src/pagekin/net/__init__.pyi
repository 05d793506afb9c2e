"""What other rooms may import of this one; each name is loaded when it is first used."""

from .guard import Guard, Network, parse_allowed
from .resolver import AddressRefusedError, GuardedResolver, guarded_connector, guarded_socket, parse_names, refusal

__all__ = [
    "AddressRefusedError",
    "Guard",
    "GuardedResolver",
    "Network",
    "guarded_connector",
    "guarded_socket",
    "parse_allowed",
    "parse_names",
    "refusal",
]
