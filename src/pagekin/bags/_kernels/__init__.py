"""Compiled kernels that make bags: one file per job, plain arrays in and out."""
