"""From the corpus to weighted bags: what represents a page, by a strategy.

`Strategy` is one value with every choice; `make_bags` turns the corpus's streams into bags by compiled kernels; `Bags` reads
them; `BagWorkshop` makes bags by many strategies in memory; `are_copies` compares sketches of pages. Only making bags imports
the compiler.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
