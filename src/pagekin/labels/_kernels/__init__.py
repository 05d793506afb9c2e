"""Compiled kernels that ask labels: plain arrays in and out."""
