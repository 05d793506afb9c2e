"""Pages and links as files for other programs: every format holds the same rows."""

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from pagekin.bags import Strategy
from pagekin.cli.app import app, load_verbs
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan

PAGES = {
    "index.html": '<html lang=en><title>Trees</title><p>Trees of the north: <a href="oak.html">the =oak</a> and <a rel=nofollow '
    "href=https://www.other.example/elm>elm</a> here.",
    "oak.html": "<title>Oak \x01 &amp; &lt;b&gt;</title><p>Acorns. <a href=index.html>Back</a> <a href=index.html>again</a>",
}


@pytest.fixture(scope="module")
def kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    for name, html in PAGES.items():
        (folder / name).write_text(html)
    plan = ReadPlan([str(folder)], folder.with_suffix(".kin"), parser="strict", base_url="https://www.trees.example/")
    build_collection(plan, BuildRecipe(Strategy()))
    return plan.out


COMMON_CRAWL = (
    "url", "url_surtkey", "url_host_name", "fetch_time", "content_digest", "content_languages", "warc_filename",
    "warc_record_offset", "warc_record_length",
)  # fmt: skip
"""Columns of Common Crawl's index, by their names there."""
WEBGRAPH = ("crawl_date", "src", "dest", "anchor")
"""Columns of the Archives Unleashed webgraph, in their order there."""


def run(*arguments: str | Path) -> tuple[int, str]:
    load_verbs("export")
    done = CliRunner().invoke(app, ["export", *map(str, arguments)])
    return done.exit_code, done.output


def test_pages_are_written_alike_in_every_format(kin: Path, tmp_path: Path) -> None:
    for suffix in ("parquet", "csv", "jsonl"):
        assert run(kin, "--pages", tmp_path / f"pages.{suffix}", "-q") == (0, "")
    rows = pyarrow.parquet.read_table(tmp_path / "pages.parquet").to_pylist()
    assert [row["url"] for row in rows] == [f"https://www.trees.example/{name}" for name in ("index.html", "oak.html")]
    assert rows[0]["url_surtkey"] == "example,trees)/index.html"
    assert (rows[0]["url_host_name"], rows[0]["content_languages"], rows[0]["inlinks"]) == (
        "www.trees.example",
        "en",
        2,
    )
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    with (tmp_path / "pages.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    for row, line, cell in zip(rows, lines, cells, strict=True):
        assert [row[name] for name in ("url", "title", "html_bytes")] == [
            line[name] for name in ("url", "title", "html_bytes")
        ]
        assert (cell["title"], int(cell["html_bytes"])) == (row["title"], row["html_bytes"])


def test_columns_have_the_names_that_other_programs_know(kin: Path, tmp_path: Path) -> None:
    for suffix in ("parquet", "csv"):
        files = {name: tmp_path / f"{name}.{suffix}" for name in ("pages", "links")}
        assert run(kin, "--pages", files["pages"], "--links", files["links"], "-q") == (0, "")
        pages, links = (
            pyarrow.parquet.read_schema(file).names
            if suffix == "parquet"
            else file.read_text().split("\n")[0].strip().split(",")
            for file in files.values()
        )
        assert [name for name in COMMON_CRAWL if name not in pages] == []
        assert tuple(links[: len(WEBGRAPH)]) == WEBGRAPH
        assert {"left", "right"} < set(links)


def test_links_are_written_with_the_words_around_them_and_as_graphs(kin: Path, tmp_path: Path) -> None:
    code, said = run(kin, "--links", tmp_path / "links.parquet", "--gephi", tmp_path / "gephi", "--json")
    assert code == 0, said
    assert json.loads(said)[str(tmp_path / "links.parquet")]["rows"] == 4
    rows = pyarrow.parquet.read_table(tmp_path / "links.parquet").to_pylist()
    assert [row["anchor"] for row in rows] == ["the oak", "elm", "back", "again"]
    assert rows[1] == {
        "crawl_date": rows[1]["crawl_date"], "src": "https://www.trees.example/index.html",
        "dest": "https://www.other.example/elm", "anchor": "elm", "left": "trees of the north the oak and", "right": "here",
        "kind": "a", "nofollow": True,
    }  # fmt: skip
    assert len((tmp_path / "gephi/nodes.csv").read_text().splitlines()) == 4
    for name in ("links.graphml", "links.gexf"):
        assert run(kin, "--links", tmp_path / name, "-q") == (0, "")
        text = (tmp_path / name).read_text()
        assert text.count("<edge ") == 3
        assert "Oak" in text and "<b>" not in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pages", "pages.xlsx"], "must end in one of .parquet, .csv, .jsonl"),
        (["--links", "links"], "must end in one of"),
        (["--links", "links.csv", "--out", "folder"], "name their own files"),
        ([], "say what to write"),
        (["--html"], "--out"),
    ],
)
def test_what_cannot_be_written_is_refused(kin: Path, arguments: list[str], said: str) -> None:
    code, output = run(kin, *arguments)
    assert (code, said in re.sub(r"\s+", " ", output)) == (2, True), output
