"""The full-text index is made all or nothing, kept with the collection, and proven to be of it."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.hypertext import Corpus
from pagekin.store import Kin, KinError, KinWriter, check_files, open_kin
from pagekin.text import ANALYSER, TEXT_ARRAYS, TextIndex, check_text, make, make_text, parse_query
from tests.bags.webs import record
from tests.sources.making import http, warc
from tests.store.kins import in_child

from .collections import add_text_index, read, searchable

PAGES = {
    "http://a.test/1": "<title>Locks</title><p>Virtual memory, and a lock.",
    "http://a.test/2": "<p>Memory alone.",
    "http://b.test/3": "<p>virtual memory again",
}
PHRASE = parse_query('"virtual memory"')


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return searchable(tmp_path / "small.kin", PAGES).corpus.kin.path


def text_arrays(path: Path) -> dict[str, tuple[str, bytes]]:
    kin = open_kin(path)
    return {name: (kin[name].dtype.str, kin[name].tobytes()) for name in kin.arrays if name.startswith(TEXT_ARRAYS)}


def test_an_index_is_added_and_everything_else_is_kept(tmp_path: Path) -> None:
    path = read(tmp_path / "a.kin", (record(url, html) for url, html in PAGES.items()))
    before = open_kin(path)
    told: list[tuple[str, float]] = []
    facts = add_text_index(path, lambda stage, share: told.append((stage, share)))
    after = open_kin(path)
    assert dict(after.facts) == {**before.facts, **facts}
    assert facts["text"]["pages"] == 3
    assert {name: after.manifest["files"][name] for name in before.arrays} == before.manifest["files"]
    assert list(dict.fromkeys(stage for stage, _share in told)) == ["forms", "postings"]
    assert all(0 <= share <= 1 for _stage, share in told)
    assert told[-1] == ("postings", 1.0)
    assert not list(check_files(path))
    assert not list(check_text(after))


def test_the_same_arrays_and_answers_whatever_the_threads_and_batches(
    demo_kin: Path, demo: TextIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "demo.kin"
    shutil.copytree(demo_kin, path)
    expected = text_arrays(demo_kin)
    queries = [parse_query(text) for text in ('"of the"', "water OR title:river", '"the river" -water')]
    for threads, words, entries in ((1, 1 << 20, 1 << 24), (2, 1_000, 5_000), (3, 1, 100_000)):
        monkeypatch.setattr(make, "_BATCH_WORDS", words)
        monkeypatch.setattr(make, "_ENTRIES_AT_ONCE", entries)
        monkeypatch.setattr("pagekin.hypertext.read.default_workers", lambda: 3)
        add_text_index(path, threads=threads)
        assert text_arrays(path) == expected
        again = TextIndex.at(path)
        assert [again.search(query, 50) for query in queries] == [demo.search(query, 50) for query in queries]


def test_two_builds_of_the_same_input_give_the_same_files(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        path = read(tmp_path / name / "web.kin", (record(url, html) for url, html in PAGES.items()))
        add_text_index(path)
        files.append({file.name: file.read_bytes() for file in path.rglob("*") if file.name != "manifest.json"})
        manifest = json.loads((path / "manifest.json").read_text())
        files[-1]["manifest"] = json.dumps([manifest["files"], manifest["facts"]["text"]]).encode()
    assert files[0] == files[1]


def test_an_index_can_be_made_with_the_collection_in_one_commit(tmp_path: Path) -> None:
    path = read(tmp_path / "a.kin", (record(url, html) for url, html in PAGES.items()))
    kin = open_kin(path)
    with KinWriter(tmp_path / "b.kin", "test") as writer:
        for name, values in kin.arrays.items():
            writer.put(name, values)
        corpus = Corpus(writer.view(kin.facts))
        facts = make_text(writer, corpus)
        assert not [file for file in writer.work.iterdir() if file.suffix != ".npy"]
        writer.commit({**kin.facts, **facts})
    assert TextIndex.at(tmp_path / "b.kin").count(PHRASE) == 2
    assert not list(check_text(open_kin(tmp_path / "b.kin")))


def test_a_collection_without_pages_can_be_asked(tmp_path: Path) -> None:
    path = read(tmp_path / "none.kin", [warc("http://a.test/x", http(b"...", "Content-Type: image/png"))])
    add_text_index(path)
    index = TextIndex.at(path)
    assert index.search(parse_query('a OR "b c"'), 10).total == index.count(PHRASE) == 0
    assert not list(check_text(open_kin(path)))


def test_a_reader_goes_on_after_a_new_index_was_committed(small: Path) -> None:
    index = TextIndex.at(small)
    add_text_index(small)
    assert index.count(PHRASE) == 2
    assert index.search(parse_query("lock"), 5).pages == [0]
    assert TextIndex.at(small).count(PHRASE) == 2


def test_a_reader_leaves_nothing_behind(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = {file: file.stat().st_mtime_ns for file in small.rglob("*")}
    for _ in range(2):
        index = TextIndex.at(small)
        assert list(scratch.iterdir()) == []
        assert index.count(PHRASE) == 2
    assert {file: file.stat().st_mtime_ns for file in small.rglob("*")} == before
    assert not list(check_files(small))


def test_asking_does_not_load_the_compiler(small: Path) -> None:
    script = (
        "import sys; from pagekin.text import TextIndex, make_snippet, parse_query\n"
        "index = TextIndex.at(sys.argv[1]); query = parse_query('\"virtual memory\"')\n"
        "print(index.search(query, 5).total, make_snippet(index.corpus, 0, query)[0][0], 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(small)], capture_output=True, text=True, check=True)
    assert done.stdout == "2 Virtual False\n"


def test_a_relative_path_is_enough(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small.parent)
    assert TextIndex.at(small.name).count(PHRASE) == 2


@pytest.mark.parametrize("most", [0, 150, 1_000])
def test_files_that_may_not_grow_leave_the_old_index(small: Path, most: int) -> None:
    before = {file: file.read_bytes() for file in small.rglob("*") if file.is_file() and file.name != ".lock"}

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        with pytest.raises(
            KinError, match=r"File too large.*It is as it was before; make room|cannot be written: File too large"
        ):
            add_text_index(small)

    assert in_child(limited) == 0
    assert {file: file.read_bytes() for file in small.rglob("*") if file.is_file() and file.name != ".lock"} == before
    assert not list(check_files(small))
    assert TextIndex.at(small).count(PHRASE) == 2


# -- an index that does not fit -----------------------------------------------------------------------------------------


def with_facts(kin: Kin, **changes: Any) -> Kin:
    facts = {**kin.facts, "text": {**kin.facts["text"], **changes}}
    return Kin(kin.path, {**kin.manifest, "facts": facts}, kin.arrays)


def test_a_collection_without_an_index_says_how_to_make_one(tmp_path: Path) -> None:
    path = read(tmp_path / "a.kin", (record(url, html) for url, html in PAGES.items()))
    with pytest.raises(KinError, match=rf"has no full-text index\. Make it with: pagekin index {path}"):
        TextIndex.at(path)
    assert not list(check_text(open_kin(path)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"analyser": "porter-0"}, rf"analyser 'porter-0', and this Pagekin asks by '{ANALYSER}'"),
        ({"analyser": None}, "analyser 'None'"),
        ({"pages": 2}, "made of other pages"),
        ({"corpus": {}}, "made of other pages"),
    ],
)
def test_an_index_that_does_not_fit_is_refused_and_found(small: Path, changes: dict[str, Any], reason: str) -> None:
    kin = with_facts(open_kin(small), **changes)
    with pytest.raises(KinError, match=f"{reason}.*Make it with: pagekin index"):
        TextIndex.open(Corpus(kin))
    (finding,) = check_text(kin)
    assert finding.where == "the full-text index"
    assert "Make it again" in finding.what


def test_an_index_of_another_collection_is_refused_and_found(small: Path, tmp_path: Path) -> None:
    other = {url: html.replace("Virtual", "Real") for url, html in PAGES.items()}
    other_kin = searchable(tmp_path / "other.kin", other).corpus.kin
    mine = open_kin(small)
    mixed = {**other_kin.arrays, **{name: array for name, array in mine.arrays.items() if name.startswith(TEXT_ARRAYS)}}
    kin = Kin(other_kin.path, {**other_kin.manifest, "facts": {**other_kin.facts, "text": mine.facts["text"]}}, mixed)
    with pytest.raises(KinError, match="made of other pages"):
        TextIndex.open(Corpus(kin))
    assert [finding.where for finding in check_text(kin)] == ["the full-text index"]


@pytest.mark.parametrize(
    ("name", "change", "where"),
    [
        ("form.of_term", lambda a: a[:-1], "form.of_term"),
        ("form.of_term", lambda a: a + np.uint32(100), "form.of_term"),
        ("form.bytes", lambda a: a[::-1], "form.bytes"),
        ("posting.page", lambda a: a[:-1], "posting.page"),
        ("posting.page", lambda a: a + np.uint8(9), "posting.page"),
        ("posting.page", lambda a: a[::-1], "posting.page"),
        ("posting.attributes", lambda a: a + np.uint8(64), "posting.attributes"),
        ("posting.count", lambda a: a + np.uint8(1), "posting.count"),
        ("posting.offsets", lambda a: a[::-1], "posting.offsets"),
        ("posting.offsets", lambda a: a[:-1], "posting.offsets"),
        ("posting.where", lambda a: a[:-1], "posting.where_offsets"),
        ("posting.where", lambda a: a + np.uint16(100), "posting.where"),
        ("posting.where_offsets", lambda a: a[::-1], "posting.where_offsets"),
        ("posting.bound_form", lambda a: a[::-1], "posting.bound_form"),
        ("posting.bound_pages", lambda a: a[:-1], "posting.bound_pages"),
        ("posting.bound_weight", lambda a: a[:-1], "posting.bound_weight"),
        ("posting.bound_words", lambda a: a[:-1], "posting.bound_words"),
        ("posting.bound_title", lambda a: a[:-1], "posting.bound_title"),
    ],
)
def test_arrays_that_do_not_hang_together_are_found(small: Path, name: str, change: Any, where: str) -> None:
    kin = open_kin(small)
    broken = Kin(kin.path, kin.manifest, {**kin.arrays, name: change(np.array(kin[name]))})
    assert where in [finding.where for finding in check_text(broken)]


def without(kin: Kin, *names: str) -> Kin:
    return Kin(
        kin.path, kin.manifest, {name: array for name, array in kin.arrays.items() if not name.startswith(names)}
    )


@pytest.mark.parametrize("compiled", [False, True])
def test_an_index_of_an_earlier_version_without_places_and_bounds_gives_the_same_answers(
    demo: TextIndex, compiled: bool
) -> None:
    older = without(demo.corpus.kin, "posting.where", "posting.bound_")
    assert not list(check_text(older))
    index = TextIndex.open(Corpus(older), compiled)
    for text in ("the OR of", "the of", '"of the"', 'title:"the river" OR "the sea"', "-the water", "title:river"):
        assert index.search(parse_query(text), 20) == demo.search(parse_query(text), 20)


def test_readers_and_writers_at_once(small: Path) -> None:
    writer = os.fork()
    if writer == 0:
        try:
            for _ in range(6):
                add_text_index(small, threads=1)
        finally:
            os._exit(0)
    asked = 0
    while os.waitpid(writer, os.WNOHANG)[0] == 0:
        assert TextIndex.at(small).count(PHRASE) == 2
        asked += 1
    assert asked
    assert not list(check_files(small))
