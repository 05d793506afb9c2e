"""Compiled kernels that sign bags and find neighbours: one file per job, plain arrays in and out."""

from pathlib import Path

from pagekin.store import use_kernel_cache

use_kernel_cache(Path(__file__).parent)
