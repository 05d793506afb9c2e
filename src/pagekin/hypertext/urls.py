"""The addresses of pages, as the sources spell them, for those who come through this door."""

from pagekin.sources import canonical_url, host_of, host_of_url, site_of, split_port

__all__ = ["canonical_url", "host_of", "host_of_url", "site_of", "split_port"]
