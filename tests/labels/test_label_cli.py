"""`pagekin label` as a user meets it."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.clusters import ClusterSettings
from pagekin.engines import cluster_collection
from pagekin.hypertext import ReadPlan, read_sources
from pagekin.labels import check_stored_label, label_etag, label_from_json, read_label
from pagekin.store import open_kin
from tests.bags.webs import record
from tests.labels.asking import label_may_hold
from tests.labels.sexpr_reader import label_from_sexpr

load_verbs()


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["label", *map(str, arguments)])
    return result.exit_code, result.output


def test_a_summary_is_for_people(demo_kin: Path) -> None:
    code, said = run(demo_kin, "--max-clusters", "6")
    assert code == 0, said
    assert said.startswith("demo: 968 pages, 2.2 MB, ")
    assert " - Great Rivers" in said
    assert "http://rivers.example/" in said
    assert "merged into others; 0 filters" in said


def test_both_forms_for_programs_tell_the_same(demo_kin: Path) -> None:
    budgets = ("--max-terms", "40", "--max-clusters", "9", "--max-bytes", "90000")
    code, as_json = run(demo_kin, "--format", "json", *budgets)
    assert code == 0
    label = label_from_json(as_json.encode())
    assert len(label.clusters) == 9
    code, as_sexpr = run(demo_kin, "--format", "sexpr", *budgets)
    assert code == 0
    assert label_from_sexpr(as_sexpr) == label


def test_the_published_label_is_shown_whole_or_in_parts(demo_kin: Path) -> None:
    code, said = run(demo_kin, "--format", "json")
    assert code == 0
    label = label_from_json(said.encode())
    assert label == read_label(open_kin(demo_kin))
    tags = open_kin(demo_kin).facts["label"]["etags"]
    for part in ("refinement", "routing", "browsing"):
        code, said = run(demo_kin, "--format", "json", "--part", part)
        assert label_etag(label_from_json(said.encode())) == tags[part]
    assert label_from_sexpr(run(demo_kin, "--format", "sexpr", "--part", "routing")[1]).filters == label.filters


def test_terms_are_added_for_once_or_for_good(demo_kin: Path, tmp_path: Path) -> None:
    kin = tmp_path / "demo.kin"
    shutil.copytree(demo_kin, kin)
    before = open_kin(kin).facts["label"]["etags"]
    code, said = run(kin, "--format", "json", "--add", "Geography", "--add", "title:atlas")
    assert code == 0
    assert [(one.attribute, one.word, one.by) for one in label_from_json(said.encode()).added] == [
        ("text", "geography", "operator"), ("title", "atlas", "operator"),
    ]  # fmt: skip
    assert not read_label(open_kin(kin)).added
    code, said = run(kin, "--add", "xylography", "--broader", "3", "--save")
    assert code == 0, said
    assert "added by the operator: xylography" in said
    kept = read_label(open_kin(kin))
    assert label_may_hold(kept, "xylographies")
    assert 0 < sum(one.by == "thesaurus" for one in kept.added) <= 3
    known = {term.word for term in kept.rows(kept.terms)}
    assert not any(one.word in known for one in kept.added)
    after = open_kin(kin).facts["label"]["etags"]
    assert [function for function in before if before[function] != after[function]] == ["routing"]
    assert not list(check_stored_label(open_kin(kin)))
    cluster_collection(kin, ClusterSettings())
    assert read_label(open_kin(kin)).added == kept.added, "clusters made anew keep the operator's terms"
    assert run(kin, "--save")[0] == 0
    assert not read_label(open_kin(kin)).added


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["KIN", "--format", "xml"], "--format is one of summary, json, sexpr", USAGE),
        (["KIN", "--max-clusters", "0"], "0 is not in the range", USAGE),
        (["KIN", "--max-bytes", "100"], "100 bytes are too few", BAD_INPUT),
        (["KIN", "--add", "colour:red"], "'colour' is not an attribute", BAD_INPUT),
        (["KIN", "--add", "two words"], "is not a term", BAD_INPUT),
        (["KIN", "--part", "routing"], "needs --format", USAGE),
        (["KIN", "--save", "--max-terms", "3"], "--save stores added terms", USAGE),
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
