"""`pagekin explain-gamma` as a user meets it: two orderings of one page's kin, and mistakes."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from pagekin.cli.app import BAD_INPUT, USAGE
from pagekin.cli.explain_gamma import STRIP, SYMBOLS
from tests.bags.webs import record
from tests.cli.answers import HOSTILE, made, refused
from tests.command import pagekin
from tests.evaluation.topics import SITE, pages

OAK = f"{SITE}living/plants/trees/1.html"
OWL = f"{SITE}living/birds/owls/0.html"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pages of five classes, one of which has a title that means harm."""
    folder = tmp_path_factory.mktemp("explained")
    hostile = {
        f"{SITE}living/plants/trees/wide.html": f"<title>{HOSTILE} 日本語の木 {'oak ' * 60}</title><p>oak beech bark"
    }
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in (pages() | hostile).items()))
    made(pagekin("read", folder / "web.warc", "--out", folder / "web.kin", "--parser", "strict", "--workers", "1"))
    (folder / "two.toml").write_text(
        '["own words"]\nanchors.scale = 0\nweight.frequency = "none"\n'
        '["around links"]\ncontent.scale = 0\ntitle.scale = 0\nwindow.size = 8\nweight.frequency = "none"\n'
    )
    return folder


def explain(web: Path, url: str, *arguments: str | Path, columns: int = 80) -> Any:
    return pagekin(
        "explain-gamma", web / "web.kin", url, "--directory", "url-path", "--workers", "1", *arguments,
        env={**os.environ, "COLUMNS": str(columns)},
    )  # fmt: skip


def test_both_orderings_stand_under_each_other_in_a_narrow_terminal(web: Path) -> None:
    said = made(explain(web, OAK, "--strategies", web / "two.toml", "-k", "4")).stdout
    lines = said.splitlines()
    assert lines[:3] == ["page", OAK, "/living/plants/trees"]
    assert "6 same class #, 6 sibling +, 6 cousin -, 12 unrelated ." in said
    assert [line for line in lines if cell_len(line) > 80 and not line.startswith("http")] == []
    best, worst = lines.index("Best: own words"), lines.index("Worst: around links")
    assert best < worst
    first = [line for line in lines[best:worst] if re.match(r" +\d+  0\.\d{3}  ", line)]
    assert len(first) == 4
    assert "same class" in first[0]
    assert "/living/plants/trees" in said
    assert re.search(r"^siblings +-?\d\.\d{3} +-?\d\.\d{3} +\d+ +\d+ +\d+$", said, re.MULTILINE)
    (strip,) = [line for line in lines[best:worst] if line and set(line) <= set(SYMBOLS.values())]
    assert strip.startswith("###")
    assert len(strip) <= STRIP


def test_they_stand_side_by_side_where_there_is_room(web: Path) -> None:
    lines = made(explain(web, OAK, "--strategies", web / "two.toml", columns=150)).stdout.splitlines()
    (heading,) = [line for line in lines if "Best: own words" in line]
    column = heading.index("Worst: around links")
    assert column > 60
    assert max(map(cell_len, lines)) <= 150
    (regions, *_more) = [line for line in lines if line.startswith("siblings") and line.count("siblings") == 2]
    assert regions.index("siblings", 1) == column


def test_titles_cannot_drive_the_terminal(web: Path) -> None:
    done = made(explain(web, OAK, "--strategies", web / "two.toml", "-k", "40"))
    assert "\x1b" not in done.stdout
    assert "�[31mRed" in done.stdout


def test_programs_get_everything_as_json(web: Path) -> None:
    told = json.loads(made(explain(web, OAK, "--strategies", web / "two.toml", "--json", "-k", "40")).stdout)
    assert told["source"] == {"url": OAK, "title": "page", "classes": ["/living/plants/trees"]}
    assert told["region"] == "siblings"
    assert told["directory"]["candidates"] == {"same class": 6, "sibling": 6, "cousin": 6, "unrelated": 12}
    assert [one["name"] for one in told["strategies"]] == ["own words", "around links"]
    for one in told["strategies"]:
        siblings = one["siblings"]
        ordered = siblings["concordant"] + siblings["discordant"]
        assert ordered + siblings["tied"] == 36
        assert siblings["gamma"] == pytest.approx((siblings["concordant"] - siblings["discordant"]) / ordered, abs=1e-6)
    best = told["best"]
    values = [one["similarity"] for one in best["ordering"]]
    assert values == sorted(values, reverse=True)
    assert best["strip"] == "".join(SYMBOLS[one["relation"]] for one in best["ordering"])
    at = [one["place"] for one in best["ordering"] if one["relation"] == "same class"]
    assert best["same_class"]["places"] == at
    for pair in told["worst"]["discordant"]:
        assert pair["far"]["similarity"] > pair["near"]["similarity"]
        assert pair["near"]["relation"] == "same class" != pair["far"]["relation"]
        assert pair["far"]["terms"]


def test_a_page_without_siblings_is_judged_by_all_pairs_and_the_output_says_so(web: Path) -> None:
    done = made(explain(web, OWL, "--strategies", web / "two.toml"))
    assert "Strategies by overall Γ" in done.stdout


def test_by_default_presets_and_plain_strategies_are_judged(web: Path) -> None:
    told = json.loads(made(explain(web, OAK, "--json")).stdout)
    names = {one["name"] for one in told["strategies"]}
    assert names == {"default", "haveliwala2002", "links", "window 0", "window 32", "content"}


@pytest.mark.parametrize(
    ("url", "arguments", "code", "said"),
    [
        (f"{SITE}living/plants/trees/99.html", [], BAD_INPUT, "Did you mean"),
        (f"{SITE}lists/0.html", [], BAD_INPUT, "stands at /lists in url-path"),
        (OAK, ["--figures", "--strategies", "x.toml"], USAGE, "exclude each other"),
        (OAK, ["--strategies", "x.toml"], USAGE, "x.toml cannot be read"),
        (OAK, ["--mode", "loose"], USAGE, "--mode is one of lenient, strict"),
        (OAK, ["--directory", "nowhere.tsv"], BAD_INPUT, "nowhere.tsv does not exist"),
        (OAK, ["--directory", "breadcrumbs"], BAD_INPUT, "no page of the collection has breadcrumbs"),
        (OAK, ["-k", "0"], USAGE, "-k"),
    ],
)
def test_mistakes_end_with_a_sentence(web: Path, url: str, arguments: list[str], code: int, said: str) -> None:
    refused(explain(web, url, *arguments), code, said)
