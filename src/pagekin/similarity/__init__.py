"""Exact Jaccard, signatures H, inverted index I, related pages and explanations (2002, sections 4 and 6).

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
