"""Content labels by the three abstraction functions (hypursuit-1996).

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
