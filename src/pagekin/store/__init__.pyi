"""What other rooms may import of this one; each name is loaded when it is first used."""

from .arrays import Array, ArrayFile, distinct, is_among, rank, row_entries, smallest_uint
from .batches import Progress, batch_ranges, map_in_order, no_progress
from .check import Finding, check_files, check_shapes
from .columns import Columns
from .disk import DiskFullError, is_full, on_temporary_disk, temporary_folder
from .folder import MANIFEST, SHARDS, Kin, KinError, open_kin, read_manifest
from .kernels import CHECKED, kernel
from .ragged import RaggedBytes, pack_strings
from .secret import KEY_SIZE, PROCESS_KEY, new_key
from .sorting import sort_by_keys, sort_numbers
from .writer import KinWriter, can_be_resumed

__all__ = [
    "CHECKED",
    "KEY_SIZE",
    "MANIFEST",
    "PROCESS_KEY",
    "SHARDS",
    "Array",
    "ArrayFile",
    "Columns",
    "DiskFullError",
    "Finding",
    "Kin",
    "KinError",
    "KinWriter",
    "Progress",
    "RaggedBytes",
    "batch_ranges",
    "can_be_resumed",
    "check_files",
    "check_shapes",
    "distinct",
    "is_among",
    "is_full",
    "kernel",
    "map_in_order",
    "new_key",
    "no_progress",
    "on_temporary_disk",
    "open_kin",
    "pack_strings",
    "rank",
    "read_manifest",
    "row_entries",
    "smallest_uint",
    "sort_by_keys",
    "sort_numbers",
    "temporary_folder",
]
