"""A worker that reads lists of words in place of pages; apart from the tests, as each of its processes loads this file."""

from multiprocessing.connection import Connection
from pathlib import Path

from pagekin.hypertext.workers import Clock, Task


def burn() -> None:
    """Use processor time without end."""
    while True:
        pass


def write_numbers(folder: Path, log: Path, connection: Connection, clock: Clock, name: str) -> None:
    """A worker whose units are lists of words; each part holds the words of two or three units, as a file.

    "slow" never ends, unless it is read page by page and refused; "late" never comes from the source.
    """
    held: dict[int, list[str]] = {}
    waiting: list[str] = []
    parts = 0

    def flush() -> None:
        if "slow" in waiting:
            burn()
        waiting.clear()

    def finish() -> None:
        nonlocal held, parts
        clock.start(-1, taking=False)
        flush()
        clock.stop()
        path = folder / f"{name}-{parts}"
        path.write_text(" ".join(word for words in held.values() for word in words))
        parts += 1
        connection.send(("part", path, {place: counts[place] for place in held}))
        held = {}

    counts: dict[int, int] = {}
    connection.send(("ready",))
    while (task := connection.recv()) is not None:
        if not isinstance(task, Task):
            finish()
            connection.send(("finished",))
            continue
        with log.open("a") as file:
            file.write(f"{task.unit.path} {task.first} {task.careful} {sorted(task.refused)} {task.until}\n")
        if task.careful:
            clock.start(-1, taking=False)
            flush()
        words = task.unit.path.split()
        number = 0
        for number, word in enumerate(words):
            clock.start(number, taking=False)
            if word == "late":
                if number == task.until:
                    held.setdefault(task.place, []).append("(late)")
                    counts[task.place] = number + 1
                    break
                burn()
            if number < task.first:
                continue
            clock.start(number, taking=True)
            word = "(slow)" if number in task.refused else word
            waiting.append(word)
            held.setdefault(task.place, []).append(word)
            counts[task.place] = number + 1
            if task.careful:
                flush()
            if word == "part":
                finish()
        clock.stop()
        connection.send(("done", task.place, -1, number + 1))
