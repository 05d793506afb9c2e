"""The full-text index: attribute queries and snippets.

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
