"""The secret key of this process for hash tables whose keys come from pages."""

import secrets

import numpy as np
import numpy.typing as npt

KEY_SIZE = 4


def new_key() -> npt.NDArray[np.int64]:
    """Return KEY_SIZE random numbers; the last two are odd, so that products with them lose nothing."""
    key = np.frombuffer(secrets.token_bytes(8 * KEY_SIZE), dtype=np.int64).copy()
    key[-2:] |= 1
    return key


PROCESS_KEY = new_key()
"""What tables of this process mix into their hashes. Kernels take it as data: compiled code outlives processes.

Nothing that is stored may depend on it.
"""
