"""A folder of shards is opened and asked like one collection: the first hits, scores and reasons are the same."""

import json
import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import pagekin
from pagekin.bags import Strategy
from pagekin.collection import Answer, Hit, RelatedRequest, ServiceError
from pagekin.engines import BuildRecipe, build_collection, build_shards
from pagekin.hypertext import Corpus, ReadPlan, shard_folders
from pagekin.index import PageIndex
from pagekin.routers import ShardedCollection
from pagekin.similarity import RelatedIndex, all_neighbours
from pagekin.similarity.options import RankingOptions
from pagekin.store import KinError, open_kin
from tests.command import pagekin as pagekin_command
from tests.cutting import shard_collection
from tests.doors.conftest import copied_pages, harbour_pages
from tests.routers.webs import build_leaf

SHARDS = {"demo": 5, "copies": 3, "webkb": 8}
HTML = (
    "<title>Owls of barns</title><p>A barn owl hunts voles by ear over the harbour wall at night, and nests in barns."
)
RELATED: list[dict[str, Any]] = [
    {}, {"exact": True}, {"estimate": True}, {"other_sites": True}, {"same_site": True}, {"captured": True},
    {"wish": "kin"}, {"wish": "see-also"}, {"unfold": True}, {"explain": True}, {"min_similarity": 0.15}, {"limit": 40},
    {"language": "en"}, {"since": "2000-01-01"},
]  # fmt: skip
Pair = tuple[PageIndex, PageIndex]


@pytest.fixture(scope="module")
def kins(demo_kin: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The demo web and a collection full of copies, in one piece and in shards."""
    folder = tmp_path_factory.mktemp("sharded")
    copies = build_leaf(folder / "copies.kin", [*copied_pages(), *harbour_pages(25)])
    kins = {"demo": demo_kin, "copies": copies}
    for name, path in list(kins.items()):
        kins[f"{name} in shards"] = folder / f"{name}-shards.kin"
        shard_collection(path, SHARDS[name], kins[f"{name} in shards"])
    return kins


@pytest.fixture(scope="module", params=["demo", "copies"])
def pair(request: pytest.FixtureRequest, kins: dict[str, Path]) -> Iterator[Pair]:
    """A collection in one piece, and the same in shards."""
    with pagekin.open(kins[request.param]) as one_piece, pagekin.open(kins[f"{request.param} in shards"]) as shards:
        yield one_piece, shards


def found(answer: Answer) -> list[Any]:
    """What an answer says, besides paths and topics, which are those of shards."""
    hits = [
        (hit.url, hit.title, hit.score, hit.error, hit.copies, hit.snippet, hit.date, hit.language, hit.pages, hit.captured,
         hit.terms, hit.citations, hit.signals)
        for hit in answer
    ]  # fmt: skip
    return [hits, answer.total, answer.more, answer.distinct, answer.note, answer.copies, answer.below_threshold]


def refusal(index: PageIndex, error: ServiceError) -> str:
    """Why a question is refused; the addresses that may have been meant are looked for in each shard, and may be others."""
    return str(error).replace(index.target, "").partition("Did you mean")[0]


def same_answers(pair: Pair, verb: str, *asked: Any, **options: Any) -> Sequence[Hit]:
    """Ask both, compare all that they say, and return the hits; both may refuse with the same words."""
    answers = []
    for index in pair:
        try:
            answers.append(getattr(index, verb)(*asked, deadline=60, **options))
        except ServiceError as error:
            answers.append(refusal(index, error))
    one_piece, shards = answers
    if isinstance(one_piece, str) or isinstance(shards, str):
        assert one_piece == shards
        return []
    assert found(shards) == found(one_piece), (verb, asked, options)
    return list(one_piece)


def queries(corpus: Corpus, count: int, seed: int) -> Iterator[str]:
    """Words, questions, phrases, attributes, operators and misspelt words of a collection, drawn."""
    chance = random.Random(seed)
    words = [word for term in range(min(5_000, len(corpus.terms))) if (word := corpus.word(term)).isalpha()]
    for number in range(count):
        some = [chance.choice(words[: chance.choice([40, 400, 5_000])]) for _ in range(chance.choice([1, 2, 3, 5]))]
        page = corpus.words(chance.randrange(len(corpus)))
        at = chance.randrange(max(len(page) - 1, 1))
        in_a_row = " ".join(corpus.word(int(term)) for term in page[at : at + 2]) or some[0]
        turned = some[0][1::-1] + some[0][2:]
        yield (
            " ".join(some), f"what is {' '.join(some)}?", f"title:{some[0]}", " OR ".join(some),
            f"{some[0]} NOT {words[3]}", f'"{in_a_row}"', f"{turned} {some[-1]}", in_a_row,
        )[number % 8]  # fmt: skip


def ask_for_words(pair: Pair, corpus: Corpus, count: int) -> int:
    """Ask both all kinds of queries, with and without filters and further down; return the hits that were compared."""
    hits = 0
    for number, query in enumerate(queries(corpus, count, 7)):
        for options in ({}, {"first": 10}, {"language": "en"})[: 3 if number % 5 == 0 else 1]:
            hits += len(same_answers(pair, "search", query, **options))
    return hits


def ask_for_related(pair: Pair, urls: Sequence[str]) -> int:
    """Ask both about pages, alone and two together, with every option; return the hits that were compared."""
    hits = 0
    for place, url in enumerate(urls):
        for options in RELATED:
            hits += len(same_answers(pair, "related", url, **options))
        hits += len(same_answers(pair, "related", [url, urls[place - 1]], explain=True))
    return hits


def test_every_query_has_the_same_first_hits(pair: Pair) -> None:
    corpus = pair[0]._collection.corpus
    assert ask_for_words(pair, corpus, 160) > 400


def test_every_page_has_the_same_related_pages(pair: Pair) -> None:
    urls = list(pair[0].urls)
    assert list(pair[1].urls) == urls
    assert ask_for_related(pair, urls[:: max(len(urls) // 10, 1)]) > 600


def test_a_page_from_outside_has_the_same_related_pages(pair: Pair) -> None:
    target = next(iter(pair[0].urls))
    for html in (HTML, f"{HTML} <a href='{target}'>the harbour</a>"):
        assert same_answers(pair, "related", html=html)
        assert same_answers(pair, "related", "http://birds.example/own", html=html, explain=True)


def test_an_unknown_page_is_refused_in_the_same_words(pair: Pair) -> None:
    for url in ("http://nowhere.example/", "mailto:somebody", next(iter(pair[0].urls)) + "x"):
        assert same_answers(pair, "related", url) == []
        said = []
        for index in pair:
            with pytest.raises(ServiceError) as refused:
                index.page(url)
            said.append(refusal(index, refused.value))
        assert said[0] == said[1]


def test_what_was_understood_of_a_page_is_the_same(pair: Pair) -> None:
    for url in list(pair[0].urls)[::40]:
        one_piece, shards = (index.page(url) for index in pair)
        assert shards == one_piece


def test_real_pages_are_found_as_in_one_piece(universities: Path, tmp_path: Path) -> None:
    plan = ReadPlan([str(universities)], tmp_path / "webkb.kin")
    build_collection(plan, BuildRecipe(Strategy(), text=True))
    shard_collection(plan.out, SHARDS["webkb"], tmp_path / "shards.kin")
    with pagekin.open(plan.out) as one_piece, pagekin.open(tmp_path / "shards.kin") as shards:
        pair = one_piece, shards
        assert ask_for_words(pair, Corpus.open(plan.out), 48) > 120
        chance, urls = random.Random(11), one_piece.urls
        assert ask_for_related(pair, [urls[chance.randrange(len(urls))] for _ in range(5)]) > 200


def test_neighbours_of_all_pages_are_those_of_the_collection_in_one_piece(kins: dict[str, Path]) -> None:
    import numpy as np

    one_piece, shards = (RelatedIndex.open(kins[name]) for name in ("copies", "copies in shards"))
    answers = [
        list(all_neighbours(index, np.arange(len(index)), RankingOptions(k=5), threads=2))
        for index in (one_piece, shards)
    ]
    assert answers[0] == answers[1]


def test_each_shard_answers_by_itself(kins: dict[str, Path]) -> None:
    for folder in shard_folders(open_kin(kins["demo in shards"])):
        with pagekin.open(folder) as shard:
            own = set(shard.urls)
            hits = 0
            for url in list(own)[::40]:
                related = shard.related(url, explain=True)
                hits += len(related.results)
                assert {hit.url for hit in related} <= own
            assert hits > 20
            assert shard.search("the editor").total


def test_a_bag_is_that_of_the_page_in_one_piece(kins: dict[str, Path]) -> None:
    with pagekin.open(kins["demo"]) as one_piece, pagekin.open(kins["demo in shards"]) as shards:
        for url in list(one_piece.urls)[::100]:
            bags = [index._blocking.ask(index._service.bag, RelatedRequest(url=url)) for index in (one_piece, shards)]
            assert bags[0] == bags[1]


def test_a_folder_that_was_rebuilt_is_answered_from_anew(kins: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "web.kin"
    shard_collection(kins["copies"], 2, out)
    with pagekin.open(out) as index:
        service = index._service
        assert isinstance(service, ShardedCollection)
        before = index.search("harbour").total
        assert {hit.path[1] for hit in index.search("harbour")} <= {"shard-0", "shard-1"}
        shard_collection(kins["demo"], 4, out)
        service.source.look_again()
        assert index.search("harbour").total != before
        assert index.search("mont blanc").results[0].url == "http://mountains.example/mont-blanc.html"
        assert len(index.children()) == 4
        assert len(index) == 968


def test_shards_of_another_build_are_refused(kins: dict[str, Path], tmp_path: Path) -> None:
    for shards in (2, 3):
        shard_collection(kins["copies"], shards, tmp_path / f"{shards}.kin")
    two, three = (shard_folders(open_kin(tmp_path / f"{shards}.kin")) for shards in (2, 3))
    shutil.rmtree(two[0])
    shutil.copytree(three[0], two[0])
    with pytest.raises(KinError, match="another shard than the one"):
        pagekin.open(tmp_path / "2.kin")


def test_what_needs_one_piece_says_so(kins: dict[str, Path]) -> None:
    with (
        pagekin.open(kins["demo in shards"]) as shards,
        pytest.raises(KinError, match="in 5 shards, and this needs one"),
    ):
        shards.evaluate("url-path")


def test_what_needs_labels_says_how_shards_get_some(tmp_path: Path) -> None:
    plain = ReadPlan(["demo"], tmp_path / "plain.kin", workers=1)
    build_shards(plain, 3, BuildRecipe(Strategy(), text=True))
    with pagekin.open(plain.out) as shards:
        assert shards.search("granite").total
        for ask in (shards.refine, shards.select, shards.expand):
            with pytest.raises(ServiceError, match=r"plain has no content label.*again without --no-clusters"):
                ask("granite")
        with pytest.raises(ServiceError, match="without --no-clusters"):
            shards.label()


# -- clusters ------------------------------------------------------------------------------------------------------------


def browsed(kin: Path, *arguments: str) -> Any:
    """What `pagekin clusters` prints for programs; central pages stand in the order of their shards, so here by address."""
    done = pagekin_command("clusters", kin, *arguments, "--json")
    assert done.returncode == 0, done.stderr

    def sort_pages(node: Any) -> Any:
        if isinstance(node, list):
            return [sort_pages(one) for one in node]
        central = {"central": sorted(node["central"], key=lambda page: page["url"])} if "central" in node else {}
        return node | central | ({"children": sort_pages(node["children"])} if "children" in node else {})

    return sort_pages(json.loads(done.stdout))


@pytest.mark.parametrize("asked", [["--tree"], ["3"], ["--hierarchy", "addresses", "--tree"], ["--documents"]])
def test_clusters_of_shards_are_browsed_as_one(kins: dict[str, Path], asked: list[str]) -> None:
    assert browsed(kins["demo in shards"], *asked) == browsed(kins["demo"], *asked)


def test_names_are_saved_from_one_piece_alone(kins: dict[str, Path], tmp_path: Path) -> None:
    done = pagekin_command("clusters", kins["demo in shards"], "--save-names", tmp_path / "names.toml")
    assert done.returncode == 3
    assert "this one is in shards" in done.stderr
    assert list(tmp_path.iterdir()) == []
