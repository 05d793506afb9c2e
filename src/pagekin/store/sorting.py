"""Sorting for kernels of all rooms; importing it imports the compiler."""

from pagekin.store._kernels.sorting import sort_by_keys, sort_numbers

__all__ = ["sort_by_keys", "sort_numbers"]
