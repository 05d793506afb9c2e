"""Damaged collections: refused when they are served if sizes and headers show it; else a clear error, and nothing worse."""

import json
import multiprocessing
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, app, load_verbs
from pagekin.collection import ReloadingCollection, explain_damage, refuse_damaged
from pagekin.collection import reloading as leaf_module
from pagekin.routers import Network, Place, Router, ask_health
from pagekin.routers.up import open_nodes
from pagekin.store import KinError, check_files
from pagekin.store import check as check_module

from .damaging import files_of, garbage, trial
from .webs import Running, ask, build_leaf, eager, free_ports, get, host_records, post, request, wait_for

load_verbs()
SECONDS = 120.0
"""For all questions to one collection, on a busy machine."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small collection; not to be changed."""
    records = host_records(8)
    return build_leaf(tmp_path_factory.mktemp("whole") / "whole.kin", records["birds"] + records["elements"], 2)


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """The same, to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "copy.kin"))


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _grow(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"\0")


def _behead(file: Path) -> None:
    file.write_bytes(b"\0" * 128 + file.read_bytes()[128:])


def _replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut": _cut, "empty": _empty, "grown": _grow, "gone": Path.unlink, "a folder": _replace_by_folder, "beheaded": _behead,
}  # fmt: skip


def served(path: Path) -> tuple[int, str]:
    """How `pagekin serve` ends, and what it says."""
    result = CliRunner().invoke(app, ["serve", str(path), "--port", str(free_ports(1)[0])])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.mark.parametrize("damage", DAMAGES)
def test_no_damaged_file_is_served(copy: Path, damage: str) -> None:
    """Every single one: what is wrong, and what to do, in a line or two."""
    for name, file in files_of(copy).items():
        if damage == "beheaded" and file.suffix != ".npy":
            continue
        raw = file.read_bytes()
        if damage in ("cut", "empty") and not raw:
            continue
        DAMAGES[damage](file)
        with pytest.raises(KinError) as refused:
            ReloadingCollection("copy", copy)
        said = str(refused.value)
        assert file.name in said and "pagekin check" in said and len(said) < 800, (name, said)
        if file.is_dir():
            file.rmdir()
        file.write_bytes(raw)
    assert ReloadingCollection("copy", copy).label.num_docs


@pytest.mark.parametrize(
    ("name", "damage"),
    [*(("posting.page", damage) for damage in DAMAGES)],
)
def test_serving_a_damaged_collection_ends_with_what_to_do(copy: Path, name: str, damage: str) -> None:
    file = files_of(copy)[name]
    DAMAGES[damage](file)
    code, said = served(copy)
    assert code == BAD_INPUT
    assert "damaged" in said and file.name in said and f"pagekin check {copy}" in said and "pagekin build" in said
    assert len(said.strip().splitlines()) <= 2


@pytest.mark.parametrize("raw", [b"", b"{", b"\0" * 500, b"[]", b'{"format": 1}', b"[" * 100_000])
def test_a_damaged_manifest_is_told(copy: Path, raw: bytes) -> None:
    (copy / "manifest.json").write_bytes(raw)
    code, said = served(copy)
    assert code == BAD_INPUT and "manifest.json is damaged" in said


def test_a_manifest_that_was_changed_is_told(copy: Path) -> None:
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["facts"]["pages"] = 10**6
    (copy / "manifest.json").write_text(json.dumps(manifest))
    code, said = served(copy)
    assert code == BAD_INPUT and "damaged: manifest.json has changed" in said


def test_a_label_that_was_changed_is_told(copy: Path) -> None:
    """It is read whole when a collection is opened, so a single byte shows."""
    for name in ("label.browsing", "label.routing", "label.refinement"):
        file = files_of(copy)[name]
        raw = file.read_bytes()
        for old, new in ((b'"num_docs":', b'"num_dogs":'), (b'"size":', b'"size":')):
            changed = raw.replace(old, new) if old != new else _other_digit(raw)
            assert changed != raw and len(changed) == len(raw)
            file.write_bytes(changed)
            with pytest.raises(KinError, match="damaged: its content label"):
                ReloadingCollection("copy", copy)
        file.write_bytes(raw)


def _other_digit(raw: bytes) -> bytes:
    at = raw.index(b'"size":') + len(b'"size":')
    return raw[:at] + (b"1" if raw[at : at + 1] != b"1" else b"2") + raw[at + 1 :]


def test_looking_at_sizes_reads_no_contents(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_arguments: Any) -> str:
        raise AssertionError("contents are read")

    monkeypatch.setattr(check_module, "file_checksum", never)
    assert list(check_files(whole, contents=False)) == []
    refuse_damaged(whole)
    with pytest.raises(AssertionError, match="contents"):
        list(check_files(whole))


def test_what_lies_there_besides_is_no_damage(copy: Path) -> None:
    (copy / "notes.txt").write_text("mine")
    assert list(check_files(copy, contents=False)) == []
    assert ReloadingCollection("copy", copy).label.num_docs
    error = IndexError("ours")
    assert explain_damage(copy, error) is error


# -- damage that shows only in answers ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def apart() -> Iterator[ProcessPoolExecutor]:
    """A process that may die or hang."""
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    yield pool
    for process in pool._processes.values():
        process.kill()
    pool.shutdown(wait=False, cancel_futures=True)


KINDS = (
    "about.", "alias.", "anchor.", "archive.", "bag.", "bagterm.", "copy.", "epoch.", "form.", "host.",
    "inlink.", "label.", "link.", "list.", "mark.", "page.", "posting.", "record.", "signature.", "snippet.",
    "stream.", "term.", "text.", "title.", "tree.", "url.",
)  # fmt: skip


def test_all_files_are_of_a_kind_that_is_tried(whole: Path) -> None:
    assert {name for name in files_of(whole) if not name.startswith(KINDS)} == set()


@pytest.mark.parametrize("kind", KINDS)
def test_garbage_in_any_file_gives_clear_errors_at_worst(
    whole: Path, tmp_path: Path, apart: ProcessPoolExecutor, kind: str
) -> None:
    for number, name in enumerate(sorted(name for name in files_of(whole) if name.startswith(kind))):
        way = ("noise", "ones", "backwards")[number % 3]
        found = apart.submit(trial, whole, tmp_path, name, way).result(SECONDS)
        if "refused" in found:
            assert "damaged" in found["refused"] and "pagekin check" in found["refused"], (name, way, found)
            continue
        assert found["strange"] == [], (name, way)
        if found["failed"]:
            assert found["health"]["error"].startswith("it is damaged: "), (name, way, found["health"])
            assert found["counted"], "it counts"


def test_asking_a_damaged_collection_ends_with_what_to_do(copy: Path) -> None:
    file = files_of(copy)["page.language"]
    file.write_bytes(garbage(file, "ones"))
    done = CliRunner().invoke(app, ["search", str(copy), "the OR bird"])
    assert done.exit_code == BAD_INPUT, done.exception
    assert f"{copy} is damaged: {file.name} has changed" in done.output and f"pagekin check {copy}" in done.output


def test_an_error_of_ours_is_not_blamed_on_a_whole_collection(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leaf = ReloadingCollection("whole", whole)

    async def fails(_request: Any) -> Any:
        raise IndexError("a mistake of ours")

    monkeypatch.setattr(leaf, "refine", fails)
    (port,) = free_ports(1)
    with Running([(leaf, Place("127.0.0.1", port))]):
        url = f"http://127.0.0.1:{port}/"
        first = post(url, "refine", query="x")
        assert first.status == 500
        wait_for(lambda: post(url, "refine", query="x").json["detail"] == "internal error: IndexError")
        assert get(url, "refine", q="x").json["detail"] == "internal error: IndexError"
        assert get(url, "health").json["error"] == ""


# -- in a network ---------------------------------------------------------------------------------------------------------


def test_a_damaged_leaf_is_down_with_the_reason_and_the_rest_runs(
    whole: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaf_module, "_LOOK_AGAIN", 0.05)
    ports = free_ports(4)
    urls = dict(zip(("root", "good", "bad", "none"), (f"http://127.0.0.1:{port}/" for port in ports), strict=True))
    (copy.parent / "network.toml").write_text(
        f'[network]\nname = "n"\nallow = ["loopback"]\n[[router]]\nname = "root"\nurl = "{urls["root"]}"\n'
        + "".join(
            f'[[site]]\nname = "{name}"\nurl = "{urls[name]}"\ncollection = "{at}"\nparents = ["root"]\n'
            for name, at in (("good", whole), ("bad", copy), ("none", copy.parent / "none.kin"))
        )
    )
    file = files_of(copy)["posting.page"]
    raw = file.read_bytes()
    _cut(file)
    network = Network.load(copy.parent)
    opened = open_nodes(network, network.by_name)
    lines = opened.complaints
    assert len(lines) == 2 and len(opened.services) == 4
    assert f"{copy} is damaged: posting.page" in lines[0] and "does not exist" in lines[1]
    for service, _place in opened.services:
        if isinstance(service, Router):
            service.settings = eager(settle=0.2)
    with Running(opened.services):
        wait_for(lambda: get(urls["root"], "health").json["ready"])
        rows = {row["name"]: row for row in ask_health(network, 10)}
        assert [rows[name]["up"] for name in ("root", "good", "bad", "none")] == [True, True, False, False]
        assert "copy.kin is damaged: posting.page" in rows["bad"]["error"] and "does not exist" in rows["none"]["error"]
        assert str(copy) not in json.dumps(rows), "where it lies is nobody's business"
        answer = ask(urls["root"], "search", query="the OR bird", deadline=10.0)
        assert {one["path"][1] for one in answer["results"]} == {"good"}
        assert sorted(reason.partition(":")[0] for reason in answer["partial"]) == ["root/bad", "root/none"]
        assert any("copy.kin is damaged" in reason for reason in answer["partial"])
        for operation in ("label", "summary", "search?q=x", "related?url=x"):
            reply = request(urls["bad"] + operation)
            assert reply.status == 503 and "copy.kin is damaged" in reply.json["detail"]
        assert post(urls["bad"], "search", query="x").status == 503
        assert ask(urls["bad"], "tree")["error"].startswith("copy.kin is damaged")
        assert 'pagekin_error{router="bad"} 1' in get(urls["bad"], "metrics").body.decode()
        file.write_bytes(raw)
        wait_for(lambda: get(urls["bad"], "health").json["ready"])
        assert ask(urls["bad"], "search", query="the OR bird")["total"] > 0
        wait_for(lambda: ask(urls["root"], "search", query="the OR bird OR gas", deadline=10.0)["asked"][1]["results"])


def test_a_collection_that_is_damaged_while_it_is_served_answers_as_it_was(
    copy: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken build beside it changes nothing until it is whole."""
    monkeypatch.setattr(leaf_module, "_LOOK_AGAIN", 0.0)
    leaf = ReloadingCollection("copy", copy)
    documents = leaf.label.num_docs
    manifest = (copy / "manifest.json").read_bytes()
    (copy / "manifest.json").write_bytes(manifest[: len(manifest) // 2])
    assert leaf.label.num_docs == documents
    assert "manifest.json is damaged" in leaf.error and str(copy) not in leaf.error
    (copy / "manifest.json").write_bytes(manifest)
    assert leaf.label.num_docs == documents and leaf.error == ""
