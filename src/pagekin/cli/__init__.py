"""The command line: one file per verb, nothing heavy imported before a verb needs it."""

from pagekin.cli.app import main

__all__ = ["main"]
