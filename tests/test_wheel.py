"""A wheel brings its kernels compiled: from an empty environment to the first answer nothing is compiled."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = {
    "index.html": "<title>Trees</title><p>Trees of the north: <a href=oak.html>oak</a>, <a href=elm.html>elm</a>.",
    "oak.html": "<title>Oak</title><p>An oak is a tree with acorns and lobed leaves. See <a href=elm.html>the elm tree</a>.",
    "elm.html": "<title>Elm</title><p>An elm is a tree with toothed leaves. See <a href=oak.html>the oak tree</a>.",
}


def build(target: str, folder: Path, **more: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **more}, check=True, capture_output=True)
    (file,) = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `make wheels` makes."""
    source = {"PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-m", "pagekin", "compile"], env={**os.environ, **source}, check=True)
    return build("wheel", tmp_path_factory.mktemp("wheel"), PAGEKIN_COMPILED_WHEEL="1", **source)


def test_a_compiled_wheel_is_for_this_interpreter_and_pins_the_compiler(wheel: Path) -> None:
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert wheel.name.endswith(f"-{tag}-{tag}-{platform}.whl")
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))
        files = set(archive.namelist())
    assert f"Requires-Dist: numba=={version('numba')}\n" in metadata
    modules = {name for name in files if name.endswith(".py")}
    assert len(modules) > 200
    assert {cache_from_source(name) for name in modules} <= files


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`pagekin` of an environment with the wheel alone; what it needs besides is taken from ours, not from a network."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    install = ["pip", "--python", str(folder / "bin/python"), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", *install], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin/pagekin"


def compiled_code(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*.kernel")}


def first_answer(command: Path, folder: Path) -> str:
    """Build a small site and ask for related pages; whatever is compiled is kept below `folder` or beside the package."""
    (folder / "site").mkdir(parents=True)
    for name, html in PAGES.items():
        (folder / "site" / name).write_text(html)
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    variables |= {"XDG_CACHE_HOME": str(folder / "cache"), "TMPDIR": str(folder)}
    said = ""
    for verb in (
        ["build", "site", "--out", "site.kin", "--workers", "2"],
        ["related", "site.kin", "http://localhost/oak.html"],
    ):
        done = subprocess.run([command, *verb], cwd=folder, env=variables, capture_output=True, text=True, check=True)
        said = done.stdout
        assert "compil" not in done.stderr
    return said


def test_from_an_empty_environment_to_the_first_answer_nothing_is_compiled(command: Path, tmp_path: Path) -> None:
    environment = command.parent.parent
    brought = compiled_code(environment)
    assert "http://localhost/elm.html" in first_answer(command, tmp_path / "one")
    assert compiled_code(environment) == brought
    assert not compiled_code(tmp_path)
    # Without its file a kernel is compiled, and we notice.
    missing = {path for path in brought if path.name.startswith("texts.hash_strings-")}
    for path in missing:
        path.unlink()
    first_answer(command, tmp_path / "other")
    assert compiled_code(environment) > brought - missing


def test_the_sources_and_the_wheel_for_every_machine_hold_no_compiled_code(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path / "sdist")) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    assert {"scripts/wheel_hook.py", "src/pagekin/store/kernel_list.txt", "LICENSE", "Makefile"} <= sources
    wheel = build("wheel", tmp_path / "wheel")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
    assert "pagekin/store/kernel_list.txt" in files
    assert not [name for name in files | sources if name.endswith((".kernel", ".pyc"))]
