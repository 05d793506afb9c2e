"""Compiled kernels that compare and cluster pages: one file per job, plain arrays in and out."""

from pathlib import Path

from pagekin.hypertext import DECODER_SOURCES
from pagekin.hypertext import decode_stream as decode_stream  # first: each room names its own cache folder
from pagekin.store import use_kernel_cache

use_kernel_cache(Path(__file__).parent, DECODER_SOURCES)
