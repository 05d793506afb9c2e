"""The largest score that a page can have: a site that reports a higher one is not believed."""

import math

from pagekin.text.query import Query
from pagekin.text.statistics import Stats, asked_forms, form_key, inverse_frequency

_TIMES = 64.0
"""How many times its inverse frequency a word adds to a score at most. It is far less, but other versions may weigh otherwise."""
_RAREST = math.log(2.0**55)
"""The inverse frequency of the rarest word of the largest collection."""


def largest_score(query: Query, stats: Stats | None = None) -> float:
    """Return the score that no page can exceed by the statistics that scores go by; without them, by any."""
    keys = [form_key(*pair) for pair in asked_forms(query)]
    if stats is None:
        return _TIMES * _RAREST * len(keys)
    return _TIMES * sum(inverse_frequency(stats, key) if key in stats.df else _RAREST for key in keys)
