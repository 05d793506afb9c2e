"""The full-text index: attribute queries, scores that sites can share, snippets.

`make_text` writes it, `TextIndex` answers, `parse_query` reads what people type, `make_snippet` shows where a page answers,
`keep_pages` narrows by site, date and language, `check_text` verifies the index. Only a `compiled` index imports the compiler.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
