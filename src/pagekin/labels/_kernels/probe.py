"""Ask many membership filters for a few keys."""

from numba import uint64

from pagekin.store import kernel


@kernel
def probe_filters(data, starts, bits, mixed, held):
    """Write to `held` (filters, keys) whether each filter, of `bits` bits from byte `starts` of `data`, may hold each key.

    `mixed` has a number for each probe of each key. A key that is not there takes two probes in the mean.
    """
    for number in range(len(starts)):
        size = bits[number]
        for key in range(mixed.shape[0]):
            held_key = size > uint64(0)
            probe = 0
            while held_key and probe < mixed.shape[1]:
                place = mixed[key, probe] % size
                held_key = data[starts[number] + (place >> uint64(3))] >> (place & uint64(7)) & uint64(1) != uint64(0)
                probe += 1
            held[number, key] = held_key
