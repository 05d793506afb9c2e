"""Pagekin finds a web page's kin."""

__version__ = "0.1.0"
