"""Group items by target with a counting sort."""

from pagekin.store.kernels import kernel


@kernel
def place_items(targets, first, low, places, out):
    """Write the numbers of items, counted from `first`, to the next places of their targets; O(items).

    Only the targets from `low` on count, as many as there are `places`; each item moves its target's place on by one.
    """
    for i in range(len(targets)):
        target = targets[i]
        if low <= target < low + len(places):
            out[places[target - low]] = first + i
            places[target - low] += 1
