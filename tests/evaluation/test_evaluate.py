"""An evaluation from a collection to a report, on a small web where we know what is best."""

import csv
import json
import math
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import pagekin.cli.evaluate as verb
from pagekin.bags import Strategy, StrategyError, choose_strategy
from pagekin.clusters import Directory, DirectoryError, load_directory
from pagekin.evaluation import (
    REGIONS,
    Evaluation,
    directory_pages,
    evaluate_strategies,
    figure_strategies,
    make_bench,
    own_strategies,
    read_strategies,
    summarise_comparisons,
)
from pagekin.evaluation.compare import compare_bars, explain_overall, explain_served
from pagekin.evaluation.experiments import with_sources
from pagekin.evaluation.ranking import Scores
from pagekin.hypertext import Corpus
from pagekin.wording import format_measure
from tests.bags.webs import read_web

from .benches import linked_pages, tree_of

SITE = "http://site.example/"
TOPICS = {
    "living/plants/trees": "oak beech timber bark leaf root",
    "living/plants/mosses": "moss spore damp rock leaf root",
    "living/birds/owls": "owl feather night wing mouse beak",
    "sky/stars/giants": "giant star fusion helium light red",
    "sky/planets/rocky": "planet rock orbit crater light iron",
}
HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m"


def pages() -> dict[str, str]:
    """Pages of five classes: their own words tell their class; the links to them come from lists of all classes mixed."""
    rng = np.random.default_rng(8)
    made = {}
    for path, vocabulary in TOPICS.items():
        for number in range(6):
            words = " ".join(rng.choice(vocabulary.split(), 12).tolist())
            made[f"{SITE}{path}/{number}.html"] = (
                f"<title>page</title><p>{words} {' '.join(rng.choice(ANY, 4).tolist())}"
            )
    addresses = sorted(made)
    for number in range(6):
        some = rng.choice(addresses[:-3], 12, replace=False).tolist()  # nobody links to the last three
        made[f"{SITE}lists/{number}.html"] = "".join(f"<li><a href='{to}'>{rng.choice(ANY)}</a>" for to in some)
    return made


ANY = "news hello visit click more here fine good".split()


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web(pages())


def write_table(file: Path) -> Path:
    """Write the directory of the pages, with addresses that are not there, in another spelling, or listed too high."""
    rows = [f"{url}\t{url[len(SITE) :].rpartition('/')[0]}\n" for url in pages() if "/lists/" not in url]
    file.write_text("".join(rows) + "https://site.example/lists/0.html\tlists/of/pages\n/gone\ta/b/c\n/high\ta\n")
    return file


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("table") / "directory.tsv")


@pytest.fixture(scope="module")
def directory(corpus: Corpus, table: Path) -> Directory:
    return load_directory(corpus, str(table))


STRATEGIES = {
    "content": choose_strategy(settings=["anchors.scale=0", "weight.frequency=none"]),
    "link texts": choose_strategy(
        settings=["content.scale=0", "title.scale=0", "window.size=0", "weight.frequency=none"]
    ),
    HOSTILE: choose_strategy(settings=["anchors.scale=0", "weight.frequency=sqrt"]),
}


@pytest.fixture(scope="module")
def done(corpus: Corpus, directory: Directory) -> Evaluation:
    return evaluate_strategies(corpus, directory, {**STRATEGIES, "content again": STRATEGIES["content"]}, threads=2)


def test_the_better_strategy_wins_and_equal_ones_are_equal(done: Evaluation) -> None:
    judged = {one.name: one for one in done.judgements}
    assert list(judged) == [*STRATEGIES, "content again"]
    assert judged["content"].agreements["siblings"].somers_d > 0.5
    assert abs(judged["link texts"].agreements["siblings"].somers_d) < 0.3
    assert judged["content again"].counts is judged["content"].counts
    for one in done.judgements:
        for region in REGIONS:
            agreement = one.agreements[region]
            assert agreement.low <= agreement.gamma <= agreement.high
            assert agreement.somers_low <= agreement.somers_d <= agreement.somers_high
            assert abs(agreement.somers_d) <= abs(agreement.gamma)


def test_one_seed_gives_one_result_however_many_threads(corpus: Corpus, directory: Directory, done: Evaluation) -> None:
    again = evaluate_strategies(corpus, directory, STRATEGIES, threads=1)
    for one, other in zip(done.judgements, again.judgements, strict=False):
        assert one.agreements == other.agreements
        assert np.array_equal(one.nearest, other.nearest)


def test_progress_rises_by_halves_of_a_strategy_and_ends(corpus: Corpus, directory: Directory) -> None:
    told: list[float] = []
    evaluate_strategies(corpus, directory, STRATEGIES, progress=lambda _stage, share: told.append(share))
    assert told == pytest.approx([part / 6 for part in range(7)])


def test_no_temporary_file_is_left_behind(
    corpus: Corpus, directory: Directory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    evaluate_strategies(corpus, directory, {"content": STRATEGIES["content"]})

    def stop(_stage: str, _share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_strategies(corpus, directory, {"content": STRATEGIES["content"]}, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_the_values_for_programs_are_json_without_nan(done: Evaluation) -> None:
    plain = json.loads(json.dumps(done.as_dict(), allow_nan=False))
    assert plain["directory"]["depth"] == 3
    assert plain["directory"]["mode"] == "lenient"
    assert plain["directory"]["choice"] == "primary"
    assert plain["directory"]["not in the collection"] == 2
    assert plain["directory"]["listed too high"] == 1
    assert [one["name"] for one in plain["strategies"]] == [*STRATEGIES, "content again"]
    assert plain["strategies"][0]["siblings"]["pairs"] > 0


# -- which pages --------------------------------------------------------------------------------------------------------


def test_linked_pages_are_those_that_another_page_links_to() -> None:
    corpus = read_web(
        {
            f"{SITE}a": f"<a href={SITE}b>b</a> <a href={SITE}a>myself</a> <a href={SITE}unseen>unseen</a>",
            f"{SITE}b": "<p>no links",
            f"{SITE}c": f"<a href={SITE}c>myself</a>",
        }
    )
    found = linked_pages(corpus, np.arange(len(corpus.urls)))
    assert [corpus.url(int(url)) for url in found] == [f"{SITE}b", f"{SITE}unseen"]


def test_content_is_judged_again_on_pages_without_links(corpus: Corpus, directory: Directory) -> None:
    found = evaluate_strategies(corpus, directory, STRATEGIES, linked=True)
    names = [one.name for one in found.judgements]
    assert names == [*STRATEGIES, "content (all pages)", f"{HOSTILE} (all pages)"]
    assert len(found.bench.sources) < 30
    assert found.bench.note.startswith(f"{len(found.bench.sources)} of 30 pages")
    assert "links to" in found.bench.note
    by_name = {one.name: one for one in found.judgements}
    assert len(by_name["content"].counts.orthogonal) == len(found.bench.sources)
    assert len(by_name["content (all pages)"].counts.orthogonal) == 30


def test_all_pairs_of_sibling_classes_are_taken_where_there_are_fewer_than_asked_for(directory: Directory) -> None:
    bench = make_bench(directory, sample=300)
    # Trees and mosses are the only siblings.
    assert len(bench.sources) == 12
    assert "1 drawn pair of" in bench.note
    assert "all there are; 300 were asked for" in bench.note


def test_so_many_pairs_as_asked_for_are_drawn_and_the_seed_says_which() -> None:
    tree = tree_of([[(a, b, c)] for a in "xy" for b in "pq" for c in "12345678" for _ in range(2)], 3)
    drawn = [make_bench(tree, sample=3, seed=seed, rounds=5) for seed in (1, 1, 2)]
    classes = [sorted({tree.classes[c] for c in bench.classes.tolist()}) for bench in drawn]
    assert classes[0] == classes[1] != classes[2]
    for bench, some in zip(drawn, classes, strict=True):
        assert 4 <= len(some) <= 6
        assert len(bench.urls) == len(bench.sources) == 2 * len(some)
        assert all(any(a[:2] == b[:2] and a != b for b in some) for a in some)
        assert "asked for" not in bench.note


def test_sources_may_be_some_of_the_pages_and_all_stay_candidates() -> None:
    tree = tree_of([[(a, b)] for a in "xyz" for b in "pq" for _ in range(5)], 2)
    bench = with_sources(make_bench(tree, rounds=5), np.arange(0, 28, 4), 5, 1)
    assert (len(bench.sources), len(bench.urls)) == (7, 30)
    few = make_bench(tree, only=np.arange(10), rounds=5)
    assert (len(few.sources), len(few.urls)) == (10, 10)
    assert few.note == "10 of 30 pages of the directory"
    assert make_bench(tree, rounds=5).note == "all 30 pages of the directory"


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


# -- comparisons --------------------------------------------------------------------------------------------------------


def test_the_best_strategy_is_compared_with_every_other(done: Evaluation) -> None:
    plain = json.loads(json.dumps(done.as_dict(), allow_nan=False))
    told = plain["differences"]
    (first,) = {one["first"] for one in told}
    best = next(one for one in done.judgements if one.name == first)
    assert best.agreements["siblings"].somers_d == max(one.agreements["siblings"].somers_d for one in done.judgements)
    others = {one["second"] for one in told}
    assert "link texts" in others
    assert best.name not in others
    assert len(others) == 2  # of two equal strategies one counts
    assert {(one["region"], one["measure"]) for one in told} == {
        *((r, m) for r in REGIONS for m in ("gamma", "somers_d")), ("", "ndcg10"), ("", "map"),
    }  # fmt: skip
    by = {one.name: one.agreements["siblings"].somers_d for one in done.judgements}
    for one in told:
        assert one["low"] <= one["high"]
        assert 0 <= one["p"] <= 1
        if (one["region"], one["measure"]) == ("siblings", "somers_d"):
            assert one["difference"] == pytest.approx(by[best.name] - by[one["second"]], abs=1e-5)
        better = one["first"] if one["difference"] > 0 else one["second"]
        assert one["verdict"] == (f"{better} is better" if one["beyond_chance"] else "may be chance")
    assert plain["difference_is"] == "first minus second"
    assert plain["summary"] == done.summary


def test_one_line_says_whether_the_best_is_better_than_chance(done: Evaluation) -> None:
    equal = [replace(one, p=1.0) for one in done.comparisons()]
    assert "no difference beyond chance, corrected for" in summarise_comparisons(equal, "siblings")
    sure = [replace(one, p=0.001) for one in done.comparisons()]
    assert " is better than " in summarise_comparisons(sure, "siblings")
    assert summarise_comparisons([], "siblings") == ""


def test_steps_between_bars_are_paired_and_corrected_for_their_number() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.2, 2000)  # of the classes drawn, the same for all bars
    bars = {
        "low": (0.2, 0.2 + noise), "same": (0.2, 0.2 + noise + rng.normal(0, 0.01, 2000)),
        "high": (0.3, 0.3 + noise + rng.normal(0, 0.01, 2000)),
    }  # fmt: skip
    first, second = compare_bars(bars, [("low", "same"), ("same", "high")])
    assert not first.sure
    assert second.sure
    assert second.difference == pytest.approx(0.1)
    assert second.low < second.difference < second.high
    alone = compare_bars(bars, [("same", "high")])[0]
    assert second.p == pytest.approx(2 * alone.p)


# -- the directory's own pages ------------------------------------------------------------------------------------------


def test_the_directorys_own_pages_cite_nothing_and_are_not_judged(corpus: Corpus, directory: Directory) -> None:
    own = [f"{SITE}lists/", f"{SITE}sky/stars/giants/0"]
    pages_of = directory_pages(corpus, own)
    assert len(pages_of) == 7
    words = {"link texts": STRATEGIES["link texts"]}
    found = evaluate_strategies(corpus, directory, words, own_pages=own)
    assert found.bench.directory.facts["pages"] == 29
    assert found.bench.directory.facts["own pages"] == 7
    assert len(found.bench.urls) == 29
    # All links are on the lists, so that nothing is left.
    assert found.judgements[0].facts["without_bag"] == 29
    assert len(evaluate_strategies(corpus, directory, words, own_pages=own, linked=True).bench.urls) == 0
    assert directory.facts["pages"] == 30


def test_a_beginning_that_no_page_has_is_refused(corpus: Corpus, directory: Directory) -> None:
    for prefix in ("http://elsewhere.example/", ""):
        with pytest.raises(DirectoryError, match="no page of the collection has a URL that begins"):
            directory_pages(corpus, [prefix])
    with pytest.raises(DirectoryError, match="all listed pages are the directory's own"):
        evaluate_strategies(corpus, directory, STRATEGIES, own_pages=[SITE])
    assert len(directory_pages(corpus, [])) == 0


def test_sources_are_told_apart_by_how_many_pages_link_to_them(corpus: Corpus, directory: Directory) -> None:
    found = evaluate_strategies(corpus, directory, {"3: content": STRATEGIES["content"]})
    ((name, groups),) = found.inlinks
    assert name == "3: content"
    (one,) = found.judgements
    citing = {
        url: len({page for page in pages() if page != url and f"'{url}'" in pages()[page]})
        for url in pages()
        if "/lists/" not in url
    }
    sizes = {label: sum(least <= n <= most for n in citing.values())
             for label, least, most in (("0", 0, 0), ("1-3", 1, 3), ("4-15", 4, 15))}  # fmt: skip
    assert [label for label, *_numbers in groups] == [f"{label} ({n} pages)" for label, n in sizes.items() if n]
    part = np.array([1 <= citing[corpus.url(int(url))] <= 3 for url in found.bench.urls])
    right, wrong, _tied = (counts[part].sum() for counts in one.counts.region("siblings"))
    gammas = {label.partition(" ")[0]: value for label, value, _low, _high in groups}
    assert gammas["1-3"] == pytest.approx((right - wrong) / (right + wrong))


# -- the report ---------------------------------------------------------------------------------------------------------


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


def test_all_differences_are_readable_as_csv(done: Evaluation, tmp_path: Path) -> None:
    done.write(tmp_path, "differences", with_figures=False)
    with (tmp_path / "differences.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["first"], row["second"], row["measure"], row["region"]) for row in rows] == [
        (one.first, one.second, one.measure, one.region) for one in done.comparisons()
    ]
    for row, one in zip(rows, done.comparisons(), strict=True):
        assert [float(row[name]) for name in ("difference", "low", "high", "p")] == pytest.approx(
            [one.difference, one.low, one.high, one.p], nan_ok=True
        )


def test_every_measure_of_a_report_has_its_interval(done: Evaluation, tmp_path: Path) -> None:
    text = Reader(done.write(tmp_path, "intervals", with_figures=False).read_text(encoding="utf-8")).text
    every = text.partition("All strategies")[2]
    for one in done.judgements:
        ends = [(a.low, a.high) for a in one.agreements.values()]
        ends += [(a.somers_low, a.somers_high) for a in one.agreements.values()]
        for low, high in [*ends, *done.scores[one.name].intervals]:
            assert not math.isfinite(low) or f"{format_measure(low)} to {format_measure(high)}" in every
    compared = text.partition("All strategies")[0]
    for one in done.comparisons():
        assert one.region not in ("", done.region) or one.range in compared
    assert done.summary in compared


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


def test_the_strategies_of_a_report_can_be_judged_again(report: Path) -> None:
    found = read_strategies(report.parent / "strategies.toml")
    asked = {**figure_strategies(), HOSTILE: Strategy()}
    assert {name: strategy.digest() for name, strategy in found.items()} == {
        name: strategy.digest() for name, strategy in asked.items()
    }


def test_a_report_without_figures_is_whole_too(done: Evaluation, tmp_path: Path) -> None:
    page = done.write(tmp_path, "a & b", with_figures=False).read_text(encoding="utf-8")
    read = assert_self_contained(page)
    assert "All strategies" in read.text
    assert "<h1>a &amp; b</h1>" in page


# -- strategies in a file -----------------------------------------------------------------------------------------------


def test_strategies_are_read_by_their_headings(tmp_path: Path) -> None:
    file = tmp_path / "strategies.toml"
    file.write_text(
        '[plain]\n[near]\nwindow = {size = 4}\nweight.frequency = "none"\n[old]\npreset = "haveliwala2002"\n', "utf-8"
    )
    found = read_strategies(file)
    assert list(found) == ["plain", "near", "old"]
    assert [strategy.name for strategy in found.values()] == ["plain", "near", "old"]
    assert (found["near"].window.size, found["near"].weight.frequency) == (4, "none")
    assert found["old"].words == "letters"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no strategy"),
        ("words = 'all'", "'words' is neither a strategy nor a table"),
        ("[a]\nwindow.size = -1", r"\[a\]: window.size"),
        ("[a\n", "no TOML"),
        ("[a]\nwidth = 3", "no setting 'width'"),
    ],
)
def test_a_bad_file_of_strategies_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(StrategyError, match=said) as raised:
        read_strategies(file)
    assert "bad.toml" in str(raised.value)


def test_by_default_the_presets_are_judged_and_the_strategy_of_the_index(corpus: Corpus) -> None:
    assert list(own_strategies(corpus)) == ["default", "haveliwala2002"]


def test_baselines_stand_beside_strategies(corpus: Corpus, directory: Directory, tmp_path: Path) -> None:
    found = evaluate_strategies(corpus, directory, {"content": STRATEGIES["content"]}, baselines=["cocitation"])
    strategy, baseline = found.as_dict()["strategies"]
    assert baseline["name"].startswith("cocitation")
    assert baseline.keys() == strategy.keys()
    assert {baseline["name"], "content"} == {found.comparisons()[0].first, found.comparisons()[0].second}
    assert baseline["name"] in Reader(found.write(tmp_path, "both", False).read_text(encoding="utf-8")).text


def test_baselines_without_their_packages_are_counted_and_said(
    done: Evaluation, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = replace(done, left_out={"x": "x needs a package: pip install y", "z": "z needs <another>"})
    verb.print_judgements(missing)
    assert "2 baselines were left out: x needs a package: pip install y; z needs <another>." in capsys.readouterr().out
    assert "z needs &lt;another&gt;" in missing.write(tmp_path, "missing", False).read_text(encoding="utf-8")
