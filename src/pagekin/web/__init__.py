"""JSON API and pages.

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
