"""Compiled kernels that make postings, rank pages and cut snippets: plain arrays in and out."""

from pathlib import Path

from pagekin.hypertext import DECODER_SOURCES
from pagekin.hypertext import decode_stream as decode_stream  # first: each room names its own cache folder
from pagekin.store import use_kernel_cache

_ROOM = Path(__file__).parent.parent
use_kernel_cache(Path(__file__).parent, [*DECODER_SOURCES, _ROOM / "scoring.py"])
