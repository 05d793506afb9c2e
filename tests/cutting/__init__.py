"""Shards cut from a collection in one piece: an oracle for builds in shards, and a quick way to have some."""

from .corpus import cut_corpus, cut_pages
from .shards import shard_collection

__all__ = ["cut_corpus", "cut_pages", "shard_collection"]
