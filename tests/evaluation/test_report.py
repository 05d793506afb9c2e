"""The report of an evaluation, with its tables and what people are told."""

import csv
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pagekin.cli.evaluate as verb
from pagekin.bags import Strategy
from pagekin.clusters import Directory, load_directory
from pagekin.evaluation import (
    REGIONS,
    Evaluation,
    evaluate_strategies,
    figure_strategies,
    read_strategies,
)
from pagekin.evaluation.compare import explain_overall, explain_served
from pagekin.evaluation.ranking import Scores
from pagekin.hypertext import Corpus
from pagekin.wording import format_measure

from .topics import HOSTILE, SITE, STRATEGIES


class Reader(HTMLParser):
    """Tags, their attributes, and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def assert_self_contained(page: str) -> Reader:
    read = Reader(page)
    for tag, attributes in read.tags:
        assert tag not in {"script", "link", "img", "iframe", "object", "base"}
        assert not {"src", "href", "srcset", "xlink:href"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
    assert "@import" not in page
    assert "url(" not in page
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        kinds = {node.get("class") for node in ElementTree.fromstring(svg).iter()}
        assert {"title", "axis"} <= kinds
    return read


@pytest.fixture(scope="module")
def report(corpus: Corpus, directory: Directory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    found = evaluate_strategies(corpus, directory, {**figure_strategies(), HOSTILE: Strategy()}, linked=True, threads=2)
    yield found.write(tmp_path_factory.mktemp("report") / "new" / "folder", f"web {HOSTILE}", with_figures=True)


def test_the_report_needs_nothing_but_itself_and_escapes_names(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    read = assert_self_contained(page)
    assert "<script" not in page
    assert "alert(1)" in read.text
    assert report.name == "index.html"
    written = sorted(file.name for file in report.parent.iterdir())
    assert written == ["differences.csv", "index.html", "strategies.csv", "strategies.toml", "trec"]


def test_the_report_shows_every_figure_and_says_how_it_judged(report: Path) -> None:
    page = report.read_text(encoding="utf-8")
    text = Reader(page).text
    for number in "3456789":
        assert f"Figure {number}: " in text
    # The best against others, figures 3 to 7, 9 and note 6, the presets, the curve of Figure 8, and number of inlinks.
    assert page.count("<svg") == 11
    for said in ("depth 3", "lenient", "the deepest class of each page", "only pages that another page links to",
                 "Kendall's τ", "By number of inlinks", "not in the collection", "seed", "resamples of classes",
                 "The paper found:", "window 0 → window 4", "Mean words of a window", "nDCG", "of 27 drawn sources",
                 "beyond chance?"):  # fmt: skip
        assert said in text, said
    assert "nan" not in text


def test_the_table_is_readable_as_csv(report: Path) -> None:
    with (report.parent / "strategies.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [*figure_strategies(), HOSTILE]
    assert [row["name"] for row in rows[:: len(REGIONS)]][: len(names)] == names
    assert {row["region"] for row in rows} == set(REGIONS)
    for row in rows:
        assert not row["gamma"] or -1 <= float(row["gamma"]) <= 1
        assert int(row["pairs"]) >= 0
        assert 0 <= float(row["orthogonality"]) <= 1
        assert 0 <= float(row["map"]) <= 1
        assert 0 <= float(row["ndcg10"]) <= 1


def test_all_differences_are_readable_as_csv(evaluation: Evaluation, tmp_path: Path) -> None:
    evaluation.write(tmp_path, "differences", with_figures=False)
    with (tmp_path / "differences.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["first"], row["second"], row["measure"], row["region"]) for row in rows] == [
        (one.first, one.second, one.measure, one.region) for one in evaluation.comparisons()
    ]
    for row, one in zip(rows, evaluation.comparisons(), strict=True):
        assert [float(row[name]) for name in ("difference", "low", "high", "p")] == pytest.approx(
            [one.difference, one.low, one.high, one.p], nan_ok=True
        )


def test_every_measure_of_a_report_has_its_interval(evaluation: Evaluation, tmp_path: Path) -> None:
    text = Reader(evaluation.write(tmp_path, "intervals", with_figures=False).read_text(encoding="utf-8")).text
    every = text.partition("All strategies")[2]
    for one in evaluation.judgements:
        ends = [(a.low, a.high) for a in one.agreements.values()]
        ends += [(a.somers_low, a.somers_high) for a in one.agreements.values()]
        for low, high in [*ends, *evaluation.scores[one.name].intervals]:
            assert not math.isfinite(low) or f"{format_measure(low)} to {format_measure(high)}" in every
    compared = text.partition("All strategies")[0]
    for one in evaluation.comparisons():
        assert one.region not in ("", evaluation.region) or one.range in compared
    assert evaluation.summary in compared


def test_a_report_of_two_strategies_speaks_of_two(corpus: Corpus, directory: Directory, tmp_path: Path) -> None:
    two = {name: STRATEGIES[name] for name in list(STRATEGIES)[:2]}
    found = evaluate_strategies(corpus, directory, two)
    text = Reader(found.write(tmp_path, "two", with_figures=False).read_text(encoding="utf-8")).text
    (second,) = {one.second for one in found.comparisons()}
    assert f" minus {second}" in text
    for said in ("all others", "1 others", "Do the three Γ agree?"):
        assert said not in text
    for one in found.comparisons():
        assert one.by in text and one.range in text


def test_what_would_surprise_is_explained() -> None:
    rounds = np.zeros(3)
    scores = {name: Scores(value, 0.3, (rounds, rounds)) for name, value in (("bags", 0.645), ("served (both)", 0.6))}
    nan = float("nan")
    said = explain_served("served (both)", scores, 0.643)
    assert "(nDCG@10 0.600 against 0.645), and reaches 0.643 with the weights for kin (--for kin)" in said
    assert "see-also" in said
    said = explain_served("served (both)", scores, 0.59)
    assert "(--for kin) it is not better, 0.590" in said and "see-also" not in said
    assert explain_served("served (both)", scores, nan) == ""  # it was judged by these weights
    assert explain_served("bags", scores, 0.7) == explain_served("", scores, 0.7) == ""
    gammas = {"a": {"overall": -0.1, "siblings": 0.2, "cousins": nan, "unrelated": 0.1}}
    assert explain_overall(gammas).startswith("Γ of a is below 0 overall but above 0 in each region: ")
    assert explain_overall({"a": {**gammas["a"], "siblings": -0.2}}) == ""
    assert explain_overall({"a": {**gammas["a"], "overall": 0.1}}) == ""


def test_a_directory_without_siblings_leaves_nothing_to_draw(corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "table.tsv"
    file.write_text(f"{SITE}sky/stars/giants/0.html\ta/b/c\n{SITE}sky/stars/giants/1.html\tx/y/z\n")
    tree = load_directory(corpus, str(file))
    found = evaluate_strategies(corpus, tree, {"content": STRATEGIES["content"]}, sample=5)
    assert len(found.bench.sources) == 0
    assert math.isnan(found.judgements[0].agreements["siblings"].gamma)
    assert json.dumps(found.as_dict(), allow_nan=False)
    assert found.write(tmp_path / "out", "empty", with_figures=False).is_file()
    figured = evaluate_strategies(corpus, tree, figure_strategies(), sample=5)
    text = Reader(figured.write(tmp_path / "out", "empty", with_figures=True).read_text(encoding="utf-8")).text
    assert "nan" not in text
    assert "Nothing to show" in text
    assert json.dumps(figured.as_dict(), allow_nan=False)


def test_without_siblings_pictures_show_the_first_region_that_has_pairs(corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "table.tsv"
    classes = {"living/plants/trees": "a/b/c", "sky/stars/giants": "a/y/z", "living/birds/owls": "x/y/z"}
    file.write_text("".join(f"{SITE}{path}/{i}.html\t{place}\n" for path, place in classes.items() for i in range(6)))
    found = evaluate_strategies(corpus, load_directory(corpus, str(file)), figure_strategies())
    assert found.region == "cousins"
    assert {one.region for one in found.comparisons()} >= {"cousins", "unrelated"}
    page = found.write(tmp_path / "out", "no siblings", with_figures=True).read_text(encoding="utf-8")
    read = assert_self_contained(page)
    assert "cousin Γ, with its 95 % interval" in read.text
    assert "sibling Γ, with" not in read.text
    assert "there are no sibling pairs" in read.text


def test_the_strategies_of_a_report_can_be_judged_again(report: Path) -> None:
    found = read_strategies(report.parent / "strategies.toml")
    asked = {**figure_strategies(), HOSTILE: Strategy()}
    assert {name: strategy.digest() for name, strategy in found.items()} == {
        name: strategy.digest() for name, strategy in asked.items()
    }


def test_a_report_without_figures_is_whole_too(evaluation: Evaluation, tmp_path: Path) -> None:
    page = evaluation.write(tmp_path, "a & b", with_figures=False).read_text(encoding="utf-8")
    read = assert_self_contained(page)
    assert "All strategies" in read.text
    assert "<h1>a &amp; b</h1>" in page


def test_baselines_stand_beside_strategies(corpus: Corpus, directory: Directory, tmp_path: Path) -> None:
    found = evaluate_strategies(corpus, directory, {"content": STRATEGIES["content"]}, baselines=["cocitation"])
    strategy, baseline = found.as_dict()["strategies"]
    assert baseline["name"].startswith("cocitation")
    assert baseline.keys() == strategy.keys()
    assert {baseline["name"], "content"} == {found.comparisons()[0].first, found.comparisons()[0].second}
    assert baseline["name"] in Reader(found.write(tmp_path, "both", False).read_text(encoding="utf-8")).text


def test_baselines_without_their_packages_are_counted_and_said(
    evaluation: Evaluation, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = replace(evaluation, left_out={"x": "x needs a package: pip install y", "z": "z needs <another>"})
    verb.print_judgements(missing)
    assert "2 baselines were left out: x needs a package: pip install y; z needs <another>." in capsys.readouterr().out
    assert "z needs &lt;another&gt;" in missing.write(tmp_path, "missing", False).read_text(encoding="utf-8")
