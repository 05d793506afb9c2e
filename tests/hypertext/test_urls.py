"""Addresses: the canonical form, and the resolver against the URL library itself."""

import ada_url
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.hypertext import canonical_url, host_of
from pagekin.hypertext.resolver import Resolver
from pagekin.store import RaggedBytes, pack_strings


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://WWW.Example.ORG:80/a/../b#frag", "http://www.example.org/b"),
        ("https://example.org", "https://example.org/"),
        ("http://example.org/ä b", "http://example.org/%C3%A4%20b"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.org/a?b=1#c", "http://example.org/a?b=1"),
        ("http://example.org/%7Eann/operator%3d%28%29.html", "http://example.org/~ann/operator=().html"),
        ("http://example.org/a%2fb%c3%a9%3f?x=%7e%2f", "http://example.org/a%2Fb%C3%A9%3F?x=%7e%2f"),
        ("http://us%40er@example.org/x%20y", "http://us%40er@example.org/x%20y"),
        ("javascript:alert(1)", None),
        ("mailto:a@b.c", None),
        ("ftp://example.org/x", None),
        ("not a url", None),
        ("http://", None),
    ],
)
def test_the_canonical_form_is_the_whatwg_one_without_fragment_and_needless_escapes(
    url: str, expected: str | None
) -> None:
    assert canonical_url(url) == expected


def test_hosts_keep_their_port_and_lose_credentials() -> None:
    assert host_of("http://user:pw@example.org:8080/x") == "example.org:8080"


segments = st.sampled_from(
    ["a.html", "..", ".", "b", "", "x y", "é", "%2e", "q?r=1", "?q", "c/", "//host.example/z", "/abs", "http:page",
     "https://other.example/p", "HTTP://UP.example", "mailto:x@y", "javascript:0", "a:b", "\\back", "~u", "d.e.f", "a./b",
     "...", ".x", "a.html#top", "#top", "a;v=1", "x=1&y", "a|b", "%41", "tab\tbed", "e//f", "a?b/../c", "/./abs", "../up.html"]
)  # fmt: skip
bases = st.sampled_from(
    [
        "http://h.example/",
        "http://h.example/dir/page.html",
        "https://h.example/d/e/?x=/y/z",
        "http://h.example:81/a/b/c",
        "http://user:pw@127.0.0.1:8000/a%20b/%C3%A9/c.html",
        "https://[2001:db8::1]/it's/~x/",
        "http://h.example/%2Fa//b/c",
    ]
)


@given(
    st.lists(st.tuples(bases, st.lists(segments, min_size=1, max_size=3).map("/".join)), min_size=1, max_size=20),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_the_resolver_answers_as_the_url_library_does(cases: list[tuple[str, str]], owns: list[bool]) -> None:
    """Whether pages name another address as the base of their links or not."""
    resolver = Resolver()
    hrefs = sorted({href.encode() for _, href in cases})
    data, bounds = pack_strings([*hrefs, bytes(128)])
    used = np.array([hrefs.index(href.encode()) for _, href in cases])
    bases = [base for base, _ in cases]
    urls = [base if own else "http://another.example/" for base, own in zip(bases, owns, strict=False)]
    found = resolver.resolve(RaggedBytes(data.copy(), bounds[:-1]), used, np.arange(len(cases)), urls, bases)
    names = [name.decode() for name in RaggedBytes(*resolver.urls())]
    for (base, href), number in zip(cases, found.tolist(), strict=True):
        try:
            wanted = ada_url.join_url(base, href).partition("#")[0]
        except ValueError:
            wanted = ""
        if not wanted.startswith(("http://", "https://")):
            assert number == -1, (base, href)
        else:
            assert names[number] == canonical_url(wanted), (base, href)


def test_a_resolver_makes_room_for_many_links() -> None:
    """Every table is doubled some times, and the same links of the same page have the same numbers afterwards."""
    resolver = Resolver()
    hrefs = [f"../folder-{number % 97}/page-{number}.html?{'x' * 40}" for number in range(60_000)]
    data, bounds = pack_strings([*(href.encode() for href in hrefs), bytes(128)])
    table, used = RaggedBytes(data.copy(), bounds[:-1]), np.arange(len(hrefs))
    page = "http://h.example/a/b.html"
    first, second = (resolver.resolve(table, used, np.zeros_like(used), [page], [page]) for _ in range(2))
    names = [name.decode() for name in RaggedBytes(*resolver.urls())]
    assert [names[number] for number in first.tolist()] == [f"http://h.example/{href[3:]}" for href in hrefs]
    assert np.array_equal(first, second)
    assert resolver.cases == len(hrefs)


@pytest.mark.parametrize("count", [0, 1, 1 << 14, (1 << 14) + 1])
def test_urls_have_the_numbers_of_their_order_also_where_the_table_is_full(count: int) -> None:
    resolver = Resolver()
    urls = [f"http://h.example/{number}" for number in range(count)]
    assert resolver.numbers(urls).tolist() == list(range(count))
    data, bounds = resolver.urls()
    assert [name.decode() for name in RaggedBytes(data, bounds[:-1])] == urls
    assert resolver.numbers(urls[:1]).tolist() == [0][:count]
