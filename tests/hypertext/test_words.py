"""What becomes a word, with which attributes, by both readers."""

import pytest

from pagekin.hypertext import Attribute, Boundary, Lexer, StrictLexer
from pagekin.hypertext.part import Reader
from pagekin.sources import Limits

from .compare import PageReading, read_all

LIMITS = Limits()


@pytest.fixture(scope="module", params=["fast", "strict"])
def reader(request: pytest.FixtureRequest) -> Reader:
    return Lexer(LIMITS) if request.param == "fast" else StrictLexer(LIMITS)


def read(reader: Reader, html: str) -> PageReading:
    return read_all(reader, [html.encode()])[0]


def words(page: PageReading, attribute: Attribute) -> list[str]:
    return [w for w, a in zip(page.words, page.attributes, strict=True) if a & attribute]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>One, two;three", "one two three"),
        ("caf&eacute; &#233;t&#xE9; &eacutex &amp; &notit;", "café été éx it"),
        ("Straße STRASSE ΣΊΣΥΦΟΣ", "strasse strasse σίσυφοσ"),
        ("e\u0301cole", "école"),
        ("H<sub>2</sub>O and <b>H</b>ello, x<sup>2</sup>", "h2o and hello x 2"),
        ("md5 ay95 3.14 don't", "md5 ay95 3 14 don t"),
        ("入門書 本", "入門 門書 本"),
        ("Python入門", "python 入門"),
        ("hyper\u00adtext", "hypertext"),
        ("a<!-- no -->b <script>no</script>c<style>no</style>", "ab c"),
        ("x<script><!-- <script> no </script> no --></script>y", "xy"),
        ("<template>no <p>no</template>yes", "yes"),
        ("<noscript>yes</noscript><noframes><p>also</noframes><iframe>no</iframe>", "yes also"),
        ("<frameset><frame src=a>no<noframes>yes</noframes></frameset>no", "yes"),
        ("<textarea><b>x</b></textarea>", "b x b"),
        ("<xmp>a &amp; <b></xmp>c", "a amp b c"),
        ("<a href='x'>a</a\n>b <a title='>' href=y>c</a>", "a b c"),
        ("a < b <3 </ x> <", "a b 3"),
        ("ab<br>cd<p>ef", "ab cd ef"),
        ("&fjlig;ord f&#x130;n", "fjord fi̇n"),
        ("don&#39;t&nbsp;stop", "don t stop"),
    ],
)
def test_words_are_runs_of_letters_and_digits_case_folded(reader: Reader, html: str, expected: str) -> None:
    assert " ".join(read(reader, html).words) == expected


def test_attributes_say_where_a_word_stands(reader: Reader) -> None:
    page = read(
        reader,
        "<title>The Title</title><meta name=keywords content='Key, Words'><body><h1>Head <i>line</i></h1>"
        "<p>Body <b>bold</b> <dfn>term</dfn> <img alt='alt text' src=x><address>At Home</address>"
        "<dl><dt>item<dd>definition</dl>",
    )
    assert words(page, Attribute.TITLE) == ["the", "title"]
    assert words(page, Attribute.HEADER) == ["head", "line"]
    assert words(page, Attribute.KEYWORD) == ["key", "words", "bold", "term", "item"]
    assert words(page, Attribute.ADDRESS) == ["at", "home"]
    assert words(page, Attribute.ALT) == ["alt", "text"]
    assert words(page, Attribute.TEXT) == [
        "head",
        "line",
        "body",
        "bold",
        "term",
        "at",
        "home",
        "item",
        "definition",
    ]


def test_formatting_ends_with_its_cell_but_not_with_its_paragraph(reader: Reader) -> None:
    page = read(reader, "<p><b>one<p>two</b> three<table><tr><td><b>four<td>five</table>")
    assert words(page, Attribute.KEYWORD) == ["one", "two", "four"]


def test_anchors_hold_their_words_and_images_but_not_the_fragment(reader: Reader) -> None:
    page = read(
        reader,
        "<a href='a.html#x'>one <img alt='two' src=i> three</a> <a href=b>four<p>five</a> six <a href=c>seven<a href=d>"
        "eight</a><map><area href=e alt='nine ten'></map><a name=n>no</a><a>no</a><iframe src=f></iframe>",
    )
    assert page.anchors == [
        ("a.html", "one two three"), ("b", "four five"), ("c", "seven"), ("d", "eight"), ("e", "nine ten"), ("f", ""),
    ]  # fmt: skip


def test_frames_and_refresh_are_links(reader: Reader) -> None:
    page = read(
        reader,
        "<meta http-equiv=Refresh content='5; URL=next.html'><frameset><frame src='menu.html'></frameset>",
    )
    assert page.anchors == [("next.html", ""), ("menu.html", "")]


def test_boundaries_stand_where_windows_end(reader: Reader) -> None:
    html = (
        "<p>one two. three<br>four<p>five<ul><li>six<li>seven</ul>eight<h2>nine</h2>ten"
        "<table><tr><td>eleven<td>twelve</table>thirteen<nav class='breadcrumb'>home</nav>last"
    )
    page = read(reader, html)
    at = {kind: [i for i, k in page.boundaries if k == kind] for kind in Boundary}
    place = {word: i for i, word in enumerate(page.words)}
    assert at[Boundary.SENTENCE] == [place["three"]]
    assert at[Boundary.BREAK] == [place["four"]]
    assert set(at[Boundary.ITEM]) == {place["six"], place["seven"], place["eight"]}
    assert at[Boundary.LIST_END] == [place["eight"]]
    assert at[Boundary.HEADING] == [place["nine"]]
    assert {place["eleven"], place["twelve"]} <= set(at[Boundary.CELL])
    assert at[Boundary.TABLE_END] == [place["thirteen"]]
    assert at[Boundary.CRUMBS_START] == [place["home"]]
    assert at[Boundary.CRUMBS_END] == [place["last"]]
    assert {0, place["five"], place["ten"]} <= set(at[Boundary.PARAGRAPH])


def test_every_word_is_found_in_the_plain_text_at_its_offset(reader: Reader) -> None:
    page = read(reader, "<title>Größe</title><h1>Zwei Wörter</h1><p>Drei&nbsp;入門書 <b>vi</b>er.")
    assert [page.text[at:][:2].decode("utf-8", "ignore").casefold()[:1] for at in page.offsets] == [
        word.encode()[:2].decode("utf-8", "ignore")[:1] for word in page.words
    ]
    assert page.text.decode().splitlines()[0] == "Größe"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("see (<a href=x>RFC 4627</a>), by <a href=y>ECMA</a>.", "see (RFC 4627), by ECMA."),
        ("the <a href=x>author</a>'s \u201c<a href=y>book</a>\u201d", "the author's \u201cbook\u201d"),
        ("one<a href=x>two</a>three", "one two three"),
        ("<a href=x>one</a><a href=y>two</a>", "one two"),
        ("<a href=x>\u65e5\u672c</a>\u8a9e", "\u65e5\u672c\u8a9e"),
        ("word<a href=x>\u0301lone</a>", "word \u0301lone"),
    ],
)
def test_a_link_adds_a_space_to_the_plain_text_only_between_words(reader: Reader, html: str, expected: str) -> None:
    assert read(reader, html).text.decode() == expected


def test_limits_cut_and_say_so() -> None:
    small = Limits(tokens=100, anchors=10, word_bytes=16, url_bytes=100)
    html = ("word " * 300 + "<a href=x>y</a>" * 30 + "<a href='" + "z" * 200 + "'>long</a>" + "w" * 99).encode()
    for reader in (Lexer(small), StrictLexer(small)):
        page = read_all(reader, [html])[0]
        assert len(page.words) == 100
        assert len(page.anchors) == 10
    page = read_all(Lexer(small), [b"w" * 99])[0]
    assert page.words == ["w" * 16]
