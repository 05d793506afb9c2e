"""The `.kin` folder: memory-mapped arrays under one atomically replaced manifest.

`open_kin` gives a consistent, read-only view; `KinWriter` takes the folder's lock, writes new files beside the old ones and
makes them visible by one rename; `check_files` verifies checksums and lengths. `Columns` are groups of arrays with names and
types. This room knows nothing of pages: it stores arrays and a dictionary of facts.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
