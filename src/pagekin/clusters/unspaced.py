"""Phrases in scripts without spaces between words: pairs of characters begin and end anywhere, names must not."""

import re
from collections import Counter
from collections.abc import Sequence

from pagekin.clusters.furniture import is_furniture
from pagekin.hypertext import CharClass, char_class

_AROUND = 8
"""Characters before and after a phrase that may belong to it, at most."""
_AGREE = 0.9
"""The share of a phrase's places at which the same character stands beside it, which then belongs to it."""
_ALIKE = 0.7
"""The share of a phrase's places that show its form, by itself or in a longer word, at least."""
_EXACT = 0.3
"""The share of these that show it by itself, at least."""
_BETWEEN = "\0"
_KATAKANA = re.compile(r"[\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_HIRAGANA = re.compile(r"[\u3041-\u309f]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_POLITE = re.compile(r"[おご][\u3400-\u9fff]")
_SUFFIX = re.compile(r"[\u3041-\u309f]+")
_STEM = re.compile(r"(?:^|[\u3041-\u309f])[\u3400-\u9fff]$")
"""A single Chinese character at the end is the stem of a word that goes on in Hiragana."""
_AFTER_SUFFIX = re.compile(r"[をはがにでともへやのて]+$")
_JOINED = re.compile(r"[をはがにでともへや]")
"""Particles inside a phrase make it a clause or a list."""
_PARTICLES_BEFORE = re.compile(r"^[\u3041-\u309f]+")
_PARTICLES_BEHIND = re.compile(
    r"(?:ください|します|ました|する|した|して|ます|です|ない|なる|れる|せる|ある|いる|られ|され|から|まで|など|より|には|では|への|での|"
    r"[をはがにでともへやのすば])$"
)
_CHINESE_AROUND = re.compile(r"^[的了与及或是把被该此这个]+|(?:[的了与及或是把被该此这第]|(?<=\w\w)中)+$")
_LONGEST_ENDING = 2
"""Hiragana at the end of a noun that is made from a verb, at most."""
_WHOLE = re.compile(r"\w+(?:[ ・/-]\w+)*")
_LEAST = 2
"""Characters of a name, at least; three of a script that writes syllables of grammar."""


def is_unspaced(text: str) -> bool:
    """Return whether a text begins and ends in a script without spaces."""
    return bool(text) and all(char_class(char) is CharClass.PAIR for char in (text[0], text[-1]))


def has_unspaced(text: str) -> bool:
    """Return whether a text has a character of a script without spaces."""
    return any(char_class(char) is CharClass.PAIR for char in text)


def join_words(words: Sequence[str]) -> str:
    """Return words with spaces between them; pairs of characters that overlap are put together."""
    text = ""
    for word in words:
        overlaps = bool(text) and len(word) > 1 and text[-1] == word[0] and is_unspaced(word) and is_unspaced(text[-1])
        text += word[1:] if overlaps else f" {word}" if text else word
    return text


def phrase_in_context(text: bytes, first: int, form: str, language: str) -> str:
    """Return a phrase that begins at a byte of a text with what stands around it in its script, for `unspaced_form`.

    In Japanese the phrase is first completed: a run of Katakana, or of Chinese characters, is one word.
    """
    left = text[max(first - 4 * _AROUND, 0) : first].decode("utf-8", "ignore")[-_AROUND:]
    behind = first + len(form.encode())
    right = text[behind : behind + 4 * _AROUND].decode("utf-8", "ignore")[:_AROUND]
    cut = next((place for place in range(len(left), 0, -1) if char_class(left[place - 1]) is not CharClass.PAIR), 0)
    left = left[cut:]
    end = next((place for place, char in enumerate(right) if char_class(char) is not CharClass.PAIR), len(right))
    right = right[:end]
    if language == "ja":
        while left and _is_same_word(left[-1], form[0]):
            left, form = left[:-1], left[-1] + form
        if left.endswith(("お", "ご")) and _HAN.match(form[0]):
            left, form = left[:-1], left[-1] + form  # a polite prefix
        while right and _is_same_word(form[-1], right[0]):
            form, right = form + right[0], right[1:]
        if _STEM.search(form) and (suffix := _SUFFIX.match(right)):
            ending = _AFTER_SUFFIX.sub("", suffix[0])
            if len(ending) <= _LONGEST_ENDING:
                form, right = form + ending, right[len(ending) :]
                return _BETWEEN.join(("", _noun(form, not left, True), ""))
        form = _noun(form, not left, not right)
        left = right = ""
    return _BETWEEN.join((left, form, right))


def is_in_context(form: str) -> bool:
    """Return whether a form was written by `phrase_in_context`."""
    return _BETWEEN in form


def unspaced_form(places: Counter[str]) -> str:
    """Return the phrase that most places show, grown by what stands beside it nearly everywhere; '' if it is no name.

    `places` are texts of `phrase_in_context`; others count as places that show something else.
    """
    split = [(tuple(place.split(_BETWEEN)), times) for place, times in places.items() if is_in_context(place)]
    whole, lefts, rights = Counter[str](), Counter[str](), Counter[str]()
    for (_left, form, _right), times in split:
        whole[form] += times
    inside = {form: sum(times for other, times in whole.items() if form in other) for form in whole if form}
    likely = [
        form for form in inside if inside[form] >= _ALIKE * places.total() and whole[form] >= _EXACT * inside[form]
    ]
    if not likely:
        return ""
    form = max(likely, key=lambda form: (inside[form], whole[form], form))
    for (left, _form, right), times in (one for one in split if one[0][1] == form):
        lefts[left] += times
        rights[right] += times
    form = _CHINESE_AROUND.sub("", _agreed(lefts, -1) + form + _agreed(rights, 1))
    letters = sum(not _HIRAGANA.match(char) for char in form)
    is_name = _WHOLE.fullmatch(form) and is_unspaced(form) and (letters >= _LEAST or len(form) > _LEAST)
    return form if is_name and not is_furniture(form) else ""


def _is_same_word(one: str, other: str) -> bool:
    """Return whether two neighbouring characters of a Japanese text belong to one word: both Katakana, or both Chinese."""
    if char_class(one) is not CharClass.PAIR or char_class(other) is not CharClass.PAIR:
        return False
    kinds = [bool(_KATAKANA.match(char)) for char in (one, other)]
    return kinds[0] == kinds[1] and not any(_HIRAGANA.match(char) for char in (one, other))


def _noun(form: str, begins: bool, ends: bool) -> str:
    """Return the noun phrase in a Japanese form, without particles and endings of verbs; '' for a clause.

    A form may begin and end with Hiragana where a title or a link `begins` or `ends` with it.
    """
    before = None
    while form != before:
        before = form
        form = _PARTICLES_BEHIND.sub("", form)
    if not ends:
        form = re.sub(r"[\u3041-\u309f]+$", "", form)
    if not begins and not _POLITE.match(form):
        form = _PARTICLES_BEFORE.sub("", form)
    return "" if _JOINED.search(form) else form


def _agreed(beside: Counter[str], step: int) -> str:
    """Return what stands beside a phrase at nearly all places, given the texts before (step -1) or behind it (1)."""
    grown = ""
    while len(grown) < _AROUND:
        at = len(grown)
        following = Counter[str]()
        for text, times in beside.items():
            rest = text[::step]
            following[rest[at] if rest[:at] == grown and len(rest) > at else ""] += times
        char, times = max(following.items(), key=lambda item: (item[1], item[0]))
        if not char or times < _AGREE * following.total():
            break
        grown += char
    return grown[::step]
