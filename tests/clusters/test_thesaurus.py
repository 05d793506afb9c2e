"""Suggestions on a small web where we know what goes with what, by both ways."""

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.clusters import ClusterThesaurus, PageThesaurus, Tree
from pagekin.hypertext import Corpus, ReadPlan, read_sources
from tests.bags.webs import read_web, record

load_verbs()
TEXTS = [
    *["rock granite quartz"] * 4,
    *["rock granite mica crystal"] * 4,
    *["rock slate roof"] * 6,
    *["owl feather night"] * 5,
    *["owl wren nest bird"] * 5,
]
GROUPS = np.array([0] * 4 + [1] * 4 + [2] * 6 + [3] * 5 + [4] * 5)


def web() -> dict[str, str]:
    return {f"http://site.example/{number:02}": f"<p>{text}" for number, text in enumerate(TEXTS)}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_web(web())


def test_pages_tell_what_is_broader_and_narrower(corpus: Corpus) -> None:
    made = PageThesaurus.of(corpus)
    granite = made.suggest([made.find("granite")])
    assert granite.pages == 8
    assert granite.broader == ("rock",)
    assert set(granite.narrower) == {"quartz", "mica", "crystal"}
    assert granite.collocated == ()
    rock = made.suggest([made.find("rock")])
    assert {"granite", "slate", "roof"} <= set(rock.narrower)
    assert rock.broader == ()
    assert not {"owl", "nest"} & {*rock.collocated, *rock.narrower}


def test_several_terms_are_asked_together(corpus: Corpus) -> None:
    made = PageThesaurus.of(corpus)
    both = made.suggest([made.find("rock"), made.find("granite")])
    assert both.pages == 8
    assert made.suggest([made.find("rock"), made.find("owl")]).pages == 0
    assert made.suggest([made.find("owl")], 1).narrower in (("feather",), ("night",), ("wren",), ("nest",), ("bird",))


def test_words_are_found_in_any_case_and_by_their_stem(corpus: Corpus) -> None:
    made = PageThesaurus.of(corpus)
    assert made.find("GRANITE") == made.find("granites") == made.find("granite") >= 0
    assert made.find("the") == made.find("nothing") == -1


def test_sub_clusters_as_in_1996(corpus: Corpus) -> None:
    tree = Tree.of_levels("clusters", [GROUPS], {})
    made = ClusterThesaurus(corpus, tree)
    granite = made.find("granite")
    said = made.suggest([granite])
    # By hand: granite is in two sub-clusters with 8 pages; all hold rock, half of them quartz, mica and crystal.
    assert said.pages == 2
    assert said.collocated[0] == "rock"
    assert set(said.collocated[1:]) == {"quartz", "mica", "crystal"}
    share = made.df[:, [granite, made.find("rock")]].sum(axis=0)
    assert share.tolist() == [8, 14]
    # Terms in one sub-cluster, or in more than half of the five, are in no place of the hierarchy.
    assert made.parent[made.find("rock")] == made.parent[made.find("mica")] == -1
    assert set(made.high) <= {granite, made.find("owl")}


def test_the_parent_is_the_high_term_distributed_most_alike() -> None:
    rng = np.random.default_rng(4)
    names = [f"{a}{b}{c}" for a in "bdfgkl" for b in "aeiou" for c in ("na", "ro", "ku")]
    texts = [" ".join(rng.choice(names, 6).tolist()) for _ in range(48)]
    made = ClusterThesaurus(
        read_web({f"http://site.example/{n:02}": f"<p>{text}" for n, text in enumerate(texts)}),
        Tree.of_levels("clusters", [np.arange(48) // 3], {}),
    )
    assert len(made.high) > 2
    low = np.flatnonzero(made.parent >= 0)
    assert len(low)
    for term in low.tolist():
        mine = made.tf[:, term]
        alike = {
            int(high): float(mine @ made.tf[:, high])
            / math.sqrt(float(mine @ mine) * float(made.tf[:, high] @ made.tf[:, high]))
            for high in made.high
        }
        assert alike[int(made.parent[term])] == pytest.approx(max(alike.values()))
        said = made.suggest([int(made.parent[term])], 100)
        assert made.suggest([term]).broader != ()
        assert said.narrower


def test_the_command(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("suggested")
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in web().items()))
    kin = str(folder / "web.kin")
    read_sources(ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=1))

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["refine", kin, *arguments])
        return result.exit_code, result.output

    assert run("granite") == (0, "granite: 8 pages are about it\ncollocated  -\nbroader     rock\n"
                                 f"narrower    {', '.join(json.loads(run('granite', '--json')[1])['narrower'])}\n")  # fmt: skip
    assert run("granite", "--preset", "hypursuit1996")[0] == BAD_INPUT
    assert CliRunner().invoke(app, ["cluster", kin]).exit_code == 0
    code, said = run("granite", "--preset", "hypursuit1996")
    assert (code, "sub-clusters hold it" in said) == (0, True)
    assert run("granite", "--preset", "moods")[0] == USAGE
    assert run("rock granite") == run("rock", "granite")
    assert run(" ")[0] == USAGE
    code, said = run("unheard")
    assert (code, "is about 'unheard'" in said) == (BAD_INPUT, True)
