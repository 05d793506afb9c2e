"""The last evaluation: it is kept in the collection without harm to anyone, and shown as it was."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar.testing import TestClient
from typer.testing import CliRunner

from pagekin.cli.app import app, load_verbs
from pagekin.collection import (
    JudgedStrategy,
    ReloadingCollection,
    StoredEvaluation,
    StrategyScore,
    command_to_repeat,
    read_evaluations,
)
from pagekin.evaluation import store_evaluation
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.store import KinError, KinWriter, check_files, open_kin
from pagekin.web import web_app
from pagekin.web.pages.evaluation import BAR, bars
from pagekin.wording import format_measure
from tests.bags.webs import record
from tests.routers.webs import build_leaf, request

from .browser import NARROW, WIDE, overflow
from .conftest import EVIL
from .parsed import Parsed, harm

HTML = {"Accept": "text/html"}
TOPICS = {
    "living/plants": "oak beech timber bark",
    "living/birds": "owl feather night wing",
    "sky/stars": "giant star fusion light",
}


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_cached(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pagekin.evaluation.evaluate.cache_folder", lambda: None)
        yield


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small collection with three classes, in folders named by them; not to be changed."""
    records = [
        record(
            f"http://site.example/{path}/{n}/p.html", f"<title>{words.split()[n % 4]}</title><p>{words} own{n} {words}"
        )
        for path, words in TOPICS.items()
        for n in range(5)
    ]
    return build_leaf(tmp_path_factory.mktemp("judged") / "small.kin", records, clusters=3)


@pytest.fixture
def own(judged: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(judged, tmp_path / "small.kin"))


def run(*arguments: object) -> Any:
    load_verbs()
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def client_of(path: Path, name: str = "small") -> TestClient[Any]:
    mounted: Any = MountedRouters({Place("testserver.local", 80): ReloadingCollection(name, path)}, web_app())
    return TestClient(mounted)


def a_report(name: str = "content", **changes: Any) -> StoredEvaluation:
    score = StrategyScore(gamma=0.5, low=0.25, high=0.75, somers_d=0.5, tied=0.0, pairs=9)
    one = JudgedStrategy(
        name=name, judged="all", score=score, gammas={"siblings": 0.5}, orthogonality=None, ndcg10=0.4, map=0.3
    )  # fmt: skip
    kept = StoredEvaluation(
        date=1_600_000_000, pagekin="1", command="pagekin evaluate", directory="d.tsv", depth=3, mode="lenient",
        classes_of_a_page="primary", pages=9, classes=3, judged="all", region="siblings", summary="", strategies=(one,),
    )  # fmt: skip
    return msgspec.structs.replace(kept, **changes)


def test_the_command_keeps_what_it_printed_and_the_page_shows_it(own: Path, tmp_path: Path) -> None:
    table = tmp_path / "private folder" / "directory.tsv"
    table.parent.mkdir()
    table.write_text(
        "".join(f"http://site.example/{path}/{n}/p.html\ttop/{path}\n" for path in TOPICS for n in range(5))
    )
    found = run("evaluate", own, "--directory", table, "--seed", 7, "--workers", 1, "--json")
    assert found.exit_code == 0, found.output
    printed = {one["name"]: one for one in json.loads(found.stdout)["strategies"]}
    with client_of(own) as client:
        (report,) = client.get("/evaluation.json").json()["reports"]
        page = client.get("/evaluation", headers=HTML)
    kept = report["kept"]
    assert report["kind"] == "evaluate"
    assert {one["name"] for one in kept["strategies"]} == set(printed)
    for one in kept["strategies"]:
        for measure in ("gamma", "low", "high", "somers_d", "pairs"):
            assert one["score"][measure] == pytest.approx(printed[one["name"]][kept["region"]][measure], abs=1e-4)
        assert one["ndcg10"] == pytest.approx(printed[one["name"]]["ndcg10"], abs=1e-4)
        assert f"{one['score']['gamma']:.3f}" in Parsed(page.content).text
    # Others are not told where things lie on this machine.
    assert kept["command"] == "pagekin evaluate small.kin --directory directory.tsv --seed 7"
    assert str(tmp_path) not in page.text and "private" not in page.text
    assert kept["command"] in Parsed(page.content).text
    assert harm(page.content) == []
    # What the command calls overall comes first, then the other regions by their names.
    for one in kept["strategies"]:
        told = printed[one["name"]]
        assert one["overall"]["gamma"] == pytest.approx(told["overall"]["gamma"], abs=1e-4)
        main = told[kept["region"]]
        assert cells_of(page.content, one["name"]) == [
            with_interval(main["somers_d"], main["somers_low"], main["somers_high"]),
            *(
                with_interval(told[region]["gamma"], told[region]["low"], told[region]["high"])
                for region in ("overall", "siblings", "cousins", "unrelated")
            ),
        ]
        for ends in ("ndcg10", "map"):
            assert with_interval(told[ends], told[f"{ends}_low"], told[f"{ends}_high"]) in Parsed(page.content).text


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None or low is None or high is None:
        return "–"
    return f"{format_measure(value)} {format_measure(low)} to {format_measure(high)}"


def test_every_door_draws_the_same_conclusion(own: Path, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text('["plain"]\nanchors.scale = 0\n["short windows"]\nwindow.size = 2\n')
    asked = ("evaluate", own, "--directory", "url-path", "--strategies", tmp_path / "two.toml", "--workers", 1)
    told = json.loads(run(*asked, "--json").stdout)
    printed = run(*asked, "--out", tmp_path / "report").output
    report = Parsed((tmp_path / "report" / "index.html").read_bytes()).text
    with client_of(own) as client:
        page = Parsed(client.get("/evaluation", headers=HTML).content).text
    for shown in (printed, report, page):
        assert told["summary"] in shown
    for one in told["differences"]:
        ends = f"{format_measure(one['low'], '+')} to {format_measure(one['high'], '+')}"
        assert all(ends in shown for shown in (printed, report, page)), one


def cells_of(html: bytes, name: str) -> list[str]:
    """What stands in the first table beside a strategy's name, without the bar."""
    row = next(part for part in html.decode().partition("<tbody>")[2].split("<tr") if f"<bdi>{name}</bdi>" in part)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)
    plain = [cell.replace(" <small>highest</small>", "") for cell in cells if "<svg" not in cell]
    return [re.sub(r' <small class="ends">(.*?)</small>', r" \1", cell) for cell in plain]


def highest_in(html: bytes) -> dict[str, list[str]]:
    """By heading of a column of the first table, the strategies that are marked as highest there."""
    table = html.decode().partition("<table")[2].partition("</table>")[0]
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)[1:]
    found: dict[str, list[str]] = {}
    for row in table.partition("<tbody>")[2].split("<tr")[1:]:
        (name,) = re.findall(r"<bdi>(.*?)</bdi>", row)
        for head, cell in zip(heads, re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL), strict=True):
            if "highest" in cell:
                found.setdefault(head, []).append(name)
    return found


def two_strategies(old: tuple[float, float], new: tuple[float, float], **changes: Any) -> StoredEvaluation:
    """A report on two strategies by (Somers' D of siblings, Γ of all)."""
    (one,) = a_report().strategies
    some = tuple(
        msgspec.structs.replace(
            one,
            name=name,
            score=msgspec.structs.replace(one.score, somers_d=d),
            overall=msgspec.structs.replace(one.score, gamma=overall),
        )
        for name, (d, overall) in (("old", old), ("new", new))
    )
    return a_report(strategies=some, **changes)


def test_what_is_said_to_be_better_is_marked_by_the_measure_that_says_so(own: Path) -> None:
    said = "new is better than old by 0.100 [0.050, 0.150] (Somers' D, siblings; 95 %, paired)."
    store_evaluation(open_kin(own), "evaluate", two_strategies((0.5, 0.9), (0.6, 0.8), summary=said))
    with client_of(own) as client:
        page = client.get("/evaluation", headers=HTML).content
    assert highest_in(page) == {"Somers’ D, siblings": ["new"], "Γ, all": ["old"]}
    text = Parsed(page).text
    assert "is decided by Somers’ D among siblings : whether pages of one place" in text and f"By that: {said}" in text
    assert "By another measure, Γ over all pages , which the bars show, old is highest. Both can be true" in text


def test_where_both_measures_agree_nothing_is_explained_away(own: Path) -> None:
    store_evaluation(open_kin(own), "evaluate", two_strategies((0.5, 0.8), (0.6, 0.9), summary="new comes first."))
    with client_of(own) as client:
        page = client.get("/evaluation", headers=HTML).content
    assert highest_in(page) == {"Somers’ D, siblings": ["new"], "Γ, all": ["new"]}
    assert "By another measure" not in Parsed(page).text


def test_what_is_the_same_is_not_called_highest(own: Path) -> None:
    for overall, expected in ((0.8, {}), (0.7, {"Γ, all": ["old"]})):
        store_evaluation(open_kin(own), "evaluate", two_strategies((0.5, 0.8), (0.5, overall)))
        with client_of(own) as client:
            page = client.get("/evaluation", headers=HTML).content
        assert highest_in(page) == expected and "By another measure" not in Parsed(page).text


@pytest.mark.parametrize(
    ("directory", "said"),
    [
        ("url-path", "folders in the pages’ own addresses"),
        ("breadcrumbs", "trails that the pages themselves show"),
        ("dmoz.tsv", "Judged by the directory dmoz.tsv"),
    ],
)
def test_the_page_says_what_the_directory_was(own: Path, directory: str, said: str) -> None:
    store_evaluation(open_kin(own), "evaluate", a_report(directory=directory))
    with client_of(own) as client:
        text = Parsed(client.get("/evaluation", headers=HTML).content).text
    assert said in text
    assert ("made by people" in text, "Nobody sorted" in text) == (False, directory == "url-path")


def test_reports_of_earlier_versions_tell_what_they_have(own: Path) -> None:
    (one,) = a_report().strategies
    known = msgspec.structs.replace(one, gammas={"overall": 0.9, "siblings": 0.5, "cousins": None})
    unknown = msgspec.structs.replace(one, name="other", gammas={"overall": None, "siblings": 0.5})
    store_evaluation(open_kin(own), "evaluate", a_report(strategies=(known, unknown)))
    with client_of(own) as client:
        page = client.get("/evaluation", headers=HTML).content
        assert cells_of(page, "content") == ["0.500", "0.900", "0.500", "–", "–"]
        assert cells_of(page, "other") == ["0.500", "–", "", "0.500", "–", "–"]
        store_evaluation(open_kin(own), "evaluate", a_report())
    with client_of(own) as client:
        page = client.get("/evaluation", headers=HTML).content
        assert cells_of(page, "content") == ["0.500", "0.500 0.250 to 0.750", "–", "–", "–"]
        assert "Γ, siblings" in Parsed(page).text


def test_a_table_that_is_cut_off_says_so(own: Path, tmp_path: Path, browser: Any) -> None:
    found = run("evaluate", own, "--directory", "url-path", "--workers", 1, "--out", tmp_path / "report")
    assert found.exit_code == 0, found.output
    with client_of(own) as client:
        page = client.get("/evaluation", headers=HTML).text
        (style,) = re.findall(r'<link rel="stylesheet" href="(.*?)">', page)
        page = page.replace("</head>", f"<style>{client.get(style).text}</style></head>")
    web = re.sub("<(script|link).*?>", "", page).replace("<details>", "<details open>")
    report = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    for width in (WIDE, NARROW):
        shown = browser.new_page(viewport={"width": width, "height": 844})
        for name, html in (("web", web), ("report", report)):
            shown.set_content(html)
            assert overflow(shown) == []
            cut = shown.evaluate("""() => [...document.querySelectorAll(".gammas, .sheet, .wide > table")]
                .map((table) => table.parentElement).filter((box) => box.scrollWidth > box.clientWidth)
                .map((box) => box.previousElementSibling)
                .map((before) => Boolean(before?.matches(".hint") && before.offsetHeight))""")
            assert all(cut), (name, width)
            assert cut or width == WIDE, "on a phone some table is wider"
        shown.close()


@pytest.mark.parametrize("file", ["The demo web.kin", "it's $HOME;`id`.kin", "<b>&amp;.kin"])
def test_the_command_that_is_offered_can_be_run(judged: Path, tmp_path: Path, file: str) -> None:
    path = Path(shutil.copytree(judged, tmp_path / file))
    with client_of(path, "Another name") as client:
        page = client.get("/evaluation", headers=HTML).content
    (offered,) = [text for tag, text in Parsed(page).texts if tag == "pre"]
    assert shlex.split(offered) == ["pagekin", "evaluate", file, "--directory", "directory.tsv"]
    assert harm(page) == []
    assert shlex.split(command_to_repeat("evaluate", str(path), f"x/{file}"))[2:5:2] == [file, file]


def test_keeping_leaves_all_else_as_it_was(own: Path) -> None:
    before = open_kin(own)
    store_evaluation(before, "evaluate", a_report())
    after = open_kin(own)
    assert list(check_files(own)) == []
    assert {**after.facts, "evaluation": None} == {**before.facts, "evaluation": None}
    assert after.manifest["files"] == before.manifest["files"]
    store_evaluation(after, "tune", a_report(date=1_700_000_000))
    assert list(read_evaluations(open_kin(own).facts)) == ["tune", "evaluate"]
    with client_of(own) as client:
        assert client.get("/search?q=owl").json()["total"] > 0


def test_a_served_collection_shows_a_new_report_and_is_not_disturbed(own: Path) -> None:
    leaf = ReloadingCollection("small", own)
    mounted: Any = MountedRouters({Place("testserver.local", 80): leaf}, web_app())
    with TestClient(mounted) as client:
        assert "This collection has not been evaluated" in client.get("/evaluation", headers=HTML).text
        label = client.get("/label").content
        store_evaluation(open_kin(own), "evaluate", a_report("fresh"))
        leaf.source.look_again()
        assert "fresh" in Parsed(client.get("/evaluation", headers=HTML).content).text
        assert client.get("/label").content == label


def test_beside_a_build_results_are_told_but_not_kept(own: Path) -> None:
    with KinWriter(own, "pagekin build"):
        found = run("evaluate", own, "--directory", "url-path", "--depth", 2, "--workers", 1)
    assert found.exit_code == 0, found.output
    assert "not stored" in found.stderr and "is being written" in found.stderr
    assert "haveliwala2002" in found.stdout
    assert read_evaluations(open_kin(own).facts) == {}


def test_results_of_other_pages_are_not_kept(own: Path) -> None:
    before = open_kin(own)
    build_leaf(own, [record("http://site.example/new", "<title>new</title><p>other words altogether here")], 2)
    with pytest.raises(KinError, match="read again"):
        store_evaluation(before, "evaluate", a_report())
    assert read_evaluations(open_kin(own).facts) == {}


def test_a_search_for_a_strategy_is_kept_too(own: Path, tmp_path: Path) -> None:
    table = tmp_path / "directory.tsv"
    rows = [f"http://site.example/{path}/{n}/p.html\ttop/{path}/{n % 2}\n" for path in TOPICS for n in range(5)]
    table.write_text("".join(rows))
    found = run("tune", own, "--bags", "--directory", table, "--tries", 3, "--workers", 1)
    assert found.exit_code == 0, found.output
    (kept,) = read_evaluations(open_kin(own).facts).values()
    assert kept.search is not None and kept.search.tries == 3
    assert {one.name for one in kept.strategies} == {"tuned", "default", "haveliwala2002"}
    with client_of(own) as client:
        page = client.get("/evaluation", headers=HTML)
    assert "3 strategies tried" in Parsed(page.content).text
    assert harm(page.content) == []


def test_hostile_names_do_no_harm(own: Path) -> None:
    evil = f"{EVIL}\"'><img src=x onerror=alert(1)>\u202e" + "w" * 5_000
    kept = a_report(evil, summary=evil, directory=evil, command=evil, judged=evil, pagekin=evil, region=evil)
    store_evaluation(open_kin(own), "evaluate", kept)
    with client_of(own, evil[:100]) as client:
        page = client.get("/evaluation", headers=HTML)
        assert page.status_code == 200
        assert harm(page.content) == []
        assert len(page.content) <= 100_000


@pytest.mark.parametrize(
    "facts",
    [
        {}, {"evaluation": None}, {"evaluation": []}, {"evaluation": {"evaluate": {}}}, {"evaluation": {"evaluate": 7}},
        {"evaluation": {"evaluate": {**msgspec.to_builtins(a_report()), "strategies": [{"name": 3}]}}},
    ],
)  # fmt: skip
def test_what_another_version_kept_is_left_out(facts: dict[str, Any]) -> None:
    assert read_evaluations(facts) == {}


def test_a_report_comes_back_as_it_was_kept() -> None:
    kept = a_report()
    assert read_evaluations({"evaluation": {"evaluate": json.loads(msgspec.json.encode(kept))}}) == {"evaluate": kept}


def test_where_there_is_no_report_the_page_says_how_to_make_one(client: TestClient[Any], network_site: str) -> None:
    page = Parsed(client.get("/evaluation", headers=HTML).content)
    assert "pagekin evaluate demo.kin --directory" in page.text
    found = request(f"{network_site}evaluation", headers=HTML)
    assert found.status == 200 and harm(found.body) == []
    assert request(f"{network_site}evaluation.json").json["reports"] == []


SCORES = st.lists(
    st.none()
    | st.tuples(*[st.integers(-1000, 1000).map(lambda value: value / 1000)] * 3).map(
        lambda three: (sorted(three)[1], min(three), max(three))
    ),
    max_size=12,
)


@given(SCORES)
def test_bars_are_as_long_as_their_values(scores: list[Any]) -> None:
    made = bars(scores)
    values = [0.0, *(value for score in scores if score for value in score)]
    unit = BAR / ((max(values) - min(values)) or 1.0)
    for bar, score in zip(made, scores, strict=True):
        assert (bar is None) == (score is None)
        if bar and score:
            assert bar.width == pytest.approx(abs(score[0]) * unit, abs=0.02)
            assert bar.high - bar.low == pytest.approx((score[2] - score[1]) * unit, abs=0.02)
            assert 0 <= bar.low <= bar.high <= BAR and 0 <= bar.x <= bar.x + bar.width <= BAR + 0.02


def test_commands_name_files_and_not_folders() -> None:
    assert re.fullmatch(
        r"pagekin tune b\.kin --directory url-path --tries 3",
        command_to_repeat("tune", "/home/me/b.kin", "url-path", "--tries 3"),
    )
    assert command_to_repeat("evaluate", "x/b.kin", "/home/me/d.tsv") == "pagekin evaluate b.kin --directory d.tsv"
