"""Directory, familial distance, Γ, experiments and tuning (2002, sections 2 and 5).

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
