"""Compiled kernels that sign bags and find neighbours: one file per job, plain arrays in and out."""
