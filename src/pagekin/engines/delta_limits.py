"""When an update becomes a delta; apart from what makes one, so that `pagekin info` need not load that."""

FEWEST_PAGES = 2_000
"""Pages of a collection below which it is made anew, which takes little time."""
LARGEST_SHARE = 0.2
"""The largest share of a collection's pages that a delta may have."""
