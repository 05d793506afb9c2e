"""Suggestions on a small web where we know what goes with what."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.bags import BagWorkshop, make_vocabulary
from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.clusters import PageThesaurus, PageTopics, thesaurus
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


def test_pages_are_about_their_heaviest_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(thesaurus, "ABOUT", 5)
    monkeypatch.setattr(thesaurus, "_PART", 3)
    rng = np.random.default_rng(1)
    words = [f"{a}{b}" for a in "stone bird star lake moss wind".split() for b in ("", "en", "fold", "work", "ware")]
    corpus = read_web(
        {f"http://site.example/{number}": f"<p>{' '.join(rng.choice(words, 30))}" for number in range(10)} | {
            "http://site.example/none": "<p>."
        }
    )  # fmt: skip
    made = PageTopics.of(corpus)
    bags = BagWorkshop(corpus, tmp_path).bags(thesaurus._STRATEGY)
    shown = make_vocabulary(corpus, thesaurus._STRATEGY).shown
    for page in range(len(corpus)):
        place = np.flatnonzero(bags.urls == corpus.pages.url[page])
        row = slice(*bags.offsets[place[0] : place[0] + 2].tolist()) if len(place) else slice(0)
        pairs = zip(bags.terms[row].tolist(), bags.weights[row].tolist(), strict=True)
        expected = [term for term, _weight in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))][:5]
        terms = made.terms[made.offsets[page] : made.offsets[page + 1]].tolist()
        assert [made.words[term].decode() for term in terms] == [corpus.word(int(shown[term])) for term in expected]


def test_words_of_a_template_are_known_but_not_offered() -> None:
    """Pages say what they are about again and again; a word that stands once on each of many is a label of their template."""
    subjects = ("granite", "slate", "marble", "chalk")
    pages = {
        f"http://site.example/{subject}/{number}": f"<p>Hardness {' '.join([f'{subject} and {subject}s'] * 3)} quarry {number}"
        for subject in subjects
        for number in range(8)
    }
    pages |= {f"{url}/more": "<p>quarry quarry quarry stone stone stone" for url in list(pages)[:8]}
    corpus = read_web(pages)
    topics = PageTopics.of(corpus, phrases=True)
    assert topics.offered is not None
    offered = {word.decode() for word, may in zip(topics.words, topics.offered, strict=True) if may}
    assert {*subjects, "stone"} <= offered
    assert "hardness" not in offered
    made = PageThesaurus(topics)
    assert len(made.pages([made.find("hardness")])) == 32
    granite = made.cooccurrences(made.pages([made.find("granites")]), [made.find("granites")])
    assert granite.pages == 8
    assert "hardness" not in granite.words
    assert not any("hardness" in made.words_of(page) for page in range(len(corpus)))
    half = topics.cut(0, 20)
    assert half.offered is not None
    assert not dict(zip(half.words, half.offered.tolist(), strict=True))[b"hardness"]
    # As in 1996, and where pages are too short to repeat a word, all are offered.
    assert PageTopics.of(corpus).offered is None
    short = PageTopics.of(read_web(web()), phrases=True).offered
    assert short is not None
    assert short.all()


def test_stop_words_do_not_hide_what_pages_are_about(corpus: Corpus) -> None:
    made = PageThesaurus.of(corpus)
    assert made.known_terms(["the", "granite"]) == ([made.find("granite")], True)
    assert made.known_terms(["granite", "unheard"]) == ([made.find("granite")], False)
    assert made.known_terms(["the"]) == ([], False)


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
    assert run("granite", "--count", "1000", "--workers", "2")[0] == 0
    assert run("granite", "--count", "1001")[0] == USAGE
    assert CliRunner().invoke(app, ["index", kin]).exit_code == 0
    code, said = run("unheard")
    assert (code, "is about 'unheard'" in said) == (BAD_INPUT, True)


def test_stop_words_of_the_pages_language_are_not_suggested() -> None:
    words = "calque masque brosse pinceau gomme palette".split()
    pages = {
        f"http://a.example/{place}": (
            f"<html lang=fr><title>{word}</title><p>Le {word} est dans la fenêtre avec cette image. Avec cette image, le {word} "
            f"est dans la fenêtre {word}{word}, et avec cette fenêtre du {word} la suite est dans la {word}."
        )
        for place, word in enumerate(words)
    }
    about = PageTopics.of(read_web(pages), phrases=True)
    assert about.offered is not None
    offered = {word.decode() for word, may in zip(about.words, about.offered, strict=True) if may}
    assert "fenêtre" in offered
    assert not offered & {"est", "dans", "avec", "cette", "la", "le", "du"}
