"""Every command of the tutorial and the how-tos does what the page says, from the files that its reader has."""

import functools
import http.server
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bags.webs import record
from tests.command import pagekin
from tests.demo_web import demo_pages

ROOT = Path(__file__).resolve().parent.parent
GUIDES = [*(ROOT / "docs" / "how-to").glob("*.md"), *(ROOT / "docs").glob("tutorial.md")]
BLOCK = re.compile(
    r'^(<!-- needs: (?P<needs>.+?) -->\n)?```(?P<kind>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.M,
)
SERVES = ("pagekin serve", "pagekin network up")
EXAMPLE = "http://127.0.0.1:8123/"
"""Where the site of an example is; the test serves one at a port that is free."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo web as a web archive."""
    path = tmp_path_factory.mktemp("given") / "crawl.warc"
    path.write_bytes(b"".join(record(page.url, page.html) for page in demo_pages()))
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A small site, served."""
    folder = tmp_path_factory.mktemp("site")
    links = "".join(f'<li><a href="{number}.html">Room {number}</a>' for number in range(12))
    (folder / "index.html").write_text(f"<title>Rooms</title><h1>Rooms of the house</h1><ul>{links}</ul>")
    for number in range(12):
        text = f"<title>Room {number}</title><p>Room {number} has {number + 2} windows and a door to room {(number + 1) % 12}."
        (folder / f"{number}.html").write_text(f'{text} <a href="{(number + 1) % 12}.html">the next room</a>')
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def write_elements(folder: Path) -> None:
    """Write a site of the demo web as a generator would, into a folder."""
    folder.mkdir()
    for page in demo_pages():
        host, _slash, path = page.url.partition("://")[2].partition("/")
        if host == "elements.example" and "/" not in path:
            (folder / (path or "index.html")).write_bytes(page.html)


def run(command: str, folder: Path) -> str:
    """Run a command of a guide; one that serves, until it says where."""
    program, *arguments = shlex.split(command)
    assert program == "pagekin", f"a guide tells {program}, which no test runs"
    if not command.startswith(SERVES):
        done = pagekin(*arguments, cwd=folder)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout
    more = ["--port", "0"] if command.startswith("pagekin serve") else []
    with subprocess.Popen(
        [sys.executable, "-m", "pagekin", *arguments, *more],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout
        said = ""
        for line in server.stdout:
            said += line
            if "http://127.0.0.1:" in line:
                break
        server.terminate()
        assert "http://127.0.0.1:" in said, f"{command}\n{said}"
        return said


@pytest.mark.parametrize("guide", sorted(GUIDES), ids=lambda path: path.stem)
def test_every_command_of_a_guide_works(guide: Path, archive: Path, site: str, tmp_path: Path) -> None:
    text = guide.read_text(encoding="utf-8").replace("crawl.warc.gz", "crawl.warc").replace(EXAMPLE, site)
    (tmp_path / "crawl.warc").symlink_to(archive)
    write_elements(tmp_path / "public")
    if "crawl.kin" in text and "--out crawl.kin" not in text:  # a guide for those who have a collection
        run("pagekin build crawl.warc --out crawl.kin", tmp_path)
    ran, said = 0, ""
    for block in BLOCK.finditer(text):
        if block["title"]:
            (tmp_path / block["title"]).write_text(block["text"])
        if block["kind"] != "console" or block["needs"]:
            continue
        for line in block["text"].replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                said = run(line[2:], tmp_path)
                assert said.strip()
                ran += 1
    assert ran


def test_two_strategies_are_compared_by_every_measure(archive: Path, tmp_path: Path) -> None:
    run(f"pagekin build {archive} --out a.kin --no-clusters", tmp_path)
    (tmp_path / "two.toml").write_text('["plain"]\nanchors.scale = 0\n["whole"]\npreset = "default"\n')
    said = run("pagekin evaluate a.kin --directory url-path --strategies two.toml", tmp_path)
    table = re.findall(
        r"^  (\S.+?) +[+-]\d\.\d{3}  [+-]\d\.\d{3} to [+-]\d\.\d{3}  (beyond|may be) chance$", said, re.M
    )
    assert {"nDCG@10", "MAP", "Γ, overall", "Somers' D, overall"} <= {name for name, _sure in table}
