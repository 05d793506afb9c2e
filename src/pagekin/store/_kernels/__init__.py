"""Compiled kernels that all rooms use: one file per job, plain arrays in and out."""
