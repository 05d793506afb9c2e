"""Workers that are killed in the middle of a page: the page is skipped, and nothing else is lost."""

import os
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from pagekin.hypertext import Corpus, ReadPlan, WorkerError, read_sources
from pagekin.hypertext import read as reading
from pagekin.hypertext.journal import Journal
from pagekin.hypertext.workers import Clock, Task, WorkerPool
from pagekin.sources import Limits, Unit
from tests.hypertext.number_worker import write_numbers
from tests.sources.making import http, members, warc


def words_of(journal: Journal) -> list[str]:
    return sorted(word for part in journal.parts for word in part.read_text().split())


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    ("units", "expected"),
    [
        (["a b", "c slow d", "e"], "(slow) a b c d e"),
        (["a part b", "c", "slow"], "(slow) a b c part"),
        (["slow", "slow slow", "a"], "(slow) (slow) (slow) a"),
        (["a part b slow c part d slow e", "f"], "(slow) (slow) a b c d e f part part"),
        (["a late b", "c"], "(late) a c"),
        (["a part b late c slow", "slow d"], "(late) (slow) a b d part"),
    ],
)
def test_what_a_killed_worker_had_in_memory_is_read_again_and_nothing_twice(
    tmp_path: Path, count: int, units: list[str], expected: str
) -> None:
    journal = Journal()
    pool = WorkerPool(count, 0.1, write_numbers, (tmp_path, tmp_path / "log"), journal)
    try:
        pool.wait_until_ready()
        tasks = [Task(place, Unit("made", unit)) for place, unit in enumerate(units)]
        assert sorted(pool.read(tasks)) == list(range(len(units)))
        assert words_of(journal) == expected.split()
    finally:
        pool.close()


def kill_itself(connection: Connection, _clock: Clock, _name: str) -> None:
    connection.send(("ready",))
    connection.recv()
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_died_otherwise_ends_the_reading() -> None:
    pool = WorkerPool(1, 0.1, kill_itself, (), Journal())
    try:
        pool.wait_until_ready()
        with pytest.raises(WorkerError, match=r"ended unexpectedly.*fewer --workers"):
            list(pool.read([Task(0, Unit("made", "a"))]))
    finally:
        pool.close()


def test_a_page_that_takes_too_long_is_skipped_and_all_others_are_kept(tmp_path: Path) -> None:
    # The strict reader takes many seconds for a page of sixteen megabytes.
    slow = "".join(f"<p>word{i} <b>bold</b></p>\n" for i in range(600_000)).encode()
    pages = [warc(f"http://made.test/{i}", http(b"<title>%d</title><p>good" % i)) for i in range(5)]
    pages.insert(3, warc("http://made.test/slow", http(slow)))
    (tmp_path / "made.warc.gz").write_bytes(b"".join(members(pages)))
    limits = Limits(page_seconds=0.5, tokens=50_000_000)
    plan = ReadPlan([str(tmp_path / "made.warc.gz")], tmp_path / "a.kin", "strict", workers=2, limits=limits)
    report = read_sources(plan)
    corpus = Corpus.open(tmp_path / "a.kin")
    assert [corpus.page_url(i)[-1] for i in range(len(corpus))] == list("01234")
    assert report.facts["skipped"]["too slow"] == 1
    assert report.facts["html_records"] == 6
    (example,) = report.facts["damaged_examples"]
    assert example == "made.warc.gz: http://made.test/slow: too slow: more than 0.5 s of processor time to read it"


def test_a_small_folder_is_read_in_this_process_and_nothing_else_that_might_take_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, archive = tmp_path / "site", tmp_path / "a.warc.gz"
    folder.mkdir()
    (folder / "a.html").write_text("<p>a small page")
    archive.write_bytes(b"".join(members([warc("http://made.test/", http(b"<p>a small page"))])))

    def started_processes(source: Path, **options: Any) -> bool:
        asked: list[ReadPlan] = []

        def read(plan: ReadPlan, tasks: list[Task], journal: Journal, parts: Path) -> Iterator[int]:
            asked.append(plan)
            return reading._read_here(plan, tasks, journal, parts)

        monkeypatch.setattr(reading, "_read_in_processes", read)
        read_sources(ReadPlan([str(source)], tmp_path / "out.kin", "strict", 2, replace=True, **options))
        return bool(asked)

    assert not started_processes(folder, small_here=True)
    assert started_processes(folder)
    assert started_processes(archive, small_here=True)
    assert started_processes(folder, small_here=True, limits=Limits(pdf_pages=1))
    with (folder / "b.html").open("wb") as file:
        file.truncate(5 << 20)
    assert started_processes(folder, small_here=True)
