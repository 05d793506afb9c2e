"""Marked places: at the end of the content, in any encoding, and not another byte is touched; hostile pages are left alone."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from turbohtml import parse

from pagekin.hypertext import remove_marked
from pagekin.site.marking import UnfitPageError, block_html, mark_page
from pagekin.site.pages import RelatedLink

EVIL = "\"'><script>alert(1)</script>\u202e\x00]]>--><!--/pagekin-->🌋"


def block(base: str = "") -> bytes:
    link = RelatedLink("b.html", EVIL, 0.5)
    return block_html([("b.html", link)], "Related pages", "../pagekin/site.css", "../pagekin/search.js", "")


def marked(html: bytes, *selectors: str) -> bytes:
    return mark_page(html, selectors or ("main",), block)


def test_a_block_is_ascii_and_well_formed_and_runs_nothing() -> None:
    made = block()
    assert made.isascii()
    import xml.etree.ElementTree as ET

    tree = ET.fromstring(made)
    assert [one.get("src") for one in tree.iter("script")] == ["../pagekin/search.js"]
    assert next(tree.iter("a")).text.startswith("\"'><script>alert(1)</script>")
    assert not any(name.startswith("on") or name == "style" for one in tree.iter() for name in one.attrib)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252", "shift_jis", "gb18030", "koi8-r"])
def test_the_place_is_the_end_of_the_content_in_every_encoding(encoding: str) -> None:
    words = {"shift_jis": "日本語ソ表", "gb18030": "中文字", "koi8-r": "книга"}.get(encoding, "Größe")
    html = f"<title>{words}</title><body><main><p>{words}</p></main><p>{words}".replace("ö", "ö").encode(encoding)
    made = marked(html)
    assert remove_marked(made) == html
    before, _, after = made.partition(b"<!--pagekin ")
    assert before.endswith(b"</p>")
    assert after.partition(b"<!--/pagekin-->")[2].startswith(b"</main>")


def test_a_second_time_gives_the_same_bytes_and_other_links_take_the_place_of_the_first() -> None:
    html = b"<body><main>x</main></body>"
    once = marked(html)
    assert marked(once) == once
    other = mark_page(once, ("main",), lambda _base: b'<div data-pagekin="">other</div>')
    assert other.count(b"<!--pagekin") == 1
    assert remove_marked(other) == html


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        (b"<frameset cols=20%,80%><frame src=a.html></frameset>", "frames"),
        ("<p>x</p>".encode("utf-16"), "UTF-16"),
        ("<p>日本</p>".encode("iso2022_jp"), "escape sequences"),
        (b"<p>x</p><script>never closed", "no place"),
        (b"<p>x</p><a title='never closed", "no place"),
        (b"<p>x</p>" + bytes([32]) * (4 << 20), "larger than 4 MiB"),
        (b"<p>x</p><textarea>", "no place"),
        (b"<p>x<a href=y>", "no place"),
        (b"<body><p>x</p><!--pagekin 0123456789abcdef-->theirs<!--/pagekin--></body>", "was changed"),
        (b"<body><p data-pagekin=1>x</p></body>", "no place"),
    ],
)
def test_pages_without_a_safe_place_are_left_alone_with_a_reason(html: bytes, reason: str) -> None:
    with pytest.raises(UnfitPageError, match=reason):
        marked(html)


def test_a_page_without_content_or_body_tags_has_its_place_at_the_end() -> None:
    assert marked(b"<title>t</title><p>x").startswith(b"<title>t</title><p>x<!--pagekin")
    assert b"x</p><!--pagekin" in marked(b"<body><p>x</p></body></html>\n")
    inside_script = b"<body><main>x<script>'</main>'</script>y</main></body>"
    assert b"y<!--pagekin" in marked(inside_script)


TAGS = st.sampled_from(
    "<main> </main> <p> </p> <table><tr><td> </table> <script> </script> <!-- --> <svg> </svg> <select> <template> </template> "
    "<a href=x> </a> <body> </body> </html> <pre> <title> <plaintext> é text \r\n \" <b '".split(" ")
)


@given(st.lists(TAGS, max_size=14))
@example(["<main>", "<table><tr><td>", "</main>"])
@settings(max_examples=300, deadline=None)
def test_whatever_a_page_is_it_is_marked_visibly_and_can_be_undone_or_left_alone(pieces: list[str]) -> None:
    html = "".join(pieces).encode()
    try:
        made = marked(html)
    except UnfitPageError:
        return
    assert remove_marked(made) == html
    assert marked(made) == made
    (ours,) = parse(made.decode()).select("[data-pagekin]")
    assert ours.select("li > a[href='b.html']")
    assert ours.closest("a, script, template, svg, select, pre, textarea") is None
