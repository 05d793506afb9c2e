"""The limits within which an update becomes a delta, in a module that loads quickly for `pagekin info`."""

FEWEST_PAGES = 2_000
"""Pages of a collection below which it is made anew, which takes little time."""
LARGEST_SHARE = 0.2
"""The largest share of a collection's pages that a delta may have."""
