"""May we connect there? The address guard for the robot and the routers.

This room is empty so far; `docs/architecture.md` says what it will hold.
"""
