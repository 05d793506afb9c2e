"""What other rooms may import of this one; each name is loaded when it is first used."""

from .arrays import Array, ArrayFile, distinct, is_among, rank, row_entries, smallest_uint
from .batches import Progress, batch_ranges, map_in_order, no_progress
from .check import Finding, check_files, check_shapes
from .columns import Columns
from .disk import DiskFullError, is_full, on_temporary_disk, temporary_folder
from .folder import MANIFEST, SHARDS, Kin, KinError, open_kin, read_manifest
from .inverting import chunks, count_targets, invert
from .kernels import CHECKED, kernel
from .memory import (
    IN_MEMORY,
    NO_LIMIT,
    MemoryBudget,
    TooLittleMemoryError,
    Workspace,
    give_back_memory,
    parse_size,
    use_memory_tightly,
)
from .numbering import Numbering
from .ragged import RaggedBytes, pack_strings, union_strings
from .records import pack_record, unpack_record
from .secret import KEY_SIZE, PROCESS_KEY, new_key
from .sorting import sort_by_keys, sort_numbers
from .writer import KinWriter, can_be_resumed

__all__ = [
    "CHECKED",
    "IN_MEMORY",
    "KEY_SIZE",
    "MANIFEST",
    "NO_LIMIT",
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
    "MemoryBudget",
    "Numbering",
    "Progress",
    "RaggedBytes",
    "TooLittleMemoryError",
    "Workspace",
    "batch_ranges",
    "can_be_resumed",
    "check_files",
    "check_shapes",
    "chunks",
    "count_targets",
    "distinct",
    "give_back_memory",
    "invert",
    "is_among",
    "is_full",
    "kernel",
    "map_in_order",
    "new_key",
    "no_progress",
    "on_temporary_disk",
    "open_kin",
    "pack_record",
    "pack_strings",
    "parse_size",
    "rank",
    "read_manifest",
    "row_entries",
    "smallest_uint",
    "sort_by_keys",
    "sort_numbers",
    "temporary_folder",
    "union_strings",
    "unpack_record",
    "use_memory_tightly",
]
