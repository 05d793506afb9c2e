"""The robot's addresses: one spelling each, in scope or not, traps."""

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.sources import canonical_url, clean_url, has_credentials, site_of
from pagekin.sources.robot.addresses import Place, Scope, place_of, trap_reason
from pagekin.sources.robot.plan import CrawlLimits

BASE = "http://a.example/x/y.html?q#f"


@pytest.mark.parametrize(("written", "clean"), [
    ("z.html", "http://a.example/x/z.html"),
    ("../../z", "http://a.example/z"),
    ("//B.Example:80/a/./b#c", "http://b.example/a/b"),
    ("HTTPS://b.example:443", "https://b.example/"),
    ("?p=2", "http://a.example/x/y.html?p=2"),
    ("#top", "http://a.example/x/y.html?q"),
    ("", "http://a.example/x/y.html?q"),
    ("caf\u00e9 au lait", "http://a.example/x/caf%C3%A9%20au%20lait"),
    ("caf%E9", "http://a.example/x/caf%E9"),
    ("\\\\c.example\\d", "http://c.example/d"),
    ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("a\tb\nc", "http://a.example/x/abc"),
    ("mailto:a@b.example", None), ("javascript:void(0)", None), ("ftp://a.example/", None), ("http://", None),
    ("http://[::1", None), ("http://a b/", None), ("\udce9", None), ("data:text/html,x", None), ("http://a:99999/", None),
])  # fmt: skip
def test_every_address_has_one_spelling(written: str, clean: str | None) -> None:
    assert clean_url(written, BASE) == clean


@pytest.mark.parametrize(("url", "clean"), [
    ("http://a/b;jsessionid=1A2B3C?x=1", "http://a/b?x=1"),
    ("http://a/b;jsessionid=1A2B3C", "http://a/b"),
    ("http://a/b?PHPSESSID=abc123&x=1", "http://a/b?x=1"),
    ("http://a/b?x=1&PHPSESSID=abc123", "http://a/b?x=1"),
    ("http://a/b?PHPSESSID=abc123", "http://a/b"),
    ("http://a/b?sid=0123456789abcdef0123456789abcdef&y", "http://a/b?y"),
    ("http://a/b?sid=5", "http://a/b?sid=5"),
    ("http://a/(S(lit3py55t21z5v55vlm25s55))/b.aspx", "http://a/b.aspx"),
    ("http://a/(S(x))/b", "http://a/(S(x))/b"),
    ("http://a/b?ASPSESSIONIDABCD=xyz&cfid=1&cftoken=2&z=3", "http://a/b?z=3"),
    ("http://a/b?", "http://a/b?"),
    ("http://a/b?=&=", "http://a/b?=&="),
    ("http://a/b?session=summer", "http://a/b?session=summer"),
])  # fmt: skip
def test_session_ids_are_left_out(url: str, clean: str) -> None:
    assert clean_url(url) == clean
    assert clean_url(clean) == clean


@given(st.text(max_size=40), st.sampled_from(["http://a.example/x/y", "https://b.example/?p=1"]))
def test_without_session_ids_the_spelling_is_the_one_pagekin_reads_by(written: str, base: str) -> None:
    clean = clean_url(written, base)
    if clean is not None and "session" not in clean.lower():
        assert clean == canonical_url(written, base)
        assert clean_url(clean) == clean


def test_places() -> None:
    place = place_of("https://a.example:8443/p/q?r=1")
    assert (place.origin, place.host, place.authority, place.path) == (
        "https://a.example:8443", "a.example", "a.example:8443", "/p/q?r=1",
    )  # fmt: skip
    assert place_of("http://a.example/").authority == place_of("https://a.example/").authority == "a.example"
    assert place_of("http://[::1]/x:8").host == "[::1]"


@given(st.sampled_from(["http", "https"]), st.sampled_from(["a.example", "[::1]", "10.0.0.1", "u:p@a.example", "[2001:db8::7]"]),
       st.sampled_from(["", ":80", ":443", ":8080"]), st.text("/?&:@ab.%#", max_size=8))  # fmt: skip
def test_places_are_what_the_url_library_says(scheme: str, host: str, port: str, rest: str) -> None:
    url = clean_url(f"{scheme}://{host}{port}/{rest}") or ""
    parsed = ada_url.URL(url)
    assert place_of(url) == Place(parsed.origin, parsed.hostname, parsed.host, "/" + url.split("/", 3)[3])
    assert place_of(url).path.partition("?")[0] == parsed.pathname


def test_credentials_are_seen() -> None:
    assert has_credentials("http://user:pass@a.example/")
    assert not has_credentials("http://a.example/@user")


@pytest.mark.parametrize(("kind", "root", "inside", "outside"), [
    ("host", "http://docs.a.example/x/",
     ["http://docs.a.example/", "https://docs.a.example/y"],
     ["http://a.example/", "http://docs.a.example:8080/", "http://docs.a.example.evil.example/"]),
    ("host", "http://a.example:8080/", ["http://a.example:8080/x"], ["http://a.example/", "https://a.example/"]),
    ("site", "http://docs.rivers.co.uk/",
     ["http://rivers.co.uk/", "https://www.rivers.co.uk:8443/"],
     ["http://co.uk/", "http://lakes.co.uk/", "http://docsrivers.co.uk/"]),
    ("site", "http://alice.github.io/", ["http://alice.github.io/x"], ["http://bob.github.io/"]),
    ("site", "http://127.0.0.1/", ["http://127.0.0.1:81/"], ["http://127.0.0.2/", "http://0.0.1/"]),
    ("prefix", "http://a.example/docs/index.html",
     ["http://a.example/docs/", "https://a.example/docs/x/y?z", "http://a.example/docs/../docs/z"],
     ["http://a.example/", "http://a.example/docs", "http://a.example/docs2/", "http://b.example/docs/"]),
    ("prefix", "http://a.example/?p=/x/", ["http://a.example/y"], ["http://b.example/y"]),
])  # fmt: skip
def test_scopes(kind: str, root: str, inside: list[str], outside: list[str]) -> None:
    scope = Scope(kind, [root])
    assert scope.reason_outside(root) == ""
    assert [url for url in inside if scope.reason_outside(clean_url(url) or "")] == []
    assert [url for url in outside if not scope.reason_outside(clean_url(url) or "")] == []


def test_where_the_root_leads_is_in_scope_too() -> None:
    scope = Scope("host", ["http://a.example/"])
    assert scope.reason_outside("http://www.a.example/x") == "other host"
    scope.add_root("http://www.a.example/")
    assert scope.reason_outside("http://www.a.example/x") == ""
    assert scope.reason_outside("http://a.example/x") == ""


def test_patterns_take_in_and_leave_out_but_never_the_root() -> None:
    scope = Scope("host", ["http://a.example/"], [r"/docs/", r"\.html$"], [r"/old/"])
    faults = {
        path: scope.reason_outside("http://a.example" + path)
        for path in ("/", "/docs/x", "/y.html", "/y", "/docs/old/x")
    }
    assert faults == {"/": "", "/docs/x": "", "/y.html": "", "/y": "not included", "/docs/old/x": "excluded"}


@pytest.mark.parametrize(("path", "reason"), [
    ("/a/b/c", ""), ("/a/a/a", ""), ("/a/a/a/a", "repeating path"), ("/a/b/a/b/a/b/a/b", "repeating path"),
    ("/" + "/".join(map(str, range(20))), ""), ("/" + "/".join(map(str, range(21))), "deep path"),
    ("/" + "x" * 2000, "long address"), ("/?u=/a/a/a/a/a", ""), ("////////", ""),
])  # fmt: skip
def test_endless_spaces_are_seen(path: str, reason: str) -> None:
    assert trap_reason("http://a.example" + path, CrawlLimits()) == reason


@given(st.from_regex(r"[a-z]{1,3}(\.[a-z]{1,3}){0,3}\.?", fullmatch=True))
def test_a_site_is_the_end_of_its_host(host: str) -> None:
    name = host.rstrip(".")
    assert site_of(host) == name or name.endswith("." + site_of(host))
