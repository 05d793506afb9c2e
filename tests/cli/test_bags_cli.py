"""Bags, duplicates and neighbours by the command."""

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command import pagekin

from .answers import CARBON, MAUNA_KEA, answer, files_of_at_most, made, refused, without_privileges

# -- bags, duplicates, neighbours ----------------------------------------------------------------------------------------


def test_a_bag_shows_its_heaviest_terms_and_where_they_come_from(demo: Path) -> None:
    told = json.loads(made(pagekin("bag", demo, CARBON, "-n", "1000", "--json")).stdout)
    assert told["url"] == CARBON
    assert told["inlinks"] == 21
    assert len(told["terms"]) == told["distinct_terms"]
    weights = [term["weight"] for term in told["terms"]]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1, abs=1e-3)
    assert told["terms"][0]["term"] == "carbon"
    assert set(told["terms"][0]["from"]) == {"content", "anchors", "title"}
    shown = made(pagekin("bag", demo, CARBON, "-n", "5")).stdout
    assert len(shown.splitlines()) == 3 + 5
    assert re.search(r"^ +\d+\.\d\d%  carbon +content, anchors, title$", shown, re.MULTILINE)


def test_duplicates_are_the_mirror_and_the_print_versions(demo: Path) -> None:
    told = json.loads(made(pagekin("duplicates", demo, "--common", "0.5", "--json")).stdout)
    groups = [{one["url"] for one in group} for group in told["groups"]]
    assert {"http://mirror.example/mauna-kea.html", MAUNA_KEA} in groups
    assert told["pages"] == sum(map(len, groups)) == len(set().union(*groups))
    assert all(0.5 <= one["common"] <= 1 for group in told["groups"] for one in group)
    stricter = json.loads(made(pagekin("duplicates", demo, "--common", "1", "--json")).stdout)
    assert 0 < stricter["pages"] < told["pages"]
    shown = made(pagekin("duplicates", demo, "--common", "0.5", "-n", "2")).stdout
    assert f"{told['pages']} pages in {len(groups)} groups" in shown
    assert f"and {len(groups) - 2} more groups" in shown
    for wrong in ("0.2", "nan"):
        refused(pagekin("duplicates", demo, "--common", wrong), 2, "--common")


def test_neighbours_are_the_same_in_both_kinds_of_file_and_as_asked_one_by_one(demo: Path, tmp_path: Path) -> None:
    made(pagekin("neighbours", demo, "--out", tmp_path / "all.jsonl", "-k", "5"))
    made(pagekin("neighbours", demo, "--out", tmp_path / "all.parquet", "-k", "5", "--quiet"))
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert len(lines) == 968
    rows = pq.read_table(tmp_path / "all.parquet").to_pylist()
    assert [(row["url"], row["rank"], row["related"], row["similarity"], row["copies"]) for row in rows] == [
        (line["url"], rank, one["url"], one["similarity"], one["copies"])
        for line in lines
        for rank, one in enumerate(line["related"], 1)
    ]
    by_url = {line["url"]: line for line in lines}
    for url in (CARBON, MAUNA_KEA):
        told = answer(demo, url, "-k", "5")
        assert [(one["url"], one["similarity"]) for one in by_url[url]["related"]] == [
            (result["url"], pytest.approx(result["similarity"], abs=2e-6)) for result in told["results"]
        ]
        assert by_url[url]["copies"] == len(told["query"]["copies"])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["all.jsonl", "all.parquet"]


def test_neighbours_of_pages_known_by_links_alone_are_given_on_demand(sea: Path, tmp_path: Path) -> None:
    told = []
    for more in ([], ["--all"]):
        made(pagekin("neighbours", sea, "--out", tmp_path / "x.jsonl", *more))
        told.append({json.loads(line)["url"] for line in (tmp_path / "x.jsonl").read_text().splitlines()})
    assert told[1] - told[0] == {"http://sea.example/walrus", "http://mirror.example/seals", "http://evil.example/x"}
    assert "http://sea.example/seals" in told[0]


def test_neighbours_that_cannot_be_written_leave_nothing_behind(demo: Path, tmp_path: Path) -> None:
    (tmp_path / "kept.jsonl").write_text("precious")
    (tmp_path / "folder.parquet").mkdir()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    for out, code, words, options in (
        ("x.csv", 2, ".parquet", {}),
        ("folder.parquet", 2, "is a folder", {}),
        ("nowhere/x.jsonl", 3, "No such file or directory", {}),
        ("closed/x.parquet", 3, "Permission denied", {"preexec_fn": without_privileges}),
        ("kept.jsonl", 3, "File too large", {"preexec_fn": files_of_at_most(50_000)}),
        ("x.parquet", 3, "File too large", {"preexec_fn": files_of_at_most(5_000)}),
    ):
        refused(pagekin("neighbours", demo, "--out", out, cwd=tmp_path, **options), code, out, words)
    assert (tmp_path / "kept.jsonl").read_text() == "precious"
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["closed", "folder.parquet", "kept.jsonl"]
    refused(pagekin("neighbours", demo, "--out", "x.jsonl", "--min-similarity", "nan", cwd=tmp_path), 2, "nan")
