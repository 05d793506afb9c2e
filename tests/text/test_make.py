"""The full-text index is made all or nothing, kept with the collection, and proven to be of it."""

import json
import os
import random
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
from pagekin.text import (
    ANALYSER,
    FOLDER,
    TEXT_ARRAYS,
    TextIndex,
    add_text_index,
    check_text,
    make,
    make_text,
    parse_query,
)
from tests.bags.webs import record
from tests.sources.making import http, warc
from tests.store.kins import in_child

from .collections import read, searchable

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
    assert list(dict.fromkeys(stage for stage, _share in told)) == ["forms", "postings", "phrases"]
    assert all(0 <= share <= 1 for _stage, share in told)
    assert told[-1] == ("phrases", 1.0)
    assert not list(check_files(path))
    assert not list(check_text(after))
    assert not [file for file in after.folder(FOLDER).iterdir() if file.suffix == ".lock"]


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


def test_an_index_can_be_made_with_the_collection_in_one_commit(tmp_path: Path) -> None:
    path = read(tmp_path / "a.kin", (record(url, html) for url, html in PAGES.items()))
    kin = open_kin(path)
    with KinWriter(tmp_path / "b.kin", "test") as writer:
        for name, values in kin.arrays.items():
            writer.put(name, values)
        corpus = Corpus(writer.view(kin.facts))
        facts = make_text(writer, corpus)
        assert not [file for file in writer.work.iterdir() if file.suffix not in (".npy", ".files")]
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
    folder = index.corpus.kin.folder(FOLDER)
    add_text_index(small)
    assert not folder.exists()
    assert index.count(PHRASE) == 2
    assert index.search(parse_query("lock"), 5).pages == [0]
    assert TextIndex.at(small).count(PHRASE) == 2


def test_a_reader_leaves_nothing_behind(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = {file: file.stat().st_mtime_ns for file in small.rglob("*")}
    for _ in range(50):  # a thread of tantivy's looks into the folder of links while it goes
        index = TextIndex.at(small)
        assert list(scratch.iterdir()) == []
        assert index.count(PHRASE) == 2
    assert {file: file.stat().st_mtime_ns for file in small.rglob("*")} == before
    assert not list(check_files(small))


def test_asking_does_not_load_the_compiler(small: Path) -> None:
    script = (
        "import sys; from pagekin.text import TextIndex, parse, snippet\n"
        "index = TextIndex.at(sys.argv[1]); query = parse('\"virtual memory\"')\n"
        "print(index.search(query, 5).total, snippet(index.corpus, 0, query)[0][0], 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script, str(small)], capture_output=True, text=True, check=True)
    assert done.stdout == "2 Virtual False\n"


def test_a_relative_path_is_enough(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small.parent)
    assert TextIndex.at(small.name).count(PHRASE) == 2


def test_others_may_read_what_others_may_read_of_the_arrays(small: Path) -> None:
    modes = {file.stat().st_mode & 0o777 for file in open_kin(small).folder(FOLDER).iterdir()}
    assert modes == {file.stat().st_mode & 0o777 for file in small.glob("*.npy")}


def test_a_damaged_collection_is_refused_before_it_is_indexed(small: Path) -> None:
    manifest = json.loads((small / "manifest.json").read_text())
    manifest["facts"]["pages"] = 4
    (small / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(KinError, match=r"is damaged.*Run: pagekin check"):
        add_text_index(small)
    with pytest.raises(KinError, match="does not exist"):
        add_text_index(small.parent / "nowhere.kin")


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
    assert finding.where == FOLDER
    assert "Make it again" in finding.what


def test_an_index_of_another_collection_is_refused_and_found(small: Path, tmp_path: Path) -> None:
    other = {url: html.replace("Virtual", "Real") for url, html in PAGES.items()}
    other_kin = searchable(tmp_path / "other.kin", other).corpus.kin
    mine = open_kin(small)
    mixed = {**other_kin.arrays, **{name: array for name, array in mine.arrays.items() if name.startswith(TEXT_ARRAYS)}}
    kin = Kin(other_kin.path, {**other_kin.manifest, "facts": {**other_kin.facts, "text": mine.facts["text"]}}, mixed)
    with pytest.raises(KinError, match="made of other pages"):
        TextIndex.open(Corpus(kin))
    assert [finding.where for finding in check_text(kin)] == [FOLDER]


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
    ],
)
def test_arrays_that_do_not_hang_together_are_found(small: Path, name: str, change: Any, where: str) -> None:
    kin = open_kin(small)
    broken = Kin(kin.path, kin.manifest, {**kin.arrays, name: change(np.array(kin[name]))})
    assert where in [finding.where for finding in check_text(broken)]


def test_a_lost_or_broken_folder_is_found_and_refused(small: Path) -> None:
    folder = open_kin(small).folder(FOLDER)
    whole = {file.name: file.read_bytes() for file in folder.iterdir()}
    for name in sorted(whole):
        for content in (None, b"", whole[name][: len(whole[name]) // 2], b"\0" * len(whole[name])):
            (folder / name).unlink()
            if content is not None:
                (folder / name).write_bytes(content)
            if whole[name] != content:
                assert [finding.where for finding in check_files(small)] == [f"{folder.name}/{name}"]
            # Which damage tantivy notices is its own affair; what it notices is refused with what to do.
            try:
                TextIndex.at(small)
            except KinError as refused:
                assert "Run: pagekin check" in str(refused)
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_bytes(whole[name])
    shutil.rmtree(folder)
    with pytest.raises(KinError, match="cannot be read"):
        TextIndex.at(small)
    assert [finding.where for finding in check_text(open_kin(small))] == [FOLDER]


def test_damage_that_shows_only_at_a_question_is_told_from_other_errors(small: Path, capfd: Any) -> None:
    folder = open_kin(small).folder(FOLDER)
    files = [file for file in folder.iterdir() if file.suffix in (".idx", ".pos", ".term")]
    whole = {file: file.read_bytes() for file in files}
    refused = 0
    for seed in range(60):
        chance = random.Random(seed)
        file = chance.choice(sorted(files))
        changed = bytearray(whole[file])
        for _ in range(chance.randrange(1, 40)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        file.write_bytes(changed)
        try:
            index = TextIndex.at(small)
            for text in ('"virtual memory"', 'title:"virtual memory"', '"a lock"'):
                assert 0 <= index.count(parse_query(text)) <= 3
        except KinError as error:
            assert "Run: pagekin check" in str(error)
            refused += 1
        file.write_bytes(whole[file])
    assert refused > 10
    capfd.readouterr()  # tantivy's own words about it


def test_an_index_whose_folder_is_gone_from_the_manifest_counts_as_none(small: Path) -> None:
    # So an older Pagekin leaves it that knows nothing of folders.
    kin = open_kin(small)
    manifest = {key: value for key, value in kin.manifest.items() if key != "folders"}
    older = Kin(kin.path, manifest, kin.arrays)
    with pytest.raises(KinError, match="has no full-text index"):
        TextIndex.open(Corpus(older))
    assert [finding.where for finding in check_text(older)] == [FOLDER]


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


def test_files_that_vanish_while_they_are_opened_are_missed_at_once(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tantivy

    folder = Corpus.open(small).kin.folder(FOLDER)
    opened = tantivy.Index.open

    class Index:
        """Opens as tantivy does, just after a writer has begun to remove what it replaced."""

        @staticmethod
        def open(name: str) -> object:
            for file in folder.glob("*.pos"):
                file.unlink()
            return opened(name)

    monkeypatch.setattr(tantivy, "Index", Index)
    with pytest.raises(KinError, match=r"cannot be read: .*\.pos"):
        TextIndex.open(Corpus.open(small))
