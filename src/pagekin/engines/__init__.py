"""The same build on this machine or on a cluster.

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
