"""Compiled kernels that make postings, rank pages and cut snippets: plain arrays in and out."""
