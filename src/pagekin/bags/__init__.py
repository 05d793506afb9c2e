"""Corpus and strategy in, weighted bags out (related-pages-2002, section 3).

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
