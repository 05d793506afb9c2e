"""The kernel of this room that kernels of other rooms call."""

from pagekin.bags._kernels.sketch import mix_number

__all__ = ["mix_number"]
