"""How phrases are written: what stands in their places on pages, and the form that most of these have."""

import re
from collections import Counter

from pagekin.bags import is_telling
from pagekin.clusters.chapters import PARTS_OF_BOOKS
from pagekin.clusters.furniture import is_furniture
from pagekin.hypertext import fold_case
from pagekin.store import Array
from pagekin.text import tokens

_PLURAL = 0.2
"""The plural is taken if it is this share of the forms, at least: a topic is one of many."""
_SHORT = 3
"""Letters of an abbreviation, at most."""
_LOUD = 4
"""Letters of a word that is written in capitals alone only if it is never written otherwise: it is no abbreviation."""
_LEADING = 0.6
"""A word written large before a phrase belongs to it if it stands before this share of its places."""
_BROKEN = re.compile(r"[,;|@()\[\]{}<>\"“”„•·»«=\n\r\t!?…]|\s[-–—:/*.+]+\s|[:.]\s|–|—")
"""What stands between parts of a text, but not inside a phrase."""
_MORE = re.compile(r"\+\+|(?<=^[A-Z])#(?!\w)")
"""What belongs to a word, though it is not part of it: behind several letters, # is a link to a heading."""
_PARTS = re.compile(r"(?:-[^\W\d]\w+)+")
_BEHIND = "\x1f"
"""The mark before further parts of a word with hyphens."""
_SAME_PARTS = 0.6
"""The share of places at which the same parts follow, from which on they belong to the phrase."""
_COMPOUND = 40
"""Bytes of the further parts of a word with hyphens, at most."""
_NAMES = re.compile(r"[^\W\d_].*\w.*\w|[A-Z]\w|[^\W\d_](?:\+\+|#)")
"""A name begins with a letter, and has three at least, or two large ones."""
_PART_OF_BOOK = re.compile(rf"(?i:{PARTS_OF_BOOKS})\s+(?:\d+|[A-Z]|[IVX]+)(?:\s+\w+)?")
_QUESTION = re.compile(
    r"\b(?:(?:What|Which|Why|How|When|Where|Who)(?: (?:does|do|did|can|could|should|will|would)(?:n['’]t)?)?|"
    r"(?:Does|Do|Did|Can|Could|Should|Will|Would)(?:n['’]t)?) $"
)
"""The beginning of a question: the words behind it are no name of anything."""
_BEFORE = re.compile(
    r"(?:^|[\W_])((?:New|Old|Great|High|Long|Little|Big|Time|First|Second|Third|Large|Small|Full|Real|Main|Own|General|Good) )$"
)
"""Stop words that begin names, if they are written large: New Zealand."""


class NumberedTexts:
    """Texts by numbers, in the order in which they came."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def number(self, text: str) -> int:
        """Return the number of a text."""
        number = self._numbers.setdefault(text, len(self._texts))
        if number == len(self._texts):
            self._texts.append(text)
        return number

    def count(self, numbers: Array) -> Counter[str]:
        """Return how often each text is among some numbers."""
        return Counter(self._texts[number] for number in numbers.tolist())


def is_phrase_of(form: str, language: str) -> bool:
    """Return whether a phrase begins and ends with words that tell something in a language, and has no pairs of characters."""
    words = tokens(form)
    return bool(words) and all(is_telling(word, language) for word in (words[0], words[-1]))


def is_site_name(form: str, sites: frozenset[str]) -> bool:
    """Return whether a phrase is a site's name or the beginning or end of its address, rather than what pages are about."""
    words = tokens(form)
    return " ".join(words) in sites or (len(words) == 1 and form.islower() and f".{words[0]}" in sites)


def words_between(text: bytes, first: int, last: int, length: int) -> str:
    """Return the words of a text from the one at byte `first` to that of some letters at byte `last`.

    If the last word goes on with a hyphen (Shared-Initialize), its further parts follow behind a mark, for `common_form`.
    """
    end = text[last : last + 4 * length + _COMPOUND].decode("utf-8", "ignore")
    more, parts = _MORE.match(end, length), end[:length].isascii() and _PARTS.match(end[length:])
    behind = more[0] if more else _BEHIND + parts[0] if parts else ""
    return text[first:last].decode("utf-8", "ignore") + end[:length] + behind


def _with_parts(forms: Counter[str]) -> Counter[str]:
    """Return forms with the further parts of their last word that most places agree on, and without others."""
    parts = Counter[str]()
    for form, times in forms.items():
        parts[form.partition(_BEHIND)[2]] += times
    usual, times = max(parts.items(), key=lambda item: (item[1], item[0]))
    kept = usual if times >= _SAME_PARTS * forms.total() else ""
    whole = Counter[str]()
    for form, times in forms.items():
        bare, _, more = form.partition(_BEHIND)
        whole[bare + (more if more == kept else "")] += times
    return whole


def word_before(text: bytes, first: int) -> str:
    """Return the capitalised word before a byte of a text if it belongs to what follows.

    "-" for what goes on with part of a word, "?" for a question.
    """
    behind = text[max(first - 24, 0) : first].decode("utf-8", "ignore")
    if behind[-1:] in ("-", "'", "@", "\u2019") and behind[-2:-1].isalnum():
        return "-"
    match = _BEFORE.search(behind)
    return match[1] if match else "?" if _QUESTION.search(behind) else ""


def is_question(title: str) -> bool:
    """Return whether a title asks something."""
    return title.rstrip().endswith(("?", "？"))


def common_form(forms: Counter[str], before: Counter[str]) -> str:
    """Return the form in which a phrase is written most often, in the plural if it is seen in both; '' if that names nothing.

    `before` are the words written large that stand before it.
    """
    forms = _with_parts(forms)
    leading, times = before.most_common(1)[0]
    if before["-"] * 2 > before.total():
        return ""
    if before["?"] * 2 > before.total() and any(" " in form for form in forms):
        return ""
    whole = Counter({form: count for form, count in forms.items() if not _BROKEN.search(form)})
    if 2 * whole.total() < forms.total():
        return ""
    form = max(whole, key=lambda form: (whole[form], form))
    plural = [other for other in whole if _is_plural(fold_case(other), fold_case(form))]
    if plural and sum(whole[other] for other in plural) >= _PLURAL * whole.total():
        form = max(plural, key=lambda other: (whole[other], other))
    if is_furniture(form) or not _NAMES.match(form) or _PART_OF_BOOK.fullmatch(form):
        return ""
    # Inside a sentence a word may be small that titles write large.
    if leading not in ("", "-", "?") and times > _LEADING * before.total():
        return leading + form
    if form.isupper() and len(form) > _LOUD:
        quiet = [other for other in whole if fold_case(other) == fold_case(form) and not other.isupper()]
        form = max(quiet, key=lambda other: (whole[other], other), default=form)
    large = form[0].upper() + form[1:]
    letters = re.sub("[ '\u2019-]", "", form) if " " in form else form
    if large in whole or not letters.isalpha():
        return large if large in whole else form
    if not any(other[0].isupper() for other in whole):
        return large if " " in form or not form.isascii() else form  # a word that is always small may be a command
    same = [other for other in whole if other[0].isupper() and fold_case(other) == fold_case(form)]
    upper = max(same, key=lambda other: (whole[other], other), default=large)
    return large if upper.isupper() and len(upper) > _LOUD else upper


def _is_plural(one: str, other: str) -> bool:
    """Return whether one English phrase is the plural of another; abbreviations have none."""
    endings = one in (f"{other}s", f"{other}es") or (other.endswith("y") and one == f"{other[:-1]}ies")
    return endings and len(other) > _SHORT
