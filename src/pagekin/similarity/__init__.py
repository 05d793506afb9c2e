"""From bags to related pages: exact similarities, signatures, their index, answers with reasons.

`make_index` writes H and I of section 6.2; `RelatedIndex` answers from them. Questions need numpy alone; only signing
and comparing many bags at once imports the compiler.
"""

from pagekin.similarity.related import Answer, Query, RelatedError, RelatedIndex, Result

__all__ = ["Answer", "Query", "RelatedError", "RelatedIndex", "Result"]
