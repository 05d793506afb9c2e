"""One question has one answer, whichever door it is asked through."""

import pytest

from .doors import Door, Form, RefusedError
from .known_differences import KNOWN_DIFFERENCES, OPTIONS_THAT_NOBODY_TAKES, doors_that_differ
from .questions import QUESTIONS, SHARDED, Question

ASKED = [(web, name) for web, questions in QUESTIONS.items() for name in questions]
OPTIONS = [(web, name) for web, name in ASKED if QUESTIONS[web][name].unlike]
Answers = dict[str, Form | str]


class DoorAnswers:
    """The answers of all doors; each question is asked once."""

    def __init__(self, doors: dict[str, list[Door]]) -> None:
        self._doors = doors
        self._answers: dict[tuple[str, str], Answers] = {}

    def answers(self, web: str, name: str) -> Answers:
        """Return each door's answer to a question, or the reason why it gives none."""
        if (web, name) not in self._answers:
            question = QUESTIONS[web][name]
            self._answers[web, name] = {door.name: _answer(door, question) for door in self._doors[web]}
        return self._answers[web, name]

    def reference(self, web: str, name: str) -> Form | None:
        """Return the answer that the others are compared with: of the first door that gives what it must."""
        question = QUESTIONS[web][name]
        for answer in self.answers(web, name).values():
            if isinstance(answer, Form) and len(answer.results) >= question.least and answer.holds(question.holds):
                return answer
        return None


def _answer(door: Door, question: Question) -> Form | str:
    try:
        return door.ask(question)
    except RefusedError as refused:
        return f"refused: {refused}"


@pytest.fixture(scope="session")
def asked(doors: dict[str, list[Door]]) -> DoorAnswers:
    return DoorAnswers(doors)


@pytest.mark.parametrize(("web", "name"), ASKED, ids=[f"{web}: {name}" for web, name in ASKED])
def test_every_door_gives_the_same_answer(asked: DoorAnswers, web: str, name: str) -> None:
    answers, reference = asked.answers(web, name), asked.reference(web, name)
    differing = {
        door
        for door, answer in answers.items()
        if reference is None or not isinstance(answer, Form) or not answer.agrees(reference)
    }
    assert differing == doors_that_differ(web, name), "\n".join(f"{door}: {one}" for door, one in answers.items())


@pytest.mark.parametrize(("web", "name"), OPTIONS, ids=[f"{web}: {name}" for web, name in OPTIONS])
def test_an_option_changes_the_answer(asked: DoorAnswers, web: str, name: str) -> None:
    """Otherwise a door that takes no notice of it would not be seen."""
    with_option, without = asked.reference(web, name), asked.reference(web, QUESTIONS[web][name].unlike)
    changes = with_option is None or without is None or not with_option.agrees(without)
    assert changes != (name in OPTIONS_THAT_NOBODY_TAKES.get(web, ()))


IN_SHARDS = [
    (web, name)
    for web in SHARDED
    for name, question in QUESTIONS[web].items()
    if question.verb in ("search", "related")
]


@pytest.mark.parametrize(("web", "name"), IN_SHARDS, ids=[f"{web}: {name}" for web, name in IN_SHARDS])
def test_shards_find_what_the_collection_in_one_piece_finds(asked: DoorAnswers, web: str, name: str) -> None:
    one_piece, shards = asked.reference(web, name), asked.reference(SHARDED[web], name)
    assert one_piece is not None
    assert shards is not None
    assert shards.agrees(one_piece)


def test_known_differences_are_about_questions_that_are_asked() -> None:
    lines = [line for lines in KNOWN_DIFFERENCES.values() for line in lines]
    assert {(web, name) for web, names, _doors in lines for name in names} <= set(ASKED)
    assert {(web, name) for web, names in OPTIONS_THAT_NOBODY_TAKES.items() for name in names} <= set(OPTIONS)
