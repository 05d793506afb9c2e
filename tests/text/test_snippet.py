"""Snippets show whole words of the page around what was asked for."""

from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.hypertext import Attribute, Corpus
from pagekin.store import Kin
from pagekin.text import Query, TextIndex, Word, make_snippet, parse_query, tokens, wanted_words

from .collections import searchable
from .oracle import stem
from .test_index import some_query, words_of_pages

__all__ = ["words_of_pages"]


def shown(pieces: list[tuple[str, bool]]) -> str:
    """A snippet with brackets around its marks."""
    return "".join(f"[{text}]" if mark else text for text, mark in pieces)


FILLER = " ".join(f"filler{n}" for n in range(200))


@pytest.mark.parametrize(
    ("body", "query", "expected"),
    [
        ("A lock, and locks.", "lock", "A [lock], and [locks]."),
        ("A lock, and locks.", "LOCKING and", "A [lock], and [locks]."),
        ("A lock, and locks.", "and", "A lock, [and] locks."),
        ("A lock, and locks.", '"lock and" locks', "A [lock], [and] [locks]."),
        ("A lock on one door.", "lock on a door", "A [lock] on one [door]."),
        ("Virtual\n\n memory. Memory is virtual.", '"virtual memory"', "[Virtual] [memory]. Memory is virtual."),
        ("<p>One</p><p>two (three)</p>", "two three", "One [two] ([three])"),
        ("a b", "a OR absent", "[a] b"),
        ("a b", "a NOT c", "[a] b"),
        ("a b c", "a -(c d)", "[a] b c"),
        ("関数は便利", "関数は", "[関数は]便利"),
        ("Käse und Brot", "käse brot", "[Käse] und [Brot]"),
        ("e\u0301cole x", "école", "[e\u0301cole] x"),
        ("hyper\u00adtext", "hypertext", "[hypertext]"),
        ("H<sub>2</sub>O x", "h2o", "[H2O] x"),
        ("see <img alt='a lock'> here", "lock", "see a [lock] here"),
        ("a &lt;b&gt; lock", "lock", "a <b> [lock]"),
    ],
)
def test_what_was_asked_for_is_marked(tmp_path: Path, body: str, query: str, expected: str) -> None:
    index = searchable(tmp_path / "a.kin", {"http://a.test/": f"<title>T</title><body>{body}"})
    assert shown(make_snippet(index.corpus, 0, parse_query(query))) == expected


MENU = "<li>Ferry in a storm" + "".join(
    f"<li><a href=/{word}>{word} chapter</a>" for word in ("harbour", "lighthouse", "ferry", "storm", "tide")
)


@pytest.mark.parametrize("compiled", [False, True])
def test_running_text_is_shown_before_a_menu_with_more_of_the_words(tmp_path: Path, compiled: bool) -> None:
    page = f"<ul>{MENU}</ul><p>{FILLER}</p><p>The ferry leaves the harbour at noon.</p><p>{FILLER}</p>"
    index = searchable(tmp_path / "a.kin", {"http://a.test/": page})
    snippet = shown(make_snippet(index.corpus, 0, parse_query("harbour ferry storm"), compiled=compiled))
    assert "The [ferry] leaves the [harbour] at noon." in snippet


@pytest.mark.parametrize("compiled", [False, True])
def test_a_menu_is_shown_where_no_text_has_the_words(tmp_path: Path, compiled: bool) -> None:
    index = searchable(tmp_path / "a.kin", {"http://a.test/": f"<ul>{MENU}</ul><p>{FILLER}</p>"})
    snippet = shown(make_snippet(index.corpus, 0, parse_query("lighthouse storm"), compiled=compiled))
    assert "[lighthouse]" in snippet and "[storm]" in snippet


@pytest.mark.parametrize("compiled", [False, True])
def test_links_in_running_text_are_no_menu(tmp_path: Path, compiled: bool) -> None:
    linked = "Ships pass the <a href=/l>lighthouse</a> before they enter the <a href=/h>harbour</a> of the old town."
    page = f"<p>{FILLER}</p><p>{linked}</p><p>{FILLER}</p><p>The harbour is deep.</p>"
    index = searchable(tmp_path / "a.kin", {"http://a.test/": page})
    snippet = shown(make_snippet(index.corpus, 0, parse_query("harbour lighthouse"), compiled=compiled))
    assert "[lighthouse] before they enter the [harbour]" in snippet


@pytest.mark.parametrize("compiled", [False, True])
def test_running_text_is_shown_without_the_breadcrumbs_above_it(tmp_path: Path, compiled: bool) -> None:
    crumbs = "<a href=/>The Element Book</a> <a href=/az>A to Z</a> <a href=/home>Home</a> › <a href=/n>Nonmetals</a> › Carbon"
    page = f"<p>{crumbs}</p><h1>Carbon</h1><p>Soot, pencil lead and diamond are one element.</p><p>{FILLER}</p>"
    index = searchable(tmp_path / "a.kin", {"http://a.test/": page})
    snippet = shown(make_snippet(index.corpus, 0, parse_query("carbon diamond"), compiled=compiled))
    assert snippet.startswith("… [Carbon] Soot, pencil lead and [diamond] are one element. filler0")


@pytest.mark.parametrize("compiled", [False, True])
def test_running_text_is_shown_without_the_banner_above_its_heading(tmp_path: Path, compiled: bool) -> None:
    text = f"<p>Diamond is one of its forms.</p><p>{FILLER}</p>"
    index = searchable(
        tmp_path / "a.kin",
        {
            "http://a.test/1": f"<div>Elements 7.4 Help</div><div>Module Contents</div><h1>Carbon</h1>{text}",
            "http://a.test/2": f"<p>{FILLER} diamond</p><h1>Carbon</h1>{text}",
        },
    )
    first, second = (
        shown(make_snippet(index.corpus, page, parse_query("diamond"), compiled=compiled)) for page in (0, 1)
    )
    assert first.startswith("… Carbon [Diamond] is one of its forms.")
    assert "[diamond] Carbon [Diamond] is" in second  # a long introduction is no banner


def test_cut_ends_have_an_ellipsis(tmp_path: Path) -> None:
    for body, first, last in (
        (f"lock {FILLER}", "[lock] filler0", " …"),
        (f"{FILLER} lock", "… filler", "[lock]"),
        (f"{FILLER} lock {FILLER}", "… filler", " …"),
    ):
        index = searchable(tmp_path / "a.kin", {"http://a.test/": f"<p>{body}"})
        text = shown(make_snippet(index.corpus, 0, parse_query("lock")))
        assert text.startswith(first)
        assert text.endswith(last)
        assert 150 < len(text) < 215


def test_the_stretch_that_shows_most_of_the_query_is_chosen(tmp_path: Path) -> None:
    body = f"lock lock lock {FILLER} a lock with its key {FILLER} lock key"
    index = searchable(tmp_path / "a.kin", {"http://a.test/": f"<p>{body}"})
    assert "a [lock] with its [key]" in shown(make_snippet(index.corpus, 0, parse_query("key lock")))
    assert shown(make_snippet(index.corpus, 0, parse_query("lock"))).startswith("[lock] [lock] [lock]")
    assert "filler199 [lock] [key]" in shown(make_snippet(index.corpus, 0, parse_query('"lock key"')))


@pytest.mark.parametrize("compiled", [False, True])
def test_words_that_say_nothing_do_not_choose_the_stretch(tmp_path: Path, compiled: bool) -> None:
    page = f"<p>The cat sat in the sun of the yard with the dog.</p><p>{FILLER}</p><p>Zoom by mouse.</p><p>{FILLER}</p>"
    index = searchable(tmp_path / "a.kin", {"http://a.test/": page})
    snippet = shown(make_snippet(index.corpus, 0, parse_query("zoom in with the mouse"), compiled=compiled))
    assert "[Zoom] by [mouse]." in snippet


def test_a_page_that_shows_nothing_of_it_gives_its_start(tmp_path: Path) -> None:
    pages = {
        "http://a.test/1": "<title>Lock</title><p>The start of the text.",
        "http://a.test/2": "<title>Lock</title>",
    }
    index = searchable(tmp_path / "a.kin", pages)
    assert index.search(parse_query("lock"), 5).total == 2
    assert make_snippet(index.corpus, 0, parse_query("lock")) == [("The start of the text.", False)]
    assert make_snippet(index.corpus, 1, parse_query("lock")) == [("Lock", False)]


def test_a_word_without_end_does_not_make_a_snippet_without_end(tmp_path: Path) -> None:
    index = searchable(tmp_path / "a.kin", {"http://a.test/": f"<p>{'x' * 100_000} lock {'y' * 100_000}"})
    for query in ("lock", "x" * 120):
        assert "[" in shown(make_snippet(index.corpus, 0, parse_query(query)))
    assert len(shown(make_snippet(index.corpus, 0, parse_query("lock")))) < 500


def test_a_text_that_is_shorter_than_its_words_say_gives_what_there_is(tmp_path: Path) -> None:
    kin = searchable(tmp_path / "a.kin", {"http://a.test/": "<p>Käse, a key and then a lock"}).corpus.kin
    for kept in (0, 3, 8, 12):
        raw = "Käse, a key and then a lock".encode()[:kept]
        gaps = zstandard.ZstdDecompressor().decompress(kin["text.frames"].tobytes(), max_output_size=1 << 20)[-7:]
        frame = np.frombuffer(zstandard.compress(len(raw).to_bytes(4, "little") + raw + gaps), np.uint8)
        bounds = np.array([0, len(frame)])
        cut = Corpus(Kin(kin.path, kin.manifest, {**kin.arrays, "text.frames": frame, "page.text": bounds}))
        for text in ("käse", "lock", '"a lock"', "key"):
            assert len("".join(piece for piece, _mark in make_snippet(cut, 0, parse_query(text)))) < 40
            assert make_snippet(cut, 0, parse_query(text), compiled=True) == make_snippet(cut, 0, parse_query(text))
    assert shown(make_snippet(cut, 0, parse_query("key"))) == "Käse, a [key]"


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 400))
def test_snippets_of_any_query(demo: TextIndex, words_of_pages: list[list[str]], seed: int, width: int) -> None:
    query = some_query(words_of_pages, seed)
    for page in demo.search(query, 5).pages:
        check_snippet(demo.corpus, page, query, width)


def check_snippet(corpus: Corpus, page: int, query: Query, width: int) -> None:
    """A snippet is a stretch of the text; what is marked was asked for; what can be marked is."""
    pieces = make_snippet(corpus, page, query, width)
    assert make_snippet(corpus, page, query, width, compiled=True) == pieces
    text = " ".join(corpus.text_bytes(page)[0].decode().split())
    plain = "".join(piece for piece, _mark in pieces)
    inner = plain.removeprefix("… ").removesuffix(" …")
    assert inner in text
    assert inner == inner.strip()
    assert "\n" not in plain
    forms = {
        stem(word) for part in wanted_words(query) for word in ([part.word] if isinstance(part, Word) else part.words)
    }
    marked = [piece for piece, mark in pieces if mark]
    assert all({stem(word) for word in tokens(piece)} <= forms for piece in marked)
    stream = corpus.stream(page)
    read = [
        stem(corpus.word(word))
        for word, flags in zip(stream.words.tolist(), stream.attributes.tolist(), strict=True)
        if flags & (Attribute.TEXT | Attribute.ALT)
    ]
    if any(isinstance(part, Word) and stem(part.word) in read for part in wanted_words(query)):
        assert marked
    if marked:
        # Whole words: a word of the text never begins or ends within the snippet's first or last word.
        assert len(plain) <= max(width, 20) + 64 + 4
        at = text.find(inner)
        whole = {(text[:at][-1:] + " ")[0].isalnum(), (text[at + len(inner) :][:1] + " ")[0].isalnum()}
        assert whole == {False} or text.count(inner) > 1


def test_snippets_do_not_need_an_index(demo: TextIndex, demo_read: Path) -> None:
    plain = Corpus.open(demo_read)
    assert "form.of_term" not in plain.kin
    for text in ("water", '"of the"', "the history", "Käse OR bread"):
        for page in demo.search(parse_query(text), 5).pages:
            assert make_snippet(plain, page, parse_query(text)) == make_snippet(demo.corpus, page, parse_query(text))


def test_the_kernel_shows_what_the_plain_way_shows_of_pages_in_any_script(tmp_path: Path) -> None:
    pages = {
        "http://a.test/1": "<title>lock</title><p>"
        + "füller çedilla ключ 鍵 " * 30
        + "a lock, ключ and 鍵盤 🔑 lock"
        + " ende" * 80,
        "http://a.test/2": "<p>" + "word " * 300 + "<img alt='a lock'> key" + " other" * 99 + "<h1>lock</h1>",
        "http://a.test/3": "<p>" + "".join(f"rare{number} " for number in range(400)) + "key" + "\n" * 600 + "lock",
    }
    index = searchable(tmp_path / "a.kin", pages)
    shows = 0
    for page in range(len(index)):
        for text in ("lock", "key lock", "ключ", "鍵", "ende OR lock", "rare7 key NOT ende", "nothing"):
            for width in (20, 77, 200, 5_000):
                plain = make_snippet(index.corpus, page, parse_query(text), width)
                assert make_snippet(index.corpus, page, parse_query(text), width, compiled=True) == plain
                shows += any(mark for _piece, mark in plain)
    assert shows > 40
