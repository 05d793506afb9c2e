"""The leaves and the network of the routers' tests."""

from tests.routers.conftest import collections, web

__all__ = ["collections", "web"]
