"""Every setting of clusters has an effect, is chosen at every door, and stands in the manifest."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.bags import settings_table
from pagekin.cli.app import USAGE, app, load_verbs
from pagekin.clusters import (
    ClusterError,
    ClusterSettings,
    LinkSettings,
    TermSettings,
    choose_clusters,
    read_trees,
)
from pagekin.clusters.make import make_clusters, page_similarity
from pagekin.engines import cluster_collection
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.labels import read_label
from pagekin.store import open_kin
from tests.bags.webs import record

load_verbs()
SITE = "http://site.example/"
PAPER = ClusterSettings("hypursuit1996")
CHANGES = {
    "max_clusters": 4, "similarity": "links", "combine": "mean", "seed": 7, "sample": 20, "links.ancestors": 0.9,
    "links.descendants": 0.9, "links.paths": 0.0, "links.levels": 1, "links.normalise": "common", "terms.title": 0.0,
    "terms.header": 0.0, "terms.keyword": 0.0, "terms.address": 0.0, "terms.alt": 20.0, "terms.text": 9.0,
}  # fmt: skip
"""A value for every setting that is not its default."""


def pages() -> dict[str, str]:
    """40 pages with words under every attribute, in a tree of links with some across."""
    rng = np.random.default_rng(5)
    words = [f"{a}{b}" for a in "stone bird star lake moss wind".split() for b in ("", "en", "fold", "work", "ware")]

    def some(count: int) -> str:
        return " ".join(rng.choice(words, count).tolist())

    made = {}
    for number in range(40):
        others = [2 * number + 1, 2 * number + 2, int(rng.integers(40)), int(rng.integers(40))]
        links = "".join(f"<a href='/{other}'>on</a> " for other in others if other < 40)
        made[f"{SITE}{number}"] = (
            f"<title>{some(2)}</title><h1>{some(2)}</h1><p>{some(12)} <b>{some(2)}</b>"
            f"<img src=x alt='{some(2)}'><address>{some(2)}</address><p>{links}"
        )
    return made


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("settings")
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in pages().items()))
    read_sources(ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=1))
    return folder


def copied(web: Path, folder: Path) -> Path:
    copy = folder / "copy.kin"
    copy.mkdir()
    for file in (web / "web.kin").iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    return copy


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, " ".join(result.output.split())


def facts_of(kin: Path) -> dict[str, Any]:
    facts: dict[str, Any] = open_kin(kin).facts["trees"][0]
    return facts


def test_every_setting_is_tried() -> None:
    assert {name for name, *_about in settings_table(ClusterSettings)} == set(CHANGES)


@pytest.mark.parametrize("name", [name for name in CHANGES if name not in ("max_clusters", "seed", "sample")])
def test_a_setting_of_the_paper_changes_what_pages_are_similar(web: Path, name: str) -> None:
    corpus = Corpus.open(web / "web.kin")
    # F would hide what is smaller than the other part.
    base = replace(PAPER, combine="max" if name == "combine" else "mean")
    before, _pages = page_similarity(corpus, base)
    after, _pages = page_similarity(corpus, base.with_settings({name: CHANGES[name]}))
    assert not np.array_equal(before, after)


def test_numbers_of_clusters_seeds_and_samples_change_the_clusters(web: Path) -> None:
    corpus = Corpus.open(web / "web.kin")
    for base in (ClusterSettings(), PAPER):
        assert len(np.unique(make_clusters(corpus, replace(base, max_clusters=4)).labels)) <= 4
    seeds = [make_clusters(corpus, ClusterSettings(seed=seed)) for seed in range(8)]
    assert len({tuple(made.levels[-1].tolist()) for made in seeds}) > 1
    samples = [make_clusters(corpus, ClusterSettings(sample=sample)) for sample in (39, 20, 40, 41)]
    assert [made.sampled for made in samples] == [39, 20, 0, 0]
    assert len({tuple(made.levels[-1].tolist()) for made in samples}) > 1


@pytest.mark.parametrize("method", ["default", "hypursuit1996"])
def test_weights_of_attributes_change_the_label_with_either_method(web: Path, tmp_path: Path, method: str) -> None:
    kin = copied(web, tmp_path)
    labels = []
    for title in (10.0, 0.0, 10.0):
        cluster_collection(kin, ClusterSettings(method, similarity="links", terms=TermSettings(title=title)))
        labels.append(read_label(open_kin(kin)))
    assert labels[0] == labels[2] != labels[1]


def test_the_settings_stand_in_the_manifest_as_chosen(web: Path, tmp_path: Path) -> None:
    kin = copied(web, tmp_path)
    chosen = PAPER.with_settings(CHANGES)
    cluster_collection(kin, chosen)
    assert {name: facts_of(kin)[name] for name in chosen.as_facts()} == chosen.as_facts()
    assert facts_of(kin)["links"] == asdict(chosen.links) != asdict(LinkSettings())
    assert facts_of(kin)["terms"] == asdict(chosen.terms) != asdict(TermSettings())
    assert read_trees(open_kin(kin))[0].facts["combine"] == "mean"


def test_cluster_takes_all_settings_by_name_and_says_what_it_took(web: Path, tmp_path: Path) -> None:
    kin = copied(web, tmp_path)
    settings = [part for name, value in CHANGES.items() for part in ("--set", f"{name}={value}")]
    code, said = run("cluster", kin, *settings, "--json")
    assert code == 0, said
    expected = PAPER.with_settings(CHANGES).as_facts()
    assert {name: json.loads(said)[0][name] for name in expected} == expected
    assert run("cluster", kin, "--clusters-preset", "hypursuit1996", "--cluster-set", "links.levels=none")[0] == 0
    assert facts_of(kin)["links"]["levels"] is None


def test_build_and_network_init_take_the_same_settings(web: Path, tmp_path: Path) -> None:
    options = [
        "--clusters-preset",
        "hypursuit1996",
        "--cluster-set",
        "links.paths=0",
        "--cluster-set",
        "terms.header=2",
    ]
    code, said = run(
        "build", web / "web.warc", "--out", tmp_path / "x.kin", *options, "--cluster-set", "max_clusters=5"
    )
    assert code == 0, said
    code, said = run(
        "network",
        "init",
        "--from-archive",
        web / "web.warc",
        "--out",
        tmp_path / "net",
        *options,
        "--max-clusters",
        "5",
    )
    assert code == 0, said
    for kin in (tmp_path / "x.kin", tmp_path / "net" / "leaves" / "site.example.kin"):
        facts = facts_of(kin)
        assert (facts["method"], facts["max_clusters"], facts["clusters"]) == ("hypursuit1996", 5, 5)
        assert (facts["links"]["paths"], facts["terms"]["header"]) == (0.0, 2.0)
    # Sites that were made with other settings are made anew.
    again = ["network", "init", "--from-archive", web / "web.warc", "--out", tmp_path / "net", "--replace", "--json"]
    assert json.loads(run(*again)[1])["kept"] == 0
    assert facts_of(tmp_path / "net" / "leaves" / "site.example.kin")["method"] == "default"
    assert json.loads(run(*again)[1])["kept"] == 1


def test_a_setting_that_only_the_paper_has_chooses_its_method() -> None:
    assert choose_clusters().method == choose_clusters(settings=["terms.title=3", "max_clusters=9"]).method == "default"
    for setting in ("links.paths=0", "combine=mean", "similarity=terms"):
        assert choose_clusters(settings=[setting]).method == "hypursuit1996"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--cluster-set", "links.path=0"], "there is no setting 'links.path'. Settings are max_clusters"),
        (["--cluster-set", "links.paths"], "a setting is written NAME=VALUE"),
        (["--cluster-set", "links.paths=-1"], "links.paths is one of: 0 to 1,000,000; not '-1'"),
        (["--cluster-set", "links.paths=much"], "links.paths is one of: 0 to 1,000,000; not 'much'"),
        (["--cluster-set", "links.levels=1.5"], "links.levels is one of: 1 to 1,000,000, none; not '1.5'"),
        (["--cluster-set", "links.normalise=both"], "links.normalise is one of: union, common; not 'both'"),
        (["--cluster-set", "terms.title=nan"], "terms.title is one of: 0 to 1,000,000; not 'nan'"),
        (["--cluster-set", "max_clusters=0"], "max_clusters is one of: 1 to 1,000,000"),
        (["--clusters-preset", "best"], "method is one of: default, hypursuit1996"),
        (["--clusters-preset", "default", "--cluster-set", "combine=max"], "needs the preset hypursuit1996"),
        (["--no-clusters", "--clusters-preset", "default"], "have no effect with --no-clusters"),
    ],
)
def test_wrong_settings_are_found_before_anything_is_read(tmp_path: Path, arguments: list[str], words: str) -> None:
    code, said = run("build", tmp_path / "no.warc", "--out", tmp_path / "x.kin", *arguments)
    assert (code, words in said) == (USAGE, True), said


def test_settings_are_checked_in_python_too() -> None:
    with pytest.raises(ClusterError, match="at least one must be positive"):
        ClusterSettings().with_settings({f"terms.{name}": 0 for name in asdict(TermSettings())})
