"""Building and indexing by the command: settings, damage, and what a first try shows."""

import json
import random
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pagekin.bags import PRESETS
from pagekin.similarity import INDEX_ARRAYS
from pagekin.store import open_kin
from tests.bags.webs import moved, record
from tests.command import pagekin

from .answers import CARBON, PAGE, answer, files_of_at_most, made, refused, urls, without_privileges

# -- building and indexing -----------------------------------------------------------------------------------------------


def test_build_tells_programs_what_it_read_and_indexed(building: tuple[Path, dict[str, Any]]) -> None:
    out, told = building
    assert told["pages"] == told["index"]["bags"] == 968
    assert told["index"]["strategy"]["name"] == "default"
    assert {"reading", "windows", "signing", "saving"} <= set(told["seconds"])
    assert told["index"] == open_kin(out).facts["index"]
    about = json.loads(pagekin("info", out, "--json").stdout)
    assert about["index"] == told["index"]
    arrays = {name: size for name, size in open_kin(out).bytes_on_disk.items() if name.startswith(INDEX_ARRAYS)}
    assert about["bytes"]["index"] == sum(arrays.values())


def test_a_shown_strategy_is_one_that_build_accepts(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>Whales</title><p>Whales sing. <a href=ice.html>Ice</a> melts.")
    (site / "ice.html").write_text("<title>Ice</title><p>Whales dive below the ice.")
    settings = ["--set", "window.size=8", "--set", "anchors.within_site=no", "--set", "name=mine"]
    shown = made(pagekin("index", "nowhere.kin", "--preset", "haveliwala2002", *settings, "--show")).stdout
    strategy = tomllib.loads(shown)
    assert strategy["window"]["size"] == 8
    assert strategy["signature"]["maker"] == "paper"
    (tmp_path / "mine.toml").write_text(shown)
    done = made(pagekin("build", site, "--out", tmp_path / "s.kin", "--strategy", tmp_path / "mine.toml",
                        "--set", "signature.m=16", "--parser", "strict"))  # fmt: skip
    assert "indexed 2 addresses by 'mine'" in done.stdout
    assert "16 values per signature (paper)" in done.stdout
    strategy["signature"]["m"] = 16
    assert open_kin(tmp_path / "s.kin").facts["index"]["strategy"] == strategy


def test_a_read_collection_is_indexed_without_its_sources_and_anew_by_another_strategy(tmp_path: Path) -> None:
    archive, kin = tmp_path / "a.warc", tmp_path / "a.kin"
    archive.write_bytes(
        record("http://a.example/whales", "<title>Whales</title>Whales eat krill. <a href=seals>Seals</a> eat fish.")
        + record("http://a.example/seals", "<title>Seals</title>Seals fear whales.")
    )
    made(pagekin("read", archive, "--out", kin, "--parser", "strict"))
    archive.unlink()
    refused(pagekin("related", kin, "http://a.example/whales"), 3, "not indexed", f"pagekin index {kin}")
    assert f"pagekin index {kin}" in made(pagekin("info", kin)).stdout
    told = json.loads(made(pagekin("index", kin, "--set", "links.scale=1", "--json")).stdout)
    assert told["bags"] == 2
    assert told["strategy"]["links"]["scale"] == 1
    assert urls(answer(kin, "http://a.example/whales")) == ["http://a.example/seals"]
    again = made(pagekin("index", kin, "--preset", "haveliwala2002")).stdout
    assert "indexed 2 addresses by 'haveliwala2002'" in again
    assert "replaces an index with other settings, 'default'" in again
    assert answer(kin, "http://a.example/whales")["query"]["strategy"] == "haveliwala2002"
    assert "'haveliwala2002'" in made(pagekin("info", kin)).stdout


def test_links_of_pages_that_do_not_cite_are_left_out(mine: Path) -> None:
    bag = json.loads(made(pagekin("bag", mine, CARBON, "--json")).stdout)
    done = made(pagekin("index", mine, "--not-citing", "http://links.example/", "--not-citing", "http://elements.ex"))
    assert re.search(r"^pages whose links were left out: \d\d+$", done.stdout, re.MULTILINE)
    assert "replaces an index with other settings" in done.stdout
    fewer = json.loads(made(pagekin("bag", mine, CARBON, "--json")).stdout)
    assert 0 < fewer["inlinks"] < bag["inlinks"]
    before = open_kin(mine).manifest
    refused(pagekin("index", mine, "--not-citing", "http://nobody.example/"), 3, "begins with http://nobody.example/")
    refused(pagekin("index", mine, "--not-citing", ""), 2, "--not-citing")
    assert open_kin(mine).manifest == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--preset", "nonsense"], ["no preset 'nonsense'", *PRESETS]),
        (["--set", "window.width=3"], ["no setting 'window.width'", "window.size", "signature.min_inlinks"]),
        (["--set", "window.kind=round"], ["window.kind", "basic, syntactic, topical", "'round'"]),
        (["--set", "window.size=1e99"], ["window.size", "0 to 1,000"]),
        (["--set", "signature.m=nan"], ["signature.m", "8 to 4,096"]),
        (["--set", "anchors.within_site=perhaps"], ["true, false"]),
        (["--set", "window.size"], ["NAME=VALUE"]),
        (["--set", "metric=cosine"], ["metric = 'jaccard'", "cosine"]),
        (["--preset", "default", "--strategy", "good.toml"], ["a preset or a strategy file, not both"]),
        (["--strategy", "broken.toml"], ["broken.toml is no TOML file", "line 2"]),
        (["--strategy", "binary.toml"], ["binary.toml is no TOML file"]),
        (["--strategy", "missing.toml"], ["missing.toml cannot be read"]),
        (["--strategy", "."], [". cannot be read"]),
        (
            "--set content.scale=0 --set title.scale=0 --set anchors.scale=0 --set outlinks.scale=0".split(),
            ["leaves everything out"],
        ),
        (["--workers", "-1"], ["--workers"]),
    ],
)
def test_a_wrong_strategy_is_wrong_usage_and_says_what_is_right(
    arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "good.toml").write_text("[window]\nsize = 3\n")
    (tmp_path / "broken.toml").write_text("name = 'x'\n[window\n")
    (tmp_path / "binary.toml").write_bytes(random.Random(1).randbytes(2_000))
    refused(pagekin("index", "a.kin", *arguments, cwd=tmp_path), 2, *words)


def test_a_wrong_strategy_is_found_before_anything_is_read(tmp_path: Path) -> None:
    done = pagekin("build", "missing.warc", "--out", "a.kin", "--set", "window.kind=round", cwd=tmp_path)
    refused(done, 2, "basic, syntactic, topical")
    assert not (tmp_path / "a.kin").exists()


def test_a_collection_without_pages_has_nothing_to_index(mine: Path, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(moved("http://a.example/", "http://b.example/"))
    done = pagekin("build", tmp_path / "a.warc", "--out", mine, "--replace", "--parser", "strict")
    refused(done, 3, "nothing to index", "1 redirect", "as it was")
    assert answer(mine, CARBON)["results"]
    made(pagekin("read", tmp_path / "a.warc", "--out", tmp_path / "a.kin", "--parser", "strict"))
    refused(pagekin("index", tmp_path / "a.kin"), 3, "nothing to index", "1 redirect")


# -- whole or not --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bag.weights", "bagterm.hash", "signature.rows", "list.words", "copy.rows"])
def test_check_finds_a_flipped_byte_in_the_index(mine: Path, name: str) -> None:
    file = next(mine.glob(f"{name}-*.npy"))
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2] ^= 0x10
    file.write_bytes(raw)
    done = pagekin("check", mine, "--json")
    assert done.returncode == 3
    told = json.loads(done.stdout)
    assert told["whole"] is False
    assert [finding["where"] for finding in told["findings"]] == [file.name]


def test_damage_does_not_reach_compiled_code(mine: Path, tmp_path: Path) -> None:
    def overwrite(name: str) -> None:
        file = next(mine.glob(f"{name}-*.npy"))
        file.write_bytes(file.read_bytes()[:128] + b"\xfe" * (file.stat().st_size - 128))

    overwrite("list.words")
    out = tmp_path / "x.jsonl"
    refused(pagekin("neighbours", mine, "--out", out), 3, "is damaged: list.words", f"pagekin index {mine}")
    assert not out.exists()
    overwrite("stream.words")
    refused(pagekin("index", mine), 3, "is damaged: stream", f"pagekin check {mine}")


def files_in(folder: Path) -> dict[Path, bytes]:
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_an_index_that_cannot_be_written_leaves_the_collection_as_it_was(mine: Path) -> None:
    before = files_in(mine)
    change = ["index", mine, "--set", "window.size=8"]
    refused(pagekin(*change, preexec_fn=files_of_at_most(300_000)), 3, "File too large", "It is as it was before")
    mine.chmod(0o555)
    refused(pagekin(*change, preexec_fn=without_privileges), 3, f"{mine} cannot be written: Permission denied")
    new = pagekin("build", "demo", "--out", mine / "new.kin", preexec_fn=without_privileges)
    refused(new, 3, "new.kin cannot be written: Permission denied")
    mine.chmod(0o755)
    assert files_in(mine) == before


def test_leftovers_of_a_stopped_build_are_named_but_no_damage(mine: Path) -> None:
    (mine / ".work-x").mkdir()
    done = made(pagekin("check", mine))
    assert ".work-x: is named by no manifest" in done.stdout
    assert f"{mine} is undamaged" in done.stdout
    (mine / "letter.txt").write_text("of someone else")
    assert pagekin("check", mine).returncode == 3


# -- the command itself --------------------------------------------------------------------------------------------------


def test_the_demo_gives_reasons_and_commands_that_work(tmp_path: Path) -> None:
    done = made(pagekin("demo", "--no-serve", "--out", "d.kin", cwd=tmp_path))
    assert "shares: carbon " in done.stdout
    assert "cited by http://" in done.stdout
    further = done.stdout.partition("Look further:\n")[2].splitlines()
    assert len(further) > 2
    for line in further:
        command, *arguments = shlex.split(line)
        assert command == "pagekin"
        assert made(pagekin(*arguments, cwd=tmp_path)).stdout


@pytest.mark.parametrize("more", [[CARBON, "--explain"], ["--html", "page.html"]], ids=["page", "html"])
def test_asking_loads_nothing_that_is_slow_to_load(demo: Path, more: list[str], tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    code = (
        "import sys; sys.argv = ['pagekin', 'related', *sys.argv[1:]]\n"
        "from pagekin.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code\n"
        "slow = ['numba', 'scipy', 'rich', 'pydantic', 'importlib.metadata', 'pyarrow', 'multiprocessing',\n"
        "        'pagekin.cli.build', 'pagekin.engines']\n"
        "assert not set(slow) & set(sys.modules), sorted(set(slow) & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(demo), *more]
    made(subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path))
