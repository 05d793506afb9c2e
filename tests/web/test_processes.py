"""A collection that is served by several processes at one address."""

import contextlib
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

from tests.routers.webs import wait_for

from .browser import command_site


def processes_that_answer(site: str, enough: Callable[[set[int]], bool]) -> set[int]:
    """The numbers of the processes that answer, asked over new connections until they are enough."""
    found: set[int] = set()

    def asked() -> bool:
        with contextlib.suppress(OSError), urlopen(f"{site}metrics", timeout=10) as answer:
            found.update(map(int, re.findall(r'process="(\d+)"', answer.read().decode())))
        return enough(found)

    wait_for(asked, 60)
    return found


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_several_processes_answer_the_same_and_end_together(demo_collection: Path) -> None:
    with command_site("serve", demo_collection, "--port", "0", "--processes", "2") as site:
        numbers = processes_that_answer(site, lambda found: len(found) == 2)
        answers = set()
        for _ in range(20):
            with urlopen(f"{site}search?q=gold", timeout=10) as answer:
                answers.add(re.sub(rb'"seconds":[\d.e-]+', b"", answer.read()))
        assert len(answers) == 1
    wait_for(lambda: not any(map(is_there, numbers)), 20)


def test_processes_end_with_the_first_even_if_that_is_killed(demo_collection: Path) -> None:
    with command_site("serve", demo_collection, "--port", "0", "--processes", "2") as site:
        numbers = processes_that_answer(site, lambda found: len(found) == 2)
        first = min(numbers)
        os.kill(first, signal.SIGKILL)
        wait_for(lambda: not any(map(is_there, numbers - {first})), 20)


def test_a_process_that_dies_is_replaced(demo_collection: Path) -> None:
    with command_site("serve", demo_collection, "--port", "0", "--processes", "2") as site:
        numbers = processes_that_answer(site, lambda found: len(found) == 2)
        os.kill(max(numbers), signal.SIGKILL)
        replaced = processes_that_answer(site, lambda found: len(found - numbers) == 1)
    wait_for(lambda: not any(map(is_there, replaced | numbers)), 20)


def test_one_process_names_no_process(demo_site: str) -> None:
    with urlopen(f"{demo_site}metrics", timeout=10) as answer:
        assert b"process=" not in answer.read()
