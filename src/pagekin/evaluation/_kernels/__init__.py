"""Compiled kernels that judge strategies: one file per job, plain arrays in and out."""
