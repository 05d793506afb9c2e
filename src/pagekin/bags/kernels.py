"""The kernel of this room that kernels of other rooms call, and the arrays by which kernels pass on kept words."""

from pagekin.bags._kernels.keep import KeptWords
from pagekin.bags._kernels.sketch import mix_number

__all__ = ["KeptWords", "mix_number"]
