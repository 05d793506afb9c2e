"""The program `pagekin`, also as `python -m pagekin`.

A process that it starts imports this file, too, before anything else.
"""

from pagekin import store
from pagekin.cli import main

__all__ = ["main"]

store.load_numba_alone()

if __name__ == "__main__":
    main()
