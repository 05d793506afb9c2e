"""The command evaluate: its table, report and JSON, and what it says of mistakes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.hypertext import ReadPlan, read_sources
from tests.bags.webs import record

from .topics import SITE, pages


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collection")
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in pages().items()))
    read_sources(ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=1))
    return folder / "web.kin"


def run(*arguments: object) -> Any:
    load_verbs()
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)])


def test_the_command_prints_a_table_and_writes_a_report(collection: Path, table: Path, tmp_path: Path) -> None:
    found = run(collection, "--directory", table, "--out", tmp_path / "out", "--workers", 1)
    assert found.exit_code == 0, found.output
    assert "30 pages in 5 classes (depth 3, lenient, primary)" in found.output
    assert "2 listed addresses are not in the collection" in found.output
    assert "1 differs by http and https (--loose)" in found.output
    assert "1 listing is too high" in found.output
    assert re.search(r"^haveliwala2002 +-?\d\.\d{3} \(", found.output, re.MULTILINE)
    assert (tmp_path / "out" / "index.html").is_file()
    assert (tmp_path / "out" / "trec" / "haveliwala2002.run").is_file()
    assert "nDCG@10    MAP" in found.output
    intervals = re.search(
        r"^95 % intervals .*\n(haveliwala2002|default) ((?: +\S+ to \S+){6})", found.output, re.MULTILINE
    )
    assert intervals, "of Somers' D in four regions, nDCG@10 and MAP"
    assert re.search(r"^ +Γ overall .*\n(haveliwala2002|default) ((?: +\S+ to \S+){4})", found.output, re.MULTILINE)
    assert "30 drawn sources" in found.output
    assert re.search(r"^.+, less .+ \(paired, 95 %\):$", found.output, re.MULTILINE), (
        "of two, all measures are compared"
    )


def test_the_command_takes_the_directorys_own_pages(collection: Path, table: Path) -> None:
    found = run(collection, "--directory", table, "--directory-pages", f"{SITE}lists/", "--no-cache")
    assert found.exit_code == 0, found.output
    assert "6 pages are the directory's own: their links do not count, and they are not judged" in found.output


def test_the_command_prints_json_alone(collection: Path) -> None:
    found = run(collection, "--directory", "url-path", "--json", "--mode", "strict", "--classes", "all", "--depth", 2)
    assert found.exit_code == 0, found.output
    plain = json.loads(found.stdout)
    assert (plain["directory"]["name"], plain["directory"]["mode"]) == ("url-path", "strict")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], USAGE, "url-path"),
        (["--directory", "nowhere.tsv"], BAD_INPUT, "nowhere.tsv does not exist"),
        (["--directory", "breadcrumbs"], BAD_INPUT, "no page of the collection has breadcrumbs"),
        (["--directory", "url-path", "--mode", "loose"], USAGE, "--mode is one of lenient, strict"),
        (["--directory", "url-path", "--classes", "one"], USAGE, "--classes is one of"),
        (["--directory", "url-path", "--figures", "--strategies", "x.toml"], USAGE, "exclude each other"),
        (["--directory", "url-path", "--strategies", "x.toml"], USAGE, "x.toml cannot be read"),
        (["--directory", "url-path", "--depth", "1"], USAGE, "depth"),
        (
            ["--directory", "url-path", "--directory-pages", "http://x/"],
            BAD_INPUT,
            "no page of the collection has a URL",
        ),
        ([], USAGE, "directory"),
    ],
)
def test_mistakes_end_with_a_sentence(collection: Path, arguments: list[str], code: int, said: str) -> None:
    found = run(collection, *arguments)
    assert found.exit_code == code
    assert said in found.output
    assert "Traceback" not in found.output


def test_a_report_that_cannot_be_written_is_said_so(collection: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    found = run(collection, "--directory", "url-path", "--out", tmp_path / "file" / "out")
    assert found.exit_code == BAD_INPUT
    assert "cannot be written" in found.output
