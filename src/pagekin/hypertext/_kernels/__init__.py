"""Compiled kernels of the lexer: one file per job, plain arrays in and out."""
