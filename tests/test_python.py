"""`pagekin.open`: every question from Python, of a collection, a network and an address, also in a running event loop."""

import asyncio
import html
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import pagekin
from pagekin.bags import StrategyError
from pagekin.collection import Filters, Item, ReloadingCollection, ServiceError, make_filters
from pagekin.index import PageIndex
from pagekin.routers import Network, Place, Router, router_app
from pagekin.routers.network import Node
from pagekin.store import KinError
from pagekin.text import QueryError
from tests.conftest import HostLeaf
from tests.engines.living import archive, build
from tests.routers.webs import Running, Web, eager, free_ports, host_records

HOSTS = ("mountains", "rivers")


@pytest.fixture(scope="module")
def kins(host_leaf: HostLeaf) -> dict[str, Path]:
    """Return two collections by name."""
    return {name: host_leaf(name) for name in HOSTS}


@pytest.fixture(scope="module")
def mountains(kins: dict[str, Path]) -> Iterator[PageIndex]:
    with pagekin.open(kins["mountains"]) as kin:
        yield kin


@pytest.fixture(scope="module")
def network(kins: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder of a network that runs: both collections below one router."""
    names = ("root", *HOSTS)
    places = {name: Place("127.0.0.1", port) for name, port in zip(names, free_ports(len(names)), strict=True)}
    urls = {name: f"http://{place.host}:{place.port}/" for name, place in places.items()}
    folder = tmp_path_factory.mktemp("network")
    nodes = [Node("root", urls["root"], False)]
    nodes += [Node(name, urls[name], True, kins[name], ("root",)) for name in HOSTS]
    (folder / "network.toml").write_text(Network.of("net", nodes).to_toml())
    services: list[Any] = [Router("root", {name: urls[name] for name in HOSTS}, eager())]
    services += [ReloadingCollection(name, kins[name]) for name in HOSTS]
    with Running([(service, places[service.name]) for service in services], router_app):
        Web(urls, {"root": HOSTS}).await_labels()
        yield folder


@pytest.fixture(scope="module")
def everywhere(network: Path) -> Iterator[PageIndex]:
    with pagekin.open(network) as kin:
        yield kin


@pytest.fixture(params=["mountains", "everywhere"])
def kin(request: pytest.FixtureRequest) -> PageIndex:
    """Return a collection, and a network."""
    index: PageIndex = request.getfixturevalue(request.param)
    return index


def urls(answer: Any) -> list[str]:
    return [hit.url for hit in answer]


def test_an_answer_is_a_sequence_and_prints_as_lines(mountains: PageIndex) -> None:
    answer = mountains.search("peak", limit=3)
    assert answer[0] == answer.results[0] and answer[1:] == answer.results[1:] and answer[-1] in list(answer)
    with pytest.raises(IndexError):
        answer[len(answer)]
    first, *lines = repr(answer).splitlines()
    assert first == f"<Answer: {len(answer)} results>" and len(lines) == len(answer) > 1
    assert lines[0].endswith(f"{answer[0].title}  {answer[0].url}")


def test_pages_of_hits_follow_one_another(kin: PageIndex) -> None:
    whole = kin.search("mountain", 12)
    assert len(whole.results) == 12
    assert urls(kin.search("mountain", 5)) + urls(kin.search("mountain", 7, 5)) == urls(whole)
    assert kin.search("mountain", 5).more
    assert whole.results[0].title
    assert whole.results[0].marks


def test_select_and_expand_go_down_step_by_step(mountains: PageIndex) -> None:
    clusters = mountains.select("mountain")
    assert {hit.kind for hit in clusters} == {"cluster"}
    documents = mountains.expand("mountain", clusters)
    assert {hit.kind for hit in documents} == {"document"}
    assert urls(mountains.expand("mountain")) == urls(documents)
    assert len(mountains.expand("mountain", each=1).results) == len(clusters.results)
    chosen = mountains.select("mountain", documents.results[:3])
    assert urls(chosen) == urls(documents.results[:3])
    assert urls(mountains.show("mountain", chosen)) == urls(chosen)


def test_suggestions_are_like_the_hits_of_a_query_or_those_that_are_named(kin: PageIndex) -> None:
    best, every = kin.search("volcano"), kin.search("volcano", limit=1000)
    suggested = kin.suggest("volcano", limit=6)
    assert suggested.results
    assert not set(urls(suggested)) & set(urls(every)), "what matches is found, not suggested"
    named = kin.suggest("volcano", items=best, limit=6)
    assert named.results
    assert not set(urls(named)) & set(urls(best))
    whole = kin.suggest("volcano", preset="hypursuit1996", limit=1000)
    assert set(urls(whole)) != set(urls(suggested))
    assert whole.total == len(whole.results) > 0
    with pytest.raises(ServiceError, match="nothing to suggest by"):
        kin.suggest("zzzzzz")


def test_terms_refine_a_query_by_pages_and_by_sub_clusters(kin: PageIndex) -> None:
    pages, clusters = kin.refine("mountain"), kin.refine("mountain", preset="hypursuit1996")
    assert pages.known > clusters.known > 0
    assert pages.narrower != clusters.narrower
    assert len(kin.refine("mountain", 1).collocated) <= 1


def test_related_pages_have_similarities_and_reasons(kin: PageIndex) -> None:
    asked = kin.search("mountain").results[0]
    url = asked.url
    answer = kin.related(url, 3, explain=True)
    assert len(answer.results) == 3
    assert [(one.url, one.title) for one in answer.subjects] == [(url, asked.title)]  # without what its host repeats
    assert answer.strategy == "default" and answer.alpha >= 0
    assert all(0 < page.similarity < 1 and page.terms for page in answer)
    assert not kin.related(url, other_sites=True, captured=True, site="mountains.example").results
    assert not kin.related(url, min_similarity=0.9).results
    assert kin.related(url, estimate=True).results[0].error > 0
    several = kin.related([url, answer.results[0].url])
    assert answer.results[0].url not in urls(several)


def test_a_page_from_outside_is_compared_in_a_collection_only(mountains: PageIndex, everywhere: PageIndex) -> None:
    html = "<title>A peak</title><p>The summit of the highest mountain, covered by a glacier, café"
    assert urls(mountains.related(html=html)) == urls(mountains.related(html=html.encode("cp1252")))
    latin = html.replace("<title>", "<meta charset=iso-8859-1><title>")
    assert urls(mountains.related(html=latin)) == urls(mountains.related(html=html)), "text has no encoding any more"
    with pytest.raises(ServiceError, match="has no word that counts"):
        mountains.related(html=b"")
    with pytest.raises(ServiceError, match="is a router"):
        everywhere.related(html=html)
    with pytest.raises(ServiceError, match="no page was named"):
        mountains.related()


def test_a_page_is_described_wherever_it_is(kin: PageIndex) -> None:
    url = kin.search("mountain").results[0].url
    assert kin.page(url)["url"] == url
    assert kin.page(url)["words"]["title"]
    with pytest.raises(ServiceError):
        kin.page("http://nowhere.example/")


def test_the_whole_is_told(mountains: PageIndex, everywhere: PageIndex, kins: dict[str, Path]) -> None:
    assert len(mountains) == mountains.label().num_docs == mountains.summary().documents
    assert mountains.children() == ()
    assert mountains.urls[0] in mountains.urls
    assert {child.name for child in everywhere.children()} == set(HOSTS) == set(everywhere.summary().children)
    assert len(everywhere) == everywhere.label().num_docs == sum(len(pagekin.open(kins[name])) for name in HOSTS)
    assert {node.name for node in everywhere.tree().children} == set(HOSTS)
    assert everywhere.health().ready
    with pytest.raises(ServiceError, match="this needs a collection's folder"):
        everywhere.urls  # noqa: B018


def test_an_address_is_asked_like_the_networks_folder(everywhere: PageIndex, network: Path) -> None:
    address = Network.load(network).roots()[0].url
    with pagekin.open(address) as kin:
        assert urls(kin.search("mountain")) == urls(everywhere.search("mountain"))


def test_it_works_inside_a_running_event_loop(kin: PageIndex) -> None:
    async def in_a_notebook() -> list[str]:
        return urls(kin.search("mountain"))

    assert asyncio.run(in_a_notebook()) == urls(kin.search("mountain"))


@pytest.mark.parametrize(
    ("since", "until", "seconds"),
    [
        ("1996-12-01", "1996-12-01", (849_398_400, 849_484_799)),
        (date(1996, 12, 1), date(1996, 12, 1), (849_398_400, 849_484_799)),
        (849_398_400, datetime(1996, 12, 1, tzinfo=UTC), (849_398_400, 849_398_400)),
        ("1961-01-01", "", (0, None)),
        (0, None, (0, None)),
    ],
)
def test_days_and_moments_limit_dates(since: Any, until: Any, seconds: tuple[int | None, int | None]) -> None:
    assert make_filters("a.example", since, until, "en") == Filters("a.example", *seconds, "en")


@pytest.mark.parametrize(
    ("question", "error", "words"),
    [
        (lambda kin: kin.search("colour:red"), QueryError, "colour"),
        (lambda kin: kin.search("mountain", since="yesterday"), QueryError, "is not a day"),
        (lambda kin: kin.search("mountain", language="klingon-of-old"), QueryError, "language"),
        (lambda kin: kin.search("mountain", -1), ServiceError, "limit"),
        (lambda kin: kin.search("mountain", routing="magic"), ServiceError, "routing"),
        (lambda kin: kin.related("http://mountains.example/k2.html", 0), ServiceError, "options.k"),
        (lambda kin: kin.related("http://mountains.example/k2.html", wish="none"), ServiceError, "wish"),
        (lambda kin: kin.related("http://mountains.example/k3.html"), ServiceError, r"mountains\.kin.*Did you mean"),
        (lambda kin: kin.refine("mountain", 1001), ServiceError, "count"),
        (lambda kin: kin.show("x", [Item("document", "")]), ServiceError, "url"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_reason(
    mountains: PageIndex, question: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        question(mountains)


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(KinError, match="pagekin build"):
        pagekin.open(tmp_path / "none.kin")
    with pagekin.open("http://127.0.0.1:9/") as kin, pytest.raises(ServiceError, match="cannot be reached"):
        kin.search("mountain")


def test_strategies_are_judged_and_tuned_from_python(mountains: PageIndex, tmp_path: Path) -> None:
    classes = ("Top/a/x", "Top/a/y", "Top/b/x", "Top/b/y")
    table = "".join(f"{url}\t{classes[place % 4]}\n" for place, url in enumerate(mountains.urls))
    (tmp_path / "table.tsv").write_text(table)
    done = mountains.evaluate(tmp_path / "table.tsv", cache=False)
    assert {"default", "haveliwala2002"} <= {one.name for one in done.judgements}
    assert mountains.tune(tmp_path / "table.tsv", tries=2).tries >= 2


@pytest.fixture
def table(mountains: PageIndex, tmp_path: Path) -> Path:
    """Return a directory of its pages."""
    classes = ("Top/a/x", "Top/a/y", "Top/b/x", "Top/b/y")
    lines = [f"{url}\t{classes[place % 4]}\n" for place, url in enumerate(mountains.urls)]
    (tmp_path / "directory.tsv").write_text("".join(lines))
    return tmp_path / "directory.tsv"


def test_strategies_are_given_as_a_file_as_tables_or_as_objects(mountains: PageIndex, table: Path) -> None:
    text = '["words alone"]\nanchors.scale = 0\n["with anchor text"]\npreset = "default"\n'
    (table.parent / "two.toml").write_text(text)
    by_file = mountains.evaluate(table, strategies=table.parent / "two.toml", cache=False)
    by_name = mountains.evaluate(table, strategies=str(table.parent / "two.toml"), cache=False)
    by_tables = mountains.evaluate(table, strategies=tomllib.loads(text), cache=False)
    by_objects = mountains.evaluate(table, strategies=by_file.strategies, cache=False)
    for done in (by_name, by_tables, by_objects):
        assert done.as_dict()["differences"] == by_file.as_dict()["differences"]
        assert list(done.strategies) == ["words alone", "with anchor text"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "holds no strategy"),
        ({"a": 3}, "'a' is neither a strategy nor a table"),
        ({"a": {"no.such": 1}}, r"\[a\]"),
        ("nowhere.toml", "nowhere.toml cannot be read"),
        (["a"], "not a list"),
    ],
)
def test_strategies_that_are_none_are_refused_with_a_reason(
    mountains: PageIndex, table: Path, wrong: Any, said: str
) -> None:
    with pytest.raises(StrategyError, match=said):
        mountains.evaluate(table, strategies=wrong)


def test_an_evaluation_is_a_table_and_so_are_its_differences(
    mountains: PageIndex, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs the example of docs/python.md."""
    (table.parent / "strategies.toml").write_text(
        '["words alone"]\nanchors.scale = 0\n["with anchor text"]\npreset = "default"\n'
    )
    text = (Path(__file__).parent.parent / "docs/python.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(result = kin.evaluate.*?)```", text, re.DOTALL)
    monkeypatch.chdir(table.parent)
    monkeypatch.setattr("pagekin.evaluation.evaluate.cache_folder", lambda: None)
    names: dict[str, Any] = {"kin": mountains}
    exec(example, names)
    result = names["result"]
    frame = result.to_pandas()
    assert list(zip(frame["name"], frame["region"], strict=True)) == [
        (name, region) for name in result.strategies for region in ("overall", "siblings", "cousins", "unrelated")
    ]
    for low, value, high in (("low", "gamma", "high"), ("somers_low", "somers_d", "somers_high"),
                             ("ndcg10_low", "ndcg10", "ndcg10_high"), ("map_low", "map", "map_high")):  # fmt: skip
        known = frame.dropna(subset=[value])
        assert len(known) and (known[low] <= known[high]).all() and known[value].between(-1, 1).all()
    assert result.to_arrow().num_rows == len(frame)
    differences = result.differences.to_pandas()
    assert len(differences) == len(result.differences) == result.differences.to_arrow().num_rows > 4
    assert set(differences["first"]) | set(differences["second"]) == set(result.strategies)
    assert result.summary and result.summary in repr(result) and len(repr(result)) < 1000
    for shown in (result, result.differences):
        assert html.escape(result.summary) in shown._repr_html_()
        assert "<table>" in shown._repr_html_()


def test_what_nobody_closes_is_closed_at_the_end(network: Path) -> None:
    address = Network.load(network).roots()[0].url
    code = f"import pagekin; kin = pagekin.open({address!r}); print(len(kin.search('mountain').results))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("10\n", "")


# -- updates -------------------------------------------------------------------------------------------------------------


def test_an_open_collection_answers_from_its_update_at_once(tmp_path: Path) -> None:
    hosts = host_records()
    kin = tmp_path / "living.kin"
    build([archive(tmp_path, "mountains.warc", hosts["mountains"])], kin, whole=True)
    rivers = archive(tmp_path, "rivers.warc", hosts["rivers"])
    with pagekin.open(kin) as index:
        pages = len(index)
        assert not any("rivers" in hit.url for hit in index.search("water OR river", limit=50))
        report = index.update(rivers, remove_sites=["mountains.example"])
        assert (report.pages.added, report.pages.removed) == (len(hosts["rivers"]), pages)
        found = index.search("water OR river", limit=50)
        assert found.total and all("rivers" in hit.url for hit in found)
        assert index.compact().facts["pages"] == len(index) == len(hosts["rivers"])
        with pytest.raises(KinError, match="--updatable"):
            build([rivers], tmp_path / "bare.kin", keep=False, whole=True)
            pagekin.open(tmp_path / "bare.kin").update(rivers)
