"""Compiled kernels that compare and cluster pages: one file per job, plain arrays in and out."""
