"""What other rooms may import of this one; each name is loaded when it is first used."""

from .arrays import Array, ArrayFile, distinct, is_among, rank, read_only, rising_order, row_entries, smallest_uint
from .batches import Progress, batch_ranges, core_count, map_in_order, no_progress
from .check import Finding, check_files, check_shapes
from .columns import Columns
from .compile_watch import CompileProgress, unwatch_compiling, watch_compiling
from .compiling import compile_kernels, compile_missing, listed_kernels, missing_kernels
from .disk import DiskFullError, fresh_file, is_full, on_temporary_disk, temporary_folder
from .folder import (
    DELTA,
    MANIFEST,
    MOST_SHARDS,
    SHARDS,
    Kin,
    KinError,
    make_manifest,
    open_kin,
    pack_manifest,
    parse_manifest,
    read_manifest,
)
from .interrupts import hold_interrupts
from .inverting import chunks, count_targets, invert
from .kept import KEPT, KeptFolders, checksum_of, damaged_files, read_kept, sum_files
from .kernels import CHECKED, kernel
from .lean import load_numba_alone
from .memory import (
    IN_MEMORY,
    NO_LIMIT,
    GrowingArray,
    MemoryBudget,
    TooLittleMemoryError,
    Workspace,
    give_back_memory,
    parse_size,
    use_memory_tightly,
)
from .numbering import Numbering
from .ragged import RaggedBytes, join_strings, pack_strings, union_strings
from .read_ahead import ReadAhead
from .records import Names, join_names, pack_record, unpack_record
from .secret import KEY_SIZE, PROCESS_KEY, new_key
from .sorting import sort_by_keys, sort_numbers
from .storage import MissingFileError, Storage, StorageError, file_stamp, is_remote, open_file
from .transfer import fetch, hand_over, on_this_machine, publish, put_manifest, upload_files, upload_shard
from .writer import LOCK, RESUME, KinWriter, can_be_resumed

__all__ = [
    "CHECKED",
    "DELTA",
    "IN_MEMORY",
    "KEPT",
    "KEY_SIZE",
    "LOCK",
    "MANIFEST",
    "MOST_SHARDS",
    "NO_LIMIT",
    "PROCESS_KEY",
    "RESUME",
    "SHARDS",
    "Array",
    "ArrayFile",
    "Columns",
    "CompileProgress",
    "DiskFullError",
    "Finding",
    "GrowingArray",
    "KeptFolders",
    "Kin",
    "KinError",
    "KinWriter",
    "MemoryBudget",
    "MissingFileError",
    "Names",
    "Numbering",
    "Progress",
    "RaggedBytes",
    "ReadAhead",
    "Storage",
    "StorageError",
    "TooLittleMemoryError",
    "Workspace",
    "batch_ranges",
    "can_be_resumed",
    "check_files",
    "check_shapes",
    "checksum_of",
    "chunks",
    "compile_kernels",
    "compile_missing",
    "core_count",
    "count_targets",
    "damaged_files",
    "distinct",
    "fetch",
    "file_stamp",
    "fresh_file",
    "give_back_memory",
    "hand_over",
    "hold_interrupts",
    "invert",
    "is_among",
    "is_full",
    "is_remote",
    "join_names",
    "join_strings",
    "kernel",
    "listed_kernels",
    "load_numba_alone",
    "make_manifest",
    "map_in_order",
    "missing_kernels",
    "new_key",
    "no_progress",
    "on_temporary_disk",
    "on_this_machine",
    "open_file",
    "open_kin",
    "pack_manifest",
    "pack_record",
    "pack_strings",
    "parse_manifest",
    "parse_size",
    "publish",
    "put_manifest",
    "rank",
    "read_kept",
    "read_manifest",
    "read_only",
    "rising_order",
    "row_entries",
    "smallest_uint",
    "sort_by_keys",
    "sort_numbers",
    "sum_files",
    "temporary_folder",
    "union_strings",
    "unpack_record",
    "unwatch_compiling",
    "upload_files",
    "upload_shard",
    "use_memory_tightly",
    "watch_compiling",
]
