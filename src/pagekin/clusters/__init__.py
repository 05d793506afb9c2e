"""Content-link similarities, clusters, hierarchies and the thesaurus (hypursuit-1996).

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
