"""Regions of pages: content by selectors, what sites leave out of searches, and the places that Pagekin wrote."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse

from pagekin.hypertext import (
    Corpus,
    ReadPlan,
    check_selector,
    find_regions,
    has_foreign_mark,
    keep_content,
    mark_place,
    read_sources,
    remove_marked,
)

PAGE = (
    '<!doctype html>\r\n<html lang="de"><head><title>Größe</title>\r\n<meta name="keywords" content="maß"></head><body>\r\n'
    '<nav>menu <a href="a.html">a</a></nav><main><p>erste\r\nZeile <b data-pagefind-ignore>weg</b> ende</p>'
    '<div class="box">kasten</div></main><aside>rand</aside></body></html>'
)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252"])
@pytest.mark.parametrize("ends", ["\r\n", "\n", "\r"])
def test_a_region_is_found_byte_for_byte_in_every_encoding(encoding: str, ends: str) -> None:
    html = PAGE.replace("\r\n", ends).encode(encoding)
    regions = find_regions(html, ("article", "main", "nav"))
    ((start, end),) = regions.content
    assert html[start:end].startswith(b"<p>erste") and html[start:end].endswith(b"kasten</div>")
    ((start, end),) = regions.ignored
    assert html[start:end] == b"<b data-pagefind-ignore>weg</b>"
    assert html[regions.body_end :].startswith(b"</body>")


def test_the_first_selector_that_a_page_has_counts_and_the_head_is_kept() -> None:
    kept = parse(keep_content(PAGE.encode(), (".none", ".box", "main")).decode())
    assert kept.select("body")[0].text == "kasten"
    assert kept.select("title")[0].text == "Größe"
    assert kept.select("html")[0].attrs["lang"] == "de"
    assert kept.select("meta[name=keywords]")
    assert keep_content(PAGE.encode(), (".none",)) == PAGE.replace("<b data-pagefind-ignore>weg</b>", "").encode()


def test_what_a_site_marks_for_searches_is_respected_without_any_option() -> None:
    html = PAGE.replace('class="box"', "data-pagefind-body").encode()
    assert parse(keep_content(html).decode()).select("body")[0].text == "kasten"
    plain = PAGE.replace(" data-pagefind-ignore", "").encode()
    assert keep_content(plain) == plain


def test_regions_inside_each_other_are_read_once_and_one_that_is_never_closed_ends_with_the_body() -> None:
    html = b"<body><div class=a>one<div class=a>two</div></div><p>x</p><section class=b>three</body>"
    assert keep_content(html, (".a",)).count(b"two") == 1
    ((start, end),) = find_regions(html, (".b",)).content
    assert html[start:end] == b"three"


def test_marked_places_are_removed_to_the_byte_and_nothing_else_is() -> None:
    place = mark_place(b"<p>ours</p>")
    html = PAGE.encode().replace(b"</main>", place + b"</main>")
    assert remove_marked(html) == PAGE.encode()
    assert not has_foreign_mark(html)
    assert b"ours" not in keep_content(html, ("main",))
    forged = html.replace(b"ours", b"theirs")
    assert remove_marked(forged) == forged
    assert has_foreign_mark(forged)
    assert has_foreign_mark(b"text <!--/pagekin--> text")
    hostile = b"<!--/pagekin-->" + b"<!--pagekin 0123456789abcdef-->" * 100_000 + b"<!--/pagekin-->" * 1_000
    assert remove_marked(hostile + place) == hostile  # in one pass: looking from each mark on would take for ever
    assert remove_marked(b"<!--pagekin 0123456789abcdef-->" + place) == b"<!--pagekin 0123456789abcdef-->"


@given(st.binary(max_size=60), st.binary(max_size=60), st.binary(max_size=60))
def test_any_place_can_be_taken_out_of_any_bytes(before: bytes, content: bytes, after: bytes) -> None:
    if b"-->" not in content:
        assert remove_marked(before + mark_place(content) + after) == remove_marked(before) + remove_marked(after)


@given(
    st.lists(
        st.sampled_from(
            [
                "<main>",
                "</main>",
                "<p>",
                "\r\n",
                "é",
                "<!--",
                "-->",
                "<script>",
                "</script>",
                "<table>",
                "x",
                '"',
                "<a b='",
            ]
        )
    )
)
def test_regions_lie_inside_the_page_whatever_it_is(pieces: list[str]) -> None:
    html = "".join(pieces).encode()
    for start, end in find_regions(html, ("main",)).content:
        assert 0 <= start <= end <= len(html)
        assert html[:start].endswith(b"<main>")


def test_a_selector_that_is_none_is_refused_with_an_example() -> None:
    check_selector("main > .body[role=main]")
    with pytest.raises(ValueError, match=r"not a CSS selector.*such as main"):
        check_selector("div[[")


@pytest.mark.parametrize("parser", ["fast", "strict"])
def test_words_and_links_are_taken_from_the_content_alone(tmp_path: Path, parser: str) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/index.html").write_text(PAGE.replace("kasten", 'kasten <a href="b.html">b</a>'), encoding="utf-8")
    plan = ReadPlan([str(tmp_path / "site")], tmp_path / "site.kin", parser, content=("main",))
    report = read_sources(plan)
    assert report.facts["content"] == ["main"]
    corpus = Corpus.open(tmp_path / "site.kin")
    assert [corpus.word(term) for term in corpus.words(0).tolist()] == "grösse mass erste zeile ende kasten b".split()
    assert [corpus.url(int(target)) for target in corpus.anchors.target] == ["http://localhost/b.html"]
    assert corpus.language(0) == "de"
