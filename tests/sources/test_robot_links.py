"""What the robot reads on a page: links, and directives for robots."""

import pytest

from pagekin.sources.robot.links import parse_page

URL = "http://a.example/dir/page.html"


def parse(
    html: str | bytes, *tags: str, content_type: str = "text/html", most: int = 100
) -> tuple[list[str], bool, bool]:
    """Return (links, an exclamation mark before those not to be followed; whether to follow; whether to index)."""
    raw = html.encode() if isinstance(html, str) else html
    page = parse_page(raw, URL, content_type, tags, most)
    return [("" if link.follow else "!") + link.url for link in page.links], page.follow, page.index


def links(html: str | bytes, **options: str) -> list[str]:
    return [url.removeprefix("http://a.example") for url in parse(html, **options)[0]]  # type: ignore[arg-type]


def test_links_come_from_every_element_that_leads_to_a_page() -> None:
    html = (
        "<a href=a>x</a><map><area href=b></map><iframe src=c></iframe><meta http-equiv=Refresh content='5; URL=d'>"
        "<img src=no><link rel=stylesheet href=no><script src=no></script><form action=no></form>"
    )
    assert sorted(links(html)) == ["/dir/a", "/dir/b", "/dir/c", "/dir/d"]
    assert links("<frameset><frame src=f><frame src=g></frameset>") == ["/dir/f", "/dir/g"]


def test_the_first_base_counts_wherever_links_stand() -> None:
    assert links("<base href='/other/'><base href=/no/><a href=x>") == ["/other/x"]
    assert links("<base href='//b.example/q/'><a href=x>") == ["http://b.example/q/x"]
    assert links("<base href='javascript:x'><a href=x>") == ["/dir/x"]
    assert links("<base target=_top><base href=/z/><a href=x>") == ["/z/x"]


def test_every_address_comes_once_without_its_fragment() -> None:
    assert links("<a href=a#1>1</a><a href=./a#2>2</a><a href=b>3</a><a href=a>4</a>") == ["/dir/a", "/dir/b"]


def test_what_is_no_address_of_the_web_is_left_out() -> None:
    assert links(
        "<a href='mailto:a@b'><a href='javascript:x()'><a href='http://[bad'><a name=x><a href=' \n ok \t'>"
    ) == ["/dir/ok"]


@pytest.mark.parametrize(("html", "found"), [
    ("<a href=a>x<b><a href='b'>y</a><p", ["/dir/a", "/dir/b"]),
    ("<table><a href=a>x<td><a href=b>", ["/dir/a", "/dir/b"]),
    ("<a href=a><a href=b></a></a></p></html>junk<a href=c>", ["/dir/a", "/dir/b", "/dir/c"]),
    ("<!-- <a href=no> --><A HREF=a>1</A ><a\nhref = 'b' >", ["/dir/a", "/dir/b"]),
    ("<a href=a>\x00<a href=b", ["/dir/a"]),
    ("<title><a href=no></title><textarea><a href=no></textarea><a href=a>", ["/dir/a"]),
    ("", []),
])  # fmt: skip
def test_broken_pages_are_read_as_browsers_do(html: str, found: list[str]) -> None:
    assert links(html) == found


def test_characters_are_read_by_the_pages_own_encoding() -> None:
    assert links("<a href='caf\xe9'>".encode("latin-1"), content_type="text/html; charset=iso-8859-1") == [
        "/dir/caf%C3%A9"
    ]
    assert links("<meta charset=windows-1251><a href='\u0436'>".encode("cp1251")) == ["/dir/%D0%B6"]
    assert links("<a href='caf\xe9'>".encode(), content_type="text/html; charset=no-such") == ["/dir/caf%C3%A9"]


def test_nofollow_of_a_link() -> None:
    html = "<a rel='nofollow' href=a><a rel='external NOFOLLOW' href=b><a rel=follow href=c><a rel=nofollow href=c>"
    assert parse(html)[0] == ["!http://a.example/dir/a", "!http://a.example/dir/b", "http://a.example/dir/c"]
    assert parse("<a rel=nofollow href=c><a href=c>")[0] == ["http://a.example/dir/c"]


@pytest.mark.parametrize(("html", "tags", "follow", "index"), [
    ("", (), True, True),
    ("<meta name=robots content='noindex'>", (), True, False),
    ("<meta name=ROBOTS content='Index, NoFollow'>", (), False, True),
    ("<meta name=robots content=none>", (), False, False),
    ("<meta name=pagekin content='noindex,nofollow'>", (), False, False),
    ("<meta name=otherbot content='noindex,nofollow'>", (), True, True),
    ("<meta name=robots content='all'>", (), True, True),
    ("<meta name=description content='noindex'>", (), True, True),
    ("", ("noindex",), True, False),
    ("", ("nofollow, noarchive", "noindex"), False, False),
    ("", ("pagekin: noindex, nofollow",), False, False),
    ("", ("otherbot: noindex",), True, True),
    ("", ("unavailable_after: 25 Jun 2030 15:00:00 PST",), True, True),
    ("<meta name=robots content=index>", ("none",), False, False),
])  # fmt: skip
def test_directives_of_a_page(html: str, tags: tuple[str, ...], follow: bool, index: bool) -> None:
    assert parse(html, *tags)[1:] == (follow, index)


def test_a_page_of_links_is_cut() -> None:
    html = "".join(f"<a href={n}>" for n in range(500))
    assert len(parse(html, most=100)[0]) == 100


def test_deep_nesting_is_no_trouble() -> None:
    assert links("<div>" * 100_000 + "<a href=a>") == ["/dir/a"]
