"""The `.kin` folder: named, memory-mapped arrays and folders of plain files under one atomically replaced manifest.

`open_kin` gives a consistent, read-only view; `KinWriter` takes the folder's lock, writes new files beside
the old ones and makes them visible by one rename; `check_files` proves checksums and lengths. This room knows
nothing of pages: it stores arrays, files that other libraries made, and a dictionary of facts about them.
"""

from pagekin.store.arrays import ArrayFile, rank, smallest_uint
from pagekin.store.check import Finding, check_files
from pagekin.store.columns import Columns
from pagekin.store.folder import FORMAT, Kin, KinError, open_kin
from pagekin.store.ragged import RaggedBytes
from pagekin.store.shapes import check_shapes
from pagekin.store.writer import KinWriter

__all__ = [
    "FORMAT",
    "ArrayFile",
    "Columns",
    "Finding",
    "Kin",
    "KinError",
    "KinWriter",
    "RaggedBytes",
    "check_files",
    "check_shapes",
    "open_kin",
    "rank",
    "smallest_uint",
]
