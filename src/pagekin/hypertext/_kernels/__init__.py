"""Compiled kernels of the lexer and the decoder of word streams: one file per job, plain arrays in and out."""
