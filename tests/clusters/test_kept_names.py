"""Names that topics keep: written to a file, changed by people, and found again when a collection is built anew."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.cli.app import app, load_verbs
from pagekin.clusters import ClusterDescription, ClusterError, KeptNames, Tree, write_names
from pagekin.hypertext import Corpus
from pagekin.store import open_kin
from tests.bags.webs import read_web, record

load_verbs()
PAGES = 60
LABELS = np.array([0] * 30 + [1] * 20 + [2] * 10)


def corpus_of(pages: int = PAGES) -> Corpus:
    return read_web({f"http://a.example/{number:02}": f"<p>page {number}" for number in range(pages)})


def tree_of(labels: np.ndarray, names: tuple[str, ...]) -> Tree:
    tree = Tree.of_levels("clusters", [labels], {})
    descriptions = [ClusterDescription(name, (), ()) for name in names]
    return Tree(tree.name, tree.parent, tree.offsets, tree.pages, tree.facts, descriptions)


def saved(tmp_path: Path, text: str) -> KeptNames:
    (tmp_path / "names.toml").write_text(text)
    return KeptNames.load(tmp_path / "names.toml")


def test_names_are_found_again_where_the_topic_is_the_same(tmp_path: Path) -> None:
    corpus = corpus_of()
    kept = saved(tmp_path, write_names(tree_of(LABELS, ("all", "Stones", 'Birds "of prey"', "Stars")), corpus))
    moved = LABELS.copy()
    moved[:4] = 1  # some pages changed their topic: the order of topics is another, most of each is the same
    moved[50:] = [3, 3, 3, 2, 4, 4, 5, 5, 6, 6]  # what was one topic fell apart
    tree = Tree.of_levels("clusters", [moved], {})
    names = {node: name for node, name in kept.match(tree, corpus).items()}
    assert sorted(names.values()) == ['Birds "of prey"', "Stones"]
    for node, name in names.items():
        assert set(LABELS[tree.pages_of(node)]) >= {0 if name == "Stones" else 1}
    assert KeptNames().match(tree, corpus) == {}


def test_the_smallest_topic_that_holds_all_named_pages_is_meant(tmp_path: Path) -> None:
    corpus = corpus_of()
    levels = [LABELS > 0, LABELS]
    tree = Tree.of_levels("clusters", levels, {})
    text = '[[topic]]\nname = "Mine"\naddresses = ["http://a.example/35", "http://a.example/36"]\n'
    text += '[[topic]]\nname = "Both"\naddresses = ["http://a.example/35", "http://a.example/55"]\n'
    text += '[[topic]]\nname = "Nowhere"\naddresses = ["http://a.example/none"]\n'
    names = saved(tmp_path, text).match(tree, corpus)
    assert {name: len(tree.pages_of(node)) for node, name in names.items()} == {"Mine": 20, "Both": 30}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[topic]]\nname = 3\nsketch = '0a'", "topic 1: the name must have 1 to 200 characters"),
        ("[[topic]]\nname = 'x'", "neither a sketch nor addresses"),
        ("[[topic]]\nname = 'x'\nsketch = 'zz'", "the sketch is damaged"),
        ("[[topic]]\nname = 'x'\nsketsh = '0a'", "there is no field 'sketsh'"),
        ("[[topic]]\nname = 'x'\naddresses = 'y'", "addresses must be a list"),
        ("topic = 3", "is not a file of names"),
        ("topic = [3]", "it is not a table"),
        ("[topics]", "is not a file of names"),
        ("name = ", "is not TOML"),
    ],
)
def test_mistakes_in_the_file_are_told(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ClusterError, match=said.replace("[", r"\[")):
        saved(tmp_path, text)


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


def test_a_build_takes_names_and_its_manifest_tells_of_them(tmp_path: Path) -> None:
    web, names, kin = tmp_path / "web.warc", tmp_path / "names.toml", tmp_path / "web.kin"
    words = {"stones": "granite slate basalt quarry", "birds": "owl wren feather wing"}
    pages = {
        f"http://a.example/{topic}/{number}": f"<title>{topic} {number}</title><p>{text} {number} "
        f"<a href='/{topic}/{(number + 1) % 9}'>{topic}</a>"
        for topic, text in words.items()
        for number in range(9)
    }
    web.write_bytes(b"".join(record(url, html) for url, html in pages.items()))
    build = ("build", web, "--out", kin, "--quiet", "--workers", "1")
    assert run(*build)[0] == 0
    code, said = run("clusters", kin, "--save-names", names, "--json")
    assert code == 0
    assert json.loads(said)["names"] == names.read_text().count("[[topic]]") >= 2
    assert "names" not in open_kin(kin).facts["trees"][0]
    before = json.loads(run("clusters", kin, "--json")[1])["children"][0]["name"]
    text = names.read_text().replace(f'"{before}"', '"My own name"')
    names.write_text(text)
    assert run(*build, "--names", names)[0] == 0
    assert json.loads(run("clusters", kin, "--json")[1])["children"][0]["name"] == "My own name"
    assert open_kin(kin).facts["trees"][0]["names"] == KeptNames.load(names).digest
    built = {name: entry["checksum"] for name, entry in open_kin(kin).manifest["files"].items()}
    assert run("cluster", kin, "--names", names)[0] == 0
    again = {name: entry["checksum"] for name, entry in open_kin(kin).manifest["files"].items()}
    assert again == built
    assert run("cluster", kin)[0] == 0
    assert json.loads(run("clusters", kin, "--json")[1])["children"][0]["name"] == before
    code, said = run("cluster", kin, "--names", tmp_path / "none.toml")
    assert code != 0
    assert "cannot be read" in said
