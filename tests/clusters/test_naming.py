"""Names of topics: phrases that people would write, without what is the site's, the server's or the template's."""

import re
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from pagekin.clusters import ClusterSettings, Tree, make_trees, read_trees
from pagekin.clusters.levels import PageLinks
from pagekin.clusters.make import describe_trees
from pagekin.clusters.names import NOTICES, choose_phrases, is_code, name_tree, prefer_words
from pagekin.clusters.naming import Candidate
from pagekin.clusters.sampling import pages_to_name
from pagekin.clusters.shown import phrases_of_corpus
from pagekin.hypertext import Corpus
from pagekin.store import open_kin
from tests.bags.webs import read_web

STONES = "granite slate basalt marble gneiss quartz".split()
BIRDS = "owl wren hawk heron swift robin".split()


def topic(host: str, kinds: list[str], link: str, text: str, site: str) -> dict[str, str]:
    """Return a page for each kind of a topic; all show the same heading and the topic's name on a link, which is no menu's."""
    pages = {}
    for number, kind in enumerate(kinds):
        other = kinds[(number + 1) % len(kinds)]
        own = " ".join(f"{kind}{letter}" for letter in "abcdef")  # or the pages would be copies of one another
        pages[f"http://{host}/{kind}"] = (
            f"<title>{kind.title()} - {site}</title><h1>{kind}</h1><h2>Vital facts</h2><p>The {kind} {text}. "
            f"A {kind} is not a {other}, but {own}.<p>"
            f"All <a href='http://hub.example/{host}/{number % 3}'>{link}</a>, such {link.lower()}."
        )
    return pages


def web() -> dict[str, str]:
    return {
        **topic("a.example", STONES, "Building stones", "is hard and old and lies in a quarry", "Grey Notebook"),
        **topic("b.example", BIRDS, "Song birds", "has wings and a nest and lays eggs", "Grey Notebook"),
    }


def named(corpus: Corpus, labels: list[int], **options: bool) -> Tree:
    tree = Tree.of_levels("clusters", [np.array(labels)], {"shown": []})
    return describe_trees(corpus, [tree], 1, **options)[0]


def names_below(tree: Tree, node: int = 0) -> list[str]:
    return [tree.descriptions[child].name for child in tree.children[node]]


def test_topics_are_named_by_phrases_as_pages_write_them() -> None:
    corpus = read_web(web())
    tree = named(corpus, [0] * 6 + [1] * 6)
    assert sorted(names_below(tree)) == ["Building stones", "Song birds"]
    assert all("Grey Notebook" not in " ".join((one.name, *one.terms)) for one in tree.descriptions)
    assert all("Vital facts" not in (one.name, *one.terms) for one in tree.descriptions)


def test_the_preset_of_1996_keeps_names_of_words() -> None:
    corpus = read_web(web())
    words = named(corpus, [0] * 6 + [1] * 6, phrases=False)
    assert all(name.count(", ") == 2 for name in names_below(words))
    settings = {"hypursuit1996": ClusterSettings("hypursuit1996", max_clusters=2), "default": ClusterSettings()}
    made = {name: make_trees(corpus, chosen)[0] for name, chosen in settings.items()}
    assert all(name.count(", ") == 2 for name in names_below(made["hypursuit1996"]))


def test_notices_of_servers_name_nothing_and_are_not_central() -> None:
    pages = web()
    notice = "<title>301 Moved Permanently</title><h1>Moved Permanently</h1><p>The document has moved {}."
    pages |= {f"http://c.example/{number}": notice.format("here " * number) for number in range(1, 7)}
    pages |= {f"http://a.example/zz{number}": notice.format("there " * number) for number in range(1, 4)}
    corpus = read_web(pages)
    tree = named(corpus, [0] * 9 + [1] * 6 + [2] * 6)
    assert sorted(names_below(tree)) == sorted(["Building stones", "Song birds", NOTICES])
    stones = next(one for one in tree.descriptions[1:] if one.name == "Building stones")
    assert not any("zz" in corpus.page_url(page) for page in stones.central)


def test_pages_that_only_lead_on_are_notices_and_links_of_navigation_name_nothing() -> None:
    pages = web()
    for number, url in enumerate(list(pages)):
        before, after = list(pages)[number - 1], list(pages)[(number + 1) % 12]
        pages[url] += f"<p><a href='{before}'>Zurück blättern</a> <a href='{after}'>Vor blättern</a>"
    stub = (
        "<title>Old {0}</title><meta http-equiv=refresh content='0; url={1}'><p>The node you want {0} is elsewhere {0}."
    )
    pages |= {
        f"http://c.example/{kind}": stub.format(f"{kind} {kind}x", url) for kind, url in zip(BIRDS, pages, strict=False)
    }
    tree = named(read_web(pages), [0] * 6 + [1] * 6 + [2] * 6)
    assert sorted(names_below(tree)) == sorted(["Building stones", "Song birds", NOTICES])
    assert not any({"Zurück blättern", "Vor blättern"} & {*one.terms} for one in tree.descriptions)


def test_mirrors_count_once() -> None:
    pages = web()
    pages |= {url.replace("a.example", "mirror.example"): html for url, html in web().items() if "a.example" in url}
    corpus = read_web(pages)
    tree = named(corpus, [0] * 6 + [1] * 6 + [0] * 6)
    stones = next(one for one in tree.descriptions[1:] if one.name == "Building stones")
    hosts = {corpus.page_url(page).split("/")[2] for page in stones.central}
    assert hosts == {"a.example"}


def test_siblings_and_those_above_have_other_names() -> None:
    corpus = read_web(web())
    levels = [np.array([0] * 6 + [1] * 6), np.array([0] * 3 + [1] * 3 + [2] * 3 + [3] * 3)]
    (tree,) = describe_trees(corpus, [Tree.of_levels("clusters", levels, {})], 1)
    for node in range(len(tree)):
        above = [tree.descriptions[one].name for one in tree.path(node)[1:]]
        assert len(set(above)) == len(above)
        assert len(set(names_below(tree, node))) == len(tree.children[node])


def test_a_group_is_named_by_its_topics() -> None:
    corpus = read_web(web())
    levels = [np.zeros(12, np.int64), np.array([0] * 6 + [1] * 6)]
    tree = Tree.of_levels("clusters", levels, {}, chosen=1)
    (tree,) = describe_trees(corpus, [tree], 1)
    assert set(tree.descriptions[0].name.split(", ")) == {"Building stones", "Song birds"}


def test_a_weak_name_begins_with_what_its_pages_share_unless_all_pages_do() -> None:
    corpus = read_web(web())
    tree = named(corpus, [0] * 6 + [1] * 6)
    no_links = PageLinks.of(np.zeros((0, 2), np.int64), len(corpus))
    weak = [Candidate("wren", 0.001, np.arange(6), 6), Candidate("granite", 0.001, np.arange(6, 12), 6)]

    def name_beside(shared: Candidate) -> list[str]:
        candidates = [[Candidate("nature", 0.6, np.arange(12), 12), shared], *([one] for one in weak)]
        described = name_tree(tree, phrases_of_corpus(corpus), candidates, no_links)
        return [described[node].name for node in tree.children[0]]

    assert "Pdf: wren" in name_beside(Candidate("pdf", 0.5, np.arange(6), 6))
    assert name_beside(Candidate("pdf", 0.5, np.arange(12), 12)) == ["wren", "granite"]


def test_phrases_that_are_left_out_everywhere_have_no_stems() -> None:
    heading = "<title>{0}</title><h1>Zebra crossing</h1><p>{0} {0}a {0}b {0}c {0}d {0}e"
    corpus = read_web({f"http://a.example/{kind}": heading.format(kind) for kind in STONES})
    shown = phrases_of_corpus(corpus)
    assert np.any(shown.df == 0)
    assert np.all(shown.stems[shown.df == 0] == -1)
    assert np.all(shown.stems[shown.df > 0, 0] >= 0)
    assert named(corpus, [0] * 3 + [1] * 3).descriptions


def docs() -> dict[str, str]:
    """Return the pages of two products, one of them with two kinds of pages."""
    pages = topic("a.example", STONES, "Building stones", "is hard and old and lies in a quarry", "Redstone 1.2 Manual")
    pages |= {
        url.replace("a.example/", "a.example/z"): html
        for url, html in topic(
            "a.example", [f"{kind}s" for kind in BIRDS], "Song birds", "has wings and a nest", "Redstone 1.2 Manual"
        ).items()
    }
    return pages | topic("b.example", "oak elm ash fir yew box".split(), "Forest trees", "has leaves", "Bluebird")


def test_a_topic_of_one_product_has_its_name() -> None:
    tree = named(read_web(docs()), [0] * 12 + [1] * 6)
    assert names_below(tree) == ["Redstone", "Bluebird"]


def test_topics_that_share_a_product_have_its_name_before_their_own() -> None:
    levels = [np.array([0] * 6 + [1] * 6 + [2] * 6)]
    corpus = read_web(docs())
    (tree,) = describe_trees(corpus, [Tree.of_levels("clusters", levels, {})], 1)
    assert sorted(names_below(tree)) == ["Bluebird", "Redstone: Building stones", "Redstone: Song birds"]


def test_a_group_of_products_lists_them_and_parts_of_one_product_do_not_repeat_it() -> None:
    levels = [np.array([0] * 18), np.array([0] * 12 + [1] * 6), np.array([0] * 6 + [1] * 6 + [2] * 6)]
    (tree,) = describe_trees(read_web(docs()), [Tree.of_levels("clusters", levels, {}, chosen=1)], 1)
    assert tree.descriptions[0].name == "Redstone, Bluebird"
    assert names_below(tree) == ["Redstone", "Bluebird"]
    assert sorted(names_below(tree, tree.children[0][0])) == ["Building stones", "Song birds"]


@pytest.mark.parametrize("threads", [1, 3])
def test_names_of_a_sample_are_the_same_whatever_the_threads(threads: int) -> None:
    many = [kinds + [f"{kind}{letter}" for kind in kinds for letter in "xyz"] for kinds in (STONES, BIRDS)]
    pages = topic("a.example", many[0], "Building stones", "is hard and old and lies in a quarry", "Grey Notebook")
    corpus = read_web(pages | topic("b.example", many[1], "Song birds", "has wings and a nest", "Grey Notebook"))
    tree = Tree.of_levels("clusters", [np.array([0] * 24 + [1] * 24)], {"shown": []})
    (made,) = describe_trees(corpus, [tree], threads, sample=24)
    assert sorted(names_below(made)) == ["Building stones", "Song birds"]
    looked_at = set(pages_to_name(corpus, 24).tolist())
    assert 24 <= len(looked_at) <= 30
    assert all(set(one.central) <= looked_at for one in made.descriptions)
    assert made.pages.tolist() == tree.pages.tolist()


def test_a_topic_without_a_page_of_the_sample_still_has_central_pages() -> None:
    corpus = read_web(web())
    paths = [(page, (f"folder {page}",)) for page in range(len(corpus))]
    (made,) = describe_trees(corpus, [Tree.of_paths("addresses", paths, {})], 1, sample=2)
    assert all(one.central for one in made.descriptions)


@pytest.mark.parametrize("pages", [1, 3])
def test_pages_without_words_are_described_all_the_same(pages: int) -> None:
    corpus = read_web({f"http://a.example/{number}": "<p>." for number in range(pages)})
    tree = named(corpus, [0] * pages)
    assert tree.descriptions[0].name


def candidate(form: str, score: float, pages: list[int]) -> Candidate:
    return Candidate(form, score, np.array(pages))


def test_a_name_has_as_few_phrases_as_cover_the_topic() -> None:
    most = candidate("Owls", 1.0, list(range(8)))
    assert choose_phrases([most, candidate("Wings", 0.9, list(range(9)))], 10) == [most]
    few = candidate("Owls", 1.0, [0, 1, 2, 3])
    more = candidate("Hawks", 0.9, [2, 3, 4, 5, 6])
    apart = candidate("Stones", 0.9, [7, 8, 9, 10, 11])
    numbers = count(30)
    found = [few, apart, more, *(candidate(f"x{next(numbers)}", 0.1, [1]) for _ in range(3))]
    assert [one.form for one in choose_phrases(found, 40)] == ["Owls"]  # none goes with it on three pages
    more = candidate("Hawks", 0.9, [1, 2, 3, 4, 5, 6])
    assert [one.form for one in choose_phrases([few, apart, more], 40)] == ["Owls", "Hawks"]
    assert choose_phrases([], 10) == []
    assert [one.form for one in choose_phrases([few, apart], 12)] == ["Owls", "Stones"]  # a topic of two kinds


def test_a_weak_word_is_lengthened_though_not_all_its_pages_show_more() -> None:
    weak = candidate("Data", 0.004, list(range(9)))
    longer = candidate("data-loss", 0.003, list(range(6)))
    assert choose_phrases([weak, longer], 20)[0] == longer
    assert choose_phrases([candidate("Data", 0.4, list(range(9))), longer], 10)[0].form == "Data"


def test_a_phrase_of_nearly_all_pages_is_preferred_to_one_of_few() -> None:
    few = Candidate("DevOps Handler", 0.09, np.arange(4), 4)
    broad = Candidate("Handlers", 0.08, np.arange(18), 25)
    assert choose_phrases([few, broad], 24) == [broad]
    everywhere = Candidate("Projects", 0.08, np.arange(18), 80)
    worse = Candidate("Handlers", 0.02, np.arange(18), 25)
    half = Candidate("Handlers", 0.08, np.arange(12), 25)
    small = Candidate("handle", 0.08, np.arange(18), 25)
    for other in (everywhere, worse, half, small):
        assert few in choose_phrases([few, other], 24)


def test_words_are_preferred_to_names_in_code() -> None:
    assert all(map(is_code, ("ei_x_encode", "xBestIndex", "DROP ROLE", "ssh:connect", "std::any", "open()")))
    assert not any(
        map(is_code, ("JavaScript", "libpq", "DNA", "PL/pgSQL", "What's New: Python", "Event Loop", "OpenGL"))
    )
    code, roles = candidate("DROP ROLE", 0.14, list(range(13))), candidate("Roles", 0.024, list(range(34)))
    other = candidate("CREATE ROLE", 0.06, list(range(11)))
    assert prefer_words([code, other, roles]) == [roles]
    assert prefer_words([roles, code]) == [roles, code]
    far, rare = candidate("Roles", 0.02, list(range(34))), candidate("Roles", 0.1, [1, 2])
    module = candidate("adler32", 0.1, list(range(13)))
    for worse in (far, rare, module):
        assert prefer_words([code, worse]) == [code, worse]
    spoken = candidate("foreign_data_wrapper", 0.2, list(range(7)))
    found = [
        spoken,
        candidate("Custom Scan", 0.12, list(range(4))),
        candidate("Foreign Data Wrapper Functions", 0.07, [1, 2]),
    ]
    assert prefer_words(found)[0].form == "Foreign Data Wrapper"
    edoc, layout = candidate("EDoc", 0.15, list(range(14))), candidate("edoc_layout", 0.1, list(range(13)))
    assert choose_phrases([edoc, layout], 20)[0] == edoc


def test_pages_of_one_title_have_it_as_their_name() -> None:
    pages = web() | {
        f"http://c.example/{letter}": f"<title>Index - Grey Notebook</title><p>{letter * 3} {letter * 4} {letter * 5}"
        for letter in "abcdef"
    }
    assert "Index" in names_below(named(read_web(pages), [0] * 6 + [1] * 6 + [2] * 6))
    pages |= {
        url: re.sub("<title>.*</title>", "<title>Index - Grey Notebook</title>", html)
        for url, html in topic(
            "d.example", ["oak", "elm", "ash"], "Forest trees", "has leaves", "Grey Notebook"
        ).items()
    }
    names = names_below(named(read_web(pages), [0] * 6 + [1] * 6 + [2] * 6 + [3] * 3))
    assert "Index" in names and "Forest trees" in names, "the second topic of such pages has a name of its own"


def test_a_title_that_all_pages_have_names_no_topic_but_the_whole() -> None:
    pages = {
        f"http://book.example/{kind}{n}": f"<title>My Great Book</title><h1>{kind} craft {n}</h1><p>The {kind} craft is {n}."
        for kind in ("timber", "copper")
        for n in range(5)
    }
    names = names_below(named(read_web(pages), [0] * 5 + [1] * 5))
    assert not [name for name in names if "Great Book" in name]
    assert [any(kind in name.lower() for name in names) for kind in ("timber", "copper")] == [True, True]


def test_a_phrase_that_titles_a_contents_page_is_preferred() -> None:
    """Every page links to the robin as much as to the contents page, but the robin does not link to all of them."""
    pages = {}
    for number, kind in enumerate(BIRDS):
        own = " ".join(f"{kind}{letter}" for letter in "abcdef")
        pages[f"http://b.example/{kind}"] = (
            f"<title>{kind.title()}</title><h1>{kind}</h1><p>The {kind} has wings, {own}.<p>It is one of the "
            f"<a href='/all{number % 2}'>Songsters</a>, as is the <a href='/robin'>Robin</a>, that {own}."
        )
    links = " ".join(f"<a href='/{kind}'>{kind}</a> has a nest of its own;" for kind in BIRDS)
    pages |= {
        f"http://b.example/all{one}": f"<title>Songsters</title><h1>Songsters</h1><p>{links} {one}{one}{one}"
        for one in (0, 1)
    }
    stones = topic("a.example", STONES, "Building stones", "is hard", "Grey Notebook")
    tree = named(read_web(stones | pages), [0] * 6 + [1] * 8)
    assert "Songsters" in names_below(tree)


def test_a_longer_phrase_is_taken_if_nearly_all_pages_show_it() -> None:
    short = candidate("Institute", 1.0, list(range(10)))
    whole = candidate("Institute of Technology", 0.5, list(range(9)))
    assert choose_phrases([short, whole], 10) == [whole]
    assert choose_phrases([short, candidate("Institute of Technology", 0.5, [0, 1])], 10) == [short]


def test_the_demo_webs_topics_are_called_what_they_are_about(demo_kin: Path) -> None:
    """The demo web is the first map that people see; its sites have names such as Feather Notes."""
    (tree,) = [one for one in read_trees(open_kin(demo_kin)) if one.name == "clusters"]
    names = {tree.descriptions[int(node)].name for node in tree.facts["shown"]}
    assert names >= {"Birds", "Trees", "Elements", "Scientists", "Planets", "Dinosaurs", "Dishes", "Languages"}
    every = " ".join(one.name for one in tree.descriptions)
    assert not any(
        site in every for site in ("Feather", "Notes", "Company", "Shelf", "Album", "Footprints", "Lives in")
    )
