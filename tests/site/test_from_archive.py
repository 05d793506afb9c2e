"""A site of which there is no folder: the robot visits it, and what can be put on it lies in a folder of its own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from turbohtml import parse
from typer.testing import CliRunner

from pagekin.cli.app import app, load_verbs
from pagekin.site import ArchivePlan, SiteError, SiteSettings, publish_archive
from tests.site.manuals import contents, page, write_manual
from tests.sources.robot_server import MISSING, ReceivedRequest, Server, answer, redirect_to, serve_sites

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A manual below /docs/ of a host that has other pages, too."""
    folder = write_manual(tmp_path_factory.mktemp("live") / "public")
    index = folder / "index.html"
    extra = '<a href="/other.html">other</a> <a href="?p=1">by number</a> <a href="orbit/">folder</a></div>'
    index.write_text(index.read_text().replace("</div>", extra))

    def site(request: ReceivedRequest) -> bytes:
        table = {
            "/": redirect_to("/docs/"), "/other.html": answer(b"<title>Other</title>"), "/docs/": answer(index.read_bytes()),
            "/docs/?p=1": answer(page("orbit", 3, "").replace("part 3", "part by number").encode()),
        }  # fmt: skip
        file = folder / request.path.removeprefix("/docs/").lstrip("/")
        below = request.path.startswith("/docs/") and file.is_file()
        return table.get(request.path) or (answer(file.read_bytes()) if below else MISSING)

    with serve_sites({HOST: site}) as running:
        yield running


def run(*arguments: str | Path) -> tuple[int, str]:
    load_verbs("site")
    done = CliRunner().invoke(app, ["site", *map(str, arguments)])
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def written(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """(the folder that was written for the manual, what the command said)."""
    out = tmp_path_factory.mktemp("written") / "docs"
    code, said = run(server.url(HOST, "/docs/"), "--out", out, "--allow", "loopback", "--delay", "0", "--workers", "1")
    assert code == 0, said
    return out, said


def related_of(out: Path) -> dict[str, Any]:
    files = json.loads((out / "pagekin/related.json").read_text())["files"]
    listed: dict[str, Any] = {}
    for name, first in files.items():
        pages = json.loads((out / "pagekin" / name).read_text())["pages"]
        assert min(pages) == first
        listed |= pages
    return listed


def test_a_site_at_an_address_becomes_a_folder_to_be_put_on_it(server: Server, written: tuple[Path, str]) -> None:
    out, said = written
    root = server.url(HOST, "/docs/")
    assert f"{root}: 17 pages, made by Sphinx" in said
    assert f'<script src="{root}pagekin/related.js" defer></script>' in said and str(out) in said
    assert not any(path == "/other.html" for path in server.requested_paths(HOST))
    # The archive and the collection lie beside the folder, in which there is nothing but what is to be published.
    assert out.with_name("docs.warc.gz").is_file() and out.with_name("docs.kin").is_dir()
    files = contents(out)
    assert {"llms.txt", "pagekin/site.json", "pagekin/index.html", "pagekin/search/meta.json"} < set(files)
    assert all(name == "llms.txt" or name.startswith("pagekin/") for name in files)
    listed = related_of(out)
    assert {"", "?p=1", "volcano/part3.html"} < set(listed)
    for path, about in listed.items():
        assert about["related"] and all(one["path"] in listed for one in about["related"])
        if path.startswith("kitchen/"):
            assert about["related"][0]["title"].startswith("Kitchen part")
    topics = parse(files["pagekin/index.html"].decode())
    links = [str(one.attrs["href"]) for one in topics.select("main a")]
    assert links[0] == "../" and all(link.removeprefix("../") in listed for link in links)
    assert f"({root}volcano/part" in files["llms.txt"].decode()


def test_a_second_run_visits_nothing_again_and_changes_no_byte(server: Server, written: tuple[Path, str]) -> None:
    out, _said = written
    before, asked = contents(out), len(server.log)
    options = ("--out", out, "--allow", "loopback", "--delay", "0", "--workers", "1")
    code, said = run(server.url(HOST, "/docs/"), *options, "--json")
    assert code == 0, said
    about = json.loads(said)
    assert (about["pages"], about["crawl"]["resumed"]) == (17, True)
    assert contents(out) == before and len(server.log) == asked


def test_a_folder_that_pagekin_did_not_write_is_left_alone(server: Server, tmp_path: Path) -> None:
    (tmp_path / "mine/pagekin").mkdir(parents=True)
    (tmp_path / "mine/pagekin/notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    asked = len(server.log)
    for out, why in (("mine", "Pagekin did not write it"), ("file", "is not a folder")):
        code, said = run(server.url(HOST, "/docs/"), "--out", tmp_path / out, "--allow", "loopback")
        assert code != 0 and why in said
    assert len(server.log) == asked and not list(tmp_path.glob("*.warc.gz"))


@pytest.mark.parametrize(("arguments", "why"), [
    (["http://127.0.0.1:9/"], "--allow loopback"),
    (["http://127.0.0.1:9/", "--undo"], "in a separate folder"),
    (["http://user:word@a.example/"], "name or password"),
    (["public", "--pages", "7"], "need the http(s) address"),
    (["public", "--out", "x"], "need the http(s) address"),
])  # fmt: skip
def test_what_cannot_be_visited_is_said(
    arguments: list[str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = run(*arguments)
    assert code != 0 and why in said, said
    assert list(tmp_path.iterdir()) == []


def test_the_site_of_an_archive_is_what_lies_below_its_address(written: tuple[Path, str], tmp_path: Path) -> None:
    archive = written[0].with_name("docs.warc.gz")
    settings = SiteSettings(search=False, topics=False, llms=False, count=2)
    plan = ArchivePlan(archive, "http://nowhere.example/x", tmp_path / "out", settings, tmp_path / "site.kin", 1)
    # An address that leads to another host is the site of the first page.
    report = publish_archive(plan)
    assert report.survey.base_url.endswith("/docs/") and report.pages == 17
    assert not (tmp_path / "out/llms.txt").exists()
    with pytest.raises(SiteError, match="not an http"):
        publish_archive(ArchivePlan(archive, "no address", tmp_path / "none"))
