"""`pagekin demo`: builds once, serves at once, and leaves alone what is not its own."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from pagekin.cli import demo
from pagekin.cli.app import app, load_verbs
from tests.bags.webs import record
from tests.routers.webs import build_leaf, get, request


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[tuple[str, str]]:
    """(the address on a line of its own, what was said before on standard error)."""
    command = [sys.executable, "-c", "from pagekin.cli import main; main()", "demo", *arguments]
    piped = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with (folder / "errors").open("w+") as errors:
        started = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True, env=piped)
        assert started.stdout is not None
        try:
            address = next((line for line in started.stdout if line.startswith("http://")), "")
            assert address, (folder / "errors").read_text()
            yield address.rstrip("\n"), (folder / "errors").read_text()
        finally:
            started.terminate()
            started.wait(20)
            started.stdout.close()
    assert "Traceback" not in (folder / "errors").read_text()


def refused(*arguments: str | Path) -> tuple[int, str]:
    """(exit code, what was said)."""
    load_verbs("demo")
    done = CliRunner().invoke(app, ["demo", *map(str, arguments)])
    assert isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code != 0
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


def test_the_demo_is_built_and_listens_where_it_says(folder: Path) -> None:
    with running(folder) as (address, said):
        assert "Building" in said
        reply = request(address, headers={"Accept": "text/html"})
        assert reply.status == 200
        assert reply.headers["content-type"].startswith("text/html")
        found = get(address, "search", q="carbon", limit=3).json
        assert found["results"][0]["url"].startswith("http://elements.example/")
        first = urlsplit(address).port
        os.utime(folder / "demo.kin/manifest.json")
        with running(folder) as (other, said):
            assert "Building" not in said
            assert urlsplit(other).port != first
            assert get(other, "healthz").status == 200
        assert refused("--out", folder / "demo.kin", "--port", str(first)) == (
            3, f"pagekin: cannot listen at 127.0.0.1:{first}: Address already in use. "
            "Is something running there already?\n",
        )  # fmt: skip


def test_a_demo_of_another_version_or_half_of_one_is_not_taken(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "demo.kin"
    shutil.copytree(folder / "demo.kin", mine)
    manifest = mine / "manifest.json"
    os.utime(manifest)
    assert demo._is_fresh(mine)
    os.utime(manifest, (0, 0))
    assert not demo._is_fresh(mine)
    os.utime(manifest)
    for name, value in (("pagekin", "0.0.1"), ("label", None)):
        told = json.loads((folder / "demo.kin/manifest.json").read_bytes())
        told["facts"].pop(name)
        told["facts"] |= {name: value} if value else {}
        manifest.write_text(json.dumps(told))
        assert not demo._is_fresh(mine)
    assert not demo._is_fresh(tmp_path / "none.kin")


def test_what_is_not_the_demo_is_left_alone(tmp_path: Path) -> None:
    build_leaf(tmp_path / "mine.kin", [record(f"http://a.example/{n}", f"<p>volcano lava own{n}") for n in range(4)])
    (tmp_path / "notes.kin").mkdir()
    (tmp_path / "notes.kin/notes.txt").write_text("mine")
    (tmp_path / "file.kin").write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for name, words in (("mine.kin", "something else"), ("notes.kin", "notes.kin"), ("file.kin", "file.kin")):
        code, said = refused("--no-serve", "--out", tmp_path / name)
        assert (code, words in said) == (3, True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert refused("--no-serve", "--open")[0] == 2
