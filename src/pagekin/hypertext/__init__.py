"""From pages to the corpus: words in document order with attributes, anchors and boundaries; URLs; terms.

`read_sources` makes it, `Corpus` reads it (`corpus.pages.date[page]`), `check_corpus` verifies it. Two readers of HTML stand
behind it: the fast lexer (compiled) and the strict one (plain Python over a WHATWG tree), each the other's oracle. Nothing here
imports the compiler unless pages are read by the fast lexer, or `decode_stream` is named: it and its companions are kernels that
the kernels of other rooms call, so that one piece of code decodes word streams.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
