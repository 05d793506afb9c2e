"""Detect the language of a page: the declared one, else the one of its text; none rather than a guess."""

import re
import tomllib
from pathlib import Path

_TAG = re.compile(r"[a-z]{2,3}(?=$|[-_])")
_SAMPLE = 800
_LEAST = 120  # characters: shorter texts are not judged

_TABLES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("languages.toml").read_text(encoding="utf-8")
)
_TWO_LETTERS = _TABLES["two_letters"]
_SMALL_WORDS = {code: frozenset(words.split()) for code, words in _TABLES["small_words"].items()}


def declared_language(tag: str) -> str:
    """Return the primary subtag of a language tag in lower case ('en-GB' gives 'en'); '' if it is not valid."""
    match = _TAG.match(tag.strip().lower())
    if not match or match[0] in ("und", "mul", "zxx", "mis", "xx"):
        return ""
    return _TWO_LETTERS.get(match[0], match[0])


_SHARE = 0.06
_ENGLISH_SHARE, _ENGLISH_ALONE = 0.15, frozenset(("the", "of", "and"))
"""The share of small words, one of these among them, that only English texts have: most pages need no more to be told."""
_LATIN_WORD = re.compile(r"[^\W\d_]+")


def detected_language(text: str) -> str:
    """Return the language of a text; '' unless it is certain."""
    sample = text[:_SAMPLE]
    if len(sample) < _LEAST:
        return ""
    words = _LATIN_WORD.findall(sample.lower())
    if sample.isascii() and not _ENGLISH_ALONE.isdisjoint(words):
        hits = sum(map(_SMALL_WORDS["en"].__contains__, words))
        if hits >= _ENGLISH_SHARE * len(words):
            return "en"
    from turbohtml.detect import detect_language  # questions need the codes of languages alone, and start sooner

    match = detect_language(sample)
    if not match.language or match.confidence < 0.6:
        return ""
    code = _TWO_LETTERS.get(match.language, match.language)
    if match.script != "Latin":
        return code
    small_words = _SMALL_WORDS.get(code, frozenset())
    hits = sum(map(small_words.__contains__, words))
    return code if hits >= _SHARE * len(words) else ""
