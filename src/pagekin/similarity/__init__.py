"""From bags to related pages: exact similarities, signatures, their index, answers with reasons.

`make_index` writes H and I of the 2002 paper, section 6.2; `RelatedIndex` answers from them; `check_index` verifies them.
Questions need numpy alone; only signing and comparing many bags at once imports the compiler.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
