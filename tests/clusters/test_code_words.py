"""Words that stand nearly only in code are not offered to refine a question."""

from pagekin.bags import Strategy, make_vocabulary
from pagekin.clusters.code_words import stand_in_code
from pagekin.clusters.thesaurus import PageTopics
from tests.bags.webs import read_web

PAGES = {
    f"http://a.example/{kind}": f"<title>{kind} of the quarry</title><p>The {kind} is a stone, and this stone lies in a quarry. "
    f"Write this:<pre>quux_{kind} = frob({kind}=1); quux.frob(7)\nfrob({kind}) == quux_{kind}\nquux = gneiss({kind}[0])</pre>"
    for kind in ("granite", "slate", "basalt")
} | {"http://a.example/gneiss": "<title>gneiss</title><p>Gneiss is another stone, which nobody wants."}  # fmt: skip


def test_words_that_stand_nearly_only_in_code_are_known() -> None:
    corpus = read_web(PAGES)
    words = make_vocabulary(corpus, Strategy())
    found = {corpus.word(int(words.shown[one])) for one in stand_in_code(corpus, words).nonzero()[0].tolist()}
    assert {"quux", "frob"} <= found
    assert not {"granite", "slate", "stone", "quarry", "gneiss"} & found, "sentences and titles have them"


def test_words_of_code_are_not_offered() -> None:
    about = PageTopics.of(read_web(PAGES), phrases=True)
    assert about.offered is not None
    offered = {about.words[one].decode() for one in about.offered.nonzero()[0].tolist()}
    assert "granite" in offered and not {"quux", "frob"} & offered
