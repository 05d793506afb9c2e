"""`pagekin cluster` and `pagekin clusters` as a user meets them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.clusters import read_trees
from pagekin.evaluation.cache import corpus_digest
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.store import open_kin
from tests.bags.webs import record

SITE = "http://site.example/"
load_verbs()
TOPICS = {
    "stones": "granite slate basalt quarry marble gneiss mica quartz",
    "birds": "owl wren feather wing beak nest egg hawk",
    "stars": "star planet orbit comet crater moon nova dust",
}


def pages() -> dict[str, str]:
    """Three topics of 12 pages; each page has words of its topic, and links to two others of it."""
    rng = np.random.default_rng(3)
    made = {}
    for topic, words in TOPICS.items():
        for number in range(12):
            text = " ".join(rng.choice(words.split(), 14).tolist())
            links = "".join(
                f"<a href='/{topic}/{(number + step) % 12}'>{topic} {(number + step) % 12}</a> " for step in (1, 5)
            )
            made[f"{SITE}{topic}/{number}"] = f"<title>{topic} {number}</title><p>{text}<p>{links}"
    return made


@pytest.fixture(scope="module")
def kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clustered")
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in pages().items()))
    read_sources(ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=1))
    (folder / "directory.tsv").write_text("".join(f"{url}\t/x/{url.split('/')[3]}/y\n" for url in pages()))
    before = corpus_digest(Corpus.open(folder / "web.kin"))
    code, said = run("cluster", folder / "web.kin", "--directory", folder / "directory.tsv")
    assert code == 0, said
    assert corpus_digest(Corpus.open(folder / "web.kin")) == before  # clusters change nothing for what was judged
    return folder / "web.kin"


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


def topics_of(kin: Path, name: str) -> list[set[str]]:
    """The topics in each cluster of the level below the root."""
    tree = next(tree for tree in read_trees(open_kin(kin)) if tree.name == name)
    urls = sorted(pages())
    return [{urls[page].split("/")[3] for page in tree.pages_of(node).tolist()} for node in tree.children[0]]


def test_topics_are_found_and_named(kin: Path) -> None:
    assert sorted(map(sorted, topics_of(kin, "clusters"))) == [["birds"], ["stars"], ["stones"]]
    code, said = run("clusters", kin)
    assert code == 0
    for words in TOPICS.values():
        assert any(word in said for word in words.split())
    assert said.count("12 pages") == 3


def test_central_pages_of_one_title_are_named_once(tmp_path: Path) -> None:
    same = {url: re.sub("<title>birds .*?<", "<title>Birds<", html) for url, html in pages().items()}
    (tmp_path / "web.warc").write_bytes(b"".join(record(url, html) for url, html in same.items()))
    read_sources(ReadPlan([str(tmp_path / "web.warc")], tmp_path / "web.kin", parser="strict", workers=1))
    assert run("cluster", tmp_path / "web.kin")[0] == 0
    lines = [line.strip() for line in run("clusters", tmp_path / "web.kin")[1].splitlines()]
    assert "Birds" in lines
    assert not any("Birds; Birds" in line for line in lines)
    assert any(line.count("; ") == 2 and line.startswith("stars") for line in lines)


def test_all_trees_stand_side_by_side(kin: Path) -> None:
    code, said = run("clusters", kin, "--hierarchy", "addresses", "--tree")
    assert code == 0
    assert "site.example" in said
    assert "stones" in said
    code, said = run("clusters", kin, "--hierarchy", "directory", "--tree", "--json")
    told = json.loads(said)
    assert told["pages"] == 36
    assert [child["name"] for child in told["children"][0]["children"]] == ["birds", "stars", "stones"]
    assert run("check", kin)[0] == 0


def test_one_cluster_and_the_cluster_of_a_page(kin: Path) -> None:
    code, said = run("clusters", kin, f"{SITE}birds/3", "--json")
    assert code == 0
    told = json.loads(said)
    assert told["pages"] <= 12
    assert all("/birds/" in page["url"] for page in told["central"])
    code, said = run("clusters", kin, str(told["cluster"]))
    assert code == 0
    assert f"{SITE}birds/" in said


@pytest.mark.parametrize("similarity", ["terms", "links", "hybrid"])
def test_the_papers_method(kin: Path, tmp_path: Path, similarity: str) -> None:
    copy = tmp_path / "copy.kin"
    copy.mkdir()
    for file in kin.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    arguments = ("cluster", copy, "--max-clusters", "3", "--similarity", similarity)
    code, said = run(*arguments)
    assert code == 0, said
    assert sorted(map(sorted, topics_of(copy, "clusters"))) == [["birds"], ["stars"], ["stones"]]
    facts = open_kin(copy).facts["trees"][0]
    assert (facts["method"], facts["similarity"], facts["clusters"]) == ("hypursuit1996", similarity, 3)
    assert [tree.name for tree in read_trees(open_kin(copy))] == ["clusters", "addresses", "directory"]
    before = {file.name: file.read_bytes() for file in copy.glob("*.npy")}
    assert run(*arguments)[0] == 0
    assert {file.name: file.read_bytes() for file in copy.glob("*.npy")} == before


def test_agreement_with_a_directory(kin: Path) -> None:
    code, said = run(
        "cluster", kin, "--evaluate", "--directory", kin.parent / "directory.tsv", "--max-clusters", "3", "--json"
    )
    assert code == 0, said
    rows = json.loads(said)
    assert {row["method"] for row in rows} == {"default", "terms", "links", "hybrid (max)"}
    second = [row for row in rows if row["level"] == 2]
    assert [row["adjusted_rand"] for row in second] == [1.0] * 4
    code, said = run("cluster", kin, "--evaluate", "--directory", kin.parent / "directory.tsv", "--max-clusters", "3")
    assert "hybrid (max)" in said


def test_indexing_again_keeps_the_clusters(kin: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.kin"
    copy.mkdir()
    for file in kin.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    before = corpus_digest(Corpus.open(copy))
    assert run("index", copy)[0] == 0
    assert corpus_digest(Corpus.open(copy)) == before  # judgements that are kept hold on
    assert [tree.name for tree in read_trees(open_kin(copy))] == ["clusters", "addresses", "directory"]
    assert run("check", copy)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["cluster", "KIN", "--similarity", "moods"], "similarity is one of: hybrid, terms, links", USAGE),
        (["cluster", "KIN", "--combine", "sum"], "combine is one of: max", USAGE),
        (["cluster", "KIN", "--preset", "best"], "method is one of: default, hypursuit1996", USAGE),
        (
            ["cluster", "KIN", "--preset", "default", "--combine", "max"],
            "combine needs the preset hypursuit1996",
            USAGE,
        ),
        (["cluster", "KIN", "--evaluate"], "give --directory", USAGE),
        (["cluster", "no.kin"], "does not exist", BAD_INPUT),
        (["clusters", "KIN", "999"], "there is no cluster 999", USAGE),
        (["clusters", "KIN", "9" * 40], "there is no cluster 999", USAGE),
        (["clusters", "KIN", "--hierarchy", "moods"], "there are clusters, addresses, directory", USAGE),
        (["clusters", "KIN", "http://site.example/gone"], "is not in", BAD_INPUT),
    ],
)
def test_mistakes_are_told(kin: Path, arguments: list[str], said: str, code: int) -> None:
    found, output = run(*(str(kin) if one == "KIN" else one for one in arguments))
    assert (found, said in output) == (code, True), output


def test_a_build_makes_clusters_unless_told_not_to_and_info_tells_of_them(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(b"".join(record(url, html) for url, html in pages().items()))
    arguments = ("build", tmp_path / "web.warc", "--out", tmp_path / "web.kin", "--parser", "strict", "--workers", "1")
    code, said = run(*arguments)
    assert code == 0, said
    made = open_kin(tmp_path / "web.kin").facts["trees"][0]
    assert f"{made['clusters']} topics" in said
    assert sorted(map(sorted, topics_of(tmp_path / "web.kin", "clusters"))) == [["birds"], ["stars"], ["stones"]]
    code, said = run("info", tmp_path / "web.kin")
    assert f"{made['clusters']} by 'default', {made['nodes']} on all levels; also addresses (5 nodes)" in said
    told = json.loads(run("info", tmp_path / "web.kin", "--json")[1])["bytes"]
    assert told["trees"] == sum(size for name, size in told.items() if name.startswith(("tree.", "label.", "about.")))
    assert told["search"] == sum(
        size for name, size in told.items() if name.startswith(("form.", "posting.", "fulltext"))
    )
    on_disk = re.findall("(?:streams|text|index) .+?(?=,|\n)", said.split("on disk")[1])
    assert len(on_disk) == 4  # trees are no words: without them all else is as large
    code, said = run(*arguments, "--no-clusters", "--no-text")
    assert code == 0, said
    said = run("info", tmp_path / "web.kin")[1].split("on disk")[1]
    assert (
        on_disk == re.findall("(?:streams|text|index) .+?(?=,|\n)", said) and "search 0 bytes, clusters 0 bytes" in said
    )
    assert "none; make it with: pagekin index" in run("info", tmp_path / "web.kin")[1]
    assert "none; make them with: pagekin cluster" in run("info", tmp_path / "web.kin")[1]


def test_a_collection_without_clusters_says_how_to_make_them(tmp_path: Path) -> None:
    (tmp_path / "web.warc").write_bytes(record(SITE, "<p>granite"))
    read_sources(ReadPlan([str(tmp_path / "web.warc")], tmp_path / "web.kin", parser="strict", workers=1))
    code, said = run("clusters", tmp_path / "web.kin")
    assert code == BAD_INPUT
    assert "pagekin cluster" in said
    assert run("cluster", tmp_path / "web.kin")[0] == 0
    assert run("clusters", tmp_path / "web.kin")[0] == 0


@pytest.mark.parametrize("preset", ["default", "hypursuit1996"])
def test_captures_of_one_address_share_a_cluster(tmp_path: Path, preset: str) -> None:
    again = {url: html.replace("<p>", "<p>later ", 1) for url, html in list(pages().items())[::5]}
    records = [record(url, html) for url, html in pages().items()]
    records += [record(url, html, "2021-01-01T00:00:00Z") for url, html in again.items()]
    (tmp_path / "web.warc").write_bytes(b"".join(records))
    plan = ReadPlan([str(tmp_path / "web.warc")], tmp_path / "web.kin", parser="strict", workers=1, all_captures=True)
    read_sources(plan)
    code, said = run("cluster", tmp_path / "web.kin", "--preset", preset, "--max-clusters", "3")
    assert code == 0, said
    kin = open_kin(tmp_path / "web.kin")
    assert kin.facts["pages"] == len(pages()) + len(again)
    tree = read_trees(kin)[0]
    homes = [tree.homes(page) for page in range(kin.facts["pages"])]
    assert all(len(home) == 1 for home in homes)
    urls = kin["page.url"].tolist()
    assert len({(url, *home) for url, home in zip(urls, homes, strict=True)}) == len(pages())
    assert run("check", tmp_path / "web.kin")[0] == 0
