"""How phrases are written: in capitals where they need them, and not at all where they are pieces of words or of questions."""

from collections import Counter

import pytest

from pagekin.clusters.written_phrases import common_form, is_question, word_before, words_between


def form_of(*places: str) -> str:
    """Return the form of a phrase that stands in brackets in some texts."""
    forms, before = Counter[str](), Counter[str]()
    for place in places:
        left, _, rest = place.partition("[")
        form, _, right = rest.partition("]")
        text = f"{left}{form}{right}".encode()
        first = len(left.encode())
        start, _, last = form.rpartition(" ")
        at = first + len(start.encode()) + (1 if start else 0)
        forms[words_between(text, first, at, len(last))] += 1
        before[word_before(text, first)] += 1
    return common_form(forms, before)


@pytest.mark.parametrize(
    ("places", "form"),
    [
        (["[pseudo-random bytes] are made", "get [pseudo-random bytes]"], "Pseudo-random bytes"),
        (["les [lumières] du soir", "de [lumières]"], "Lumières"),
        (["[Assumptions]# Core", "[Assumptions]#"], "Assumptions"),
        (["[C]# and", "in [C]#"], "C#"),
        (["[C]++ and", "in [C]++"], "C++"),
        (["run [tlsmgr] now", "see [tlsmgr]"], "tlsmgr"),
        (["see [Shared]-Initialize", "[Shared]-Initialize is called"], "Shared-Initialize"),
        (["[virkeycode]-linux", "[virkeycode]-osx", "[virkeycode]-win32"], "virkeycode"),
        (["[git-merge]-base", "[git-merge]", "[git-merge]-file", "[git-merge] is"], "git-merge"),
        (["What [causes imperialism]?", "D.5 What [causes imperialism]?"], ""),
        (["How does [wealth influence politics]?", "the [wealth influence politics] has"], "Wealth influence politics"),
        (["Why does [capital move]? Why does [capital move]?"], ""),
        (["Does [Python] scale?", "Why does [Python] fail?"], "Python"),
        (["REST Second [Factor]", "use a Second [Factor]"], "Second Factor"),
        (["The [Section G Introduction]", "[Section G Introduction]"], ""),
        (["[Section headings] in books", "[Section headings]"], "Section headings"),
    ],
)
def test_a_phrase_is_written_as_a_name(places: list[str], form: str) -> None:
    assert form_of(*places) == form


def test_a_question_ends_with_its_mark() -> None:
    assert is_question("What is new? ") and is_question("なぜ？") and not is_question("What is new")
