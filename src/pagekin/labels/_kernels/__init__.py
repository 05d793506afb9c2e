"""Compiled kernels for labels: plain arrays in and out."""
