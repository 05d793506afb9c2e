"""`pagekin label` as a user meets it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.hypertext.read import ReadPlan, read_sources
from pagekin.labels import from_json
from pagekin.labels.sexpr import from_sexpr
from tests.bags.webs import record

load_verbs()


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["label", *map(str, arguments)])
    return result.exit_code, result.output


def test_a_summary_is_for_people(demo_kin: Path) -> None:
    code, said = run(demo_kin, "--max-clusters", "6")
    assert code == 0, said
    assert said.startswith("demo: 968 pages, 2.2 MB, ")
    assert "Nile - Great Rivers" in said
    assert "http://rivers.example/nile.html" in said
    assert "merged into others; 0 filters" in said


def test_both_forms_for_programs_tell_the_same(demo_kin: Path) -> None:
    budgets = ("--max-terms", "40", "--max-clusters", "9", "--max-bytes", "90000")
    code, as_json = run(demo_kin, "--format", "json", *budgets)
    assert code == 0
    label = from_json(as_json.encode())
    assert len(label.clusters) == 9
    code, as_sexpr = run(demo_kin, "--format", "sexpr", *budgets)
    assert code == 0
    assert from_sexpr(as_sexpr) == label


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["KIN", "--format", "xml"], "--format is one of summary, json, sexpr", USAGE),
        (["KIN", "--max-clusters", "0"], "0 is not in the range", USAGE),
        (["KIN", "--max-bytes", "100"], "100 bytes are too few", BAD_INPUT),
        (["no.kin"], "does not exist", BAD_INPUT),
    ],
)
def test_mistakes_are_told(demo_kin: Path, arguments: list[str], said: str, code: int) -> None:
    found, output = run(*(str(demo_kin) if one == "KIN" else one for one in arguments))
    assert (found, said in output) == (code, True), output


def test_a_collection_without_clusters_says_how_to_make_them(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(record("http://site.example/", "<p>granite"))
    read_sources(ReadPlan([str(tmp_path / "web.warc")], tmp_path / "web.kin", parser="strict", workers=1))
    code, said = run(tmp_path / "web.kin")
    assert code == BAD_INPUT
    assert "pagekin cluster" in said
