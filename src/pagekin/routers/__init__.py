"""Content routers: select, expand, search, refine, suggest (hypursuit-1996).

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
