"""What other rooms may import of this one; each name is loaded when it is first used."""

from .arrays import Array, ArrayFile, distinct, is_among, rank, row_entries, smallest_uint
from .batches import Progress, batch_ranges, map_in_order, no_progress
from .check import Finding, check_files, check_shapes
from .columns import Columns
from .folder import MANIFEST, Kin, KinError, open_kin, read_manifest
from .kernels import CHECKED, kernel
from .ragged import RaggedBytes, pack_strings
from .writer import KinWriter

__all__ = [
    "CHECKED",
    "MANIFEST",
    "Array",
    "ArrayFile",
    "Columns",
    "Finding",
    "Kin",
    "KinError",
    "KinWriter",
    "Progress",
    "RaggedBytes",
    "batch_ranges",
    "check_files",
    "check_shapes",
    "distinct",
    "is_among",
    "kernel",
    "map_in_order",
    "no_progress",
    "open_kin",
    "pack_strings",
    "rank",
    "read_manifest",
    "row_entries",
    "smallest_uint",
]
