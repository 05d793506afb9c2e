"""Where a page's running text begins, below menus, banners and what the page is called."""

import re

from pagekin.hypertext import Corpus

_READ = 50_000
"""Bytes in which the beginning is looked for."""
_LEAST = 40
"""Bytes of a line from which on it may be running text: shorter ones are mostly notices, such as that scripts are off."""
_SENTENCE_END = re.compile(r"(?<!\d)[.!?…][\"'”’)\]]*(?=\s|$)|[。！？।]")
"""Where a sentence ends; not after a digit, since an entry of a list may begin with `9.`"""
_LARGE = 0.5
"""Where more than this share of the words begin with a capital, a line is a menu or a title."""


def running_text(corpus: Corpus, page: int, width: int = 200) -> str:
    """Return about `width` characters from the first line that reads like a sentence; the stored beginning if none does.

    This depends on the page alone, so that it is the same in a shard or a delta as in one collection of all.
    """
    text = corpus.stored_text(page)[0][:_READ]
    at = text.find(b"\n") + 1  # the title comes first
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        if end - at >= _LEAST and _is_running(text[at:end].decode("utf-8", "ignore")):
            # Four bytes are the most that a character takes; spaces that are joined make room for more.
            return _cut(" ".join(text[at : at + 8 * width].decode("utf-8", "ignore").split()), width)
        at = end + 1
    return _cut(corpus.snippets.text(page), width)


def _is_running(line: str) -> bool:
    """Return whether a line reads like a sentence: it ends somewhere, and few of its words begin with a capital."""
    if not _SENTENCE_END.search(line):
        return False
    words = line.split()
    return sum(word[0].isupper() for word in words) <= _LARGE * len(words)


def _cut(text: str, width: int) -> str:
    """Cut a text between words where it is too long, and mark that it goes on."""
    return text if len(text) <= width else f"{text[:width].rpartition(' ')[0] or text[:width]} …"
