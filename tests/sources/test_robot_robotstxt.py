"""robots.txt files by the rules of RFC 9309."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from pagekin.sources.robot.robotstxt import MOST_BYTES, parse_robots


def allows(text: str | bytes, path: str, product: str = "pagekin") -> bool:
    return parse_robots(text.encode() if isinstance(text, str) else text, product).allows(path)


@pytest.mark.parametrize(("rules", "path", "allowed"), [
    ("", "/a", True),
    ("Disallow:", "/a", True),
    ("Disallow: /", "/a", False),
    ("Disallow: /", "/robots.txt", True),
    ("Disallow: /a", "/abc", False),
    ("Disallow: /a", "/b/a", True),
    ("Disallow: /a/", "/a", True),
    ("Disallow: /A", "/a", True),
    # the example of section 5.2: the longest match
    ("Allow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/disallowed.gif", False),
    ("Allow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/", True),
    ("Disallow: /a\nAllow: /a", "/a", True),
    ("Allow: /p\nDisallow: /", "/page", True),
    ("Allow: /folder\nDisallow: /folder", "/folder/page", True),
    ("Allow: /page\nDisallow: /*.htm", "/page.htm", False),
    ("Allow: /$\nDisallow: /", "/", True),
    ("Allow: /$\nDisallow: /", "/page.htm", False),
    # special characters, section 2.2.3
    ("Disallow: *.gif$", "/a.gif", False),
    ("Disallow: *.gif$", "/a.gif?x", True),
    ("Disallow: /*/b", "/a/b", False),
    ("Disallow: /*/b", "/b", True),
    ("Disallow: /a*b*c$", "/abxbcyc", False),
    ("Disallow: /a*b*c$", "/axbyd", True),
    ("Disallow: /a*$", "/abc", False),
    ("Disallow: /ab*ba$", "/aba", True),
    ("Disallow: /a$b", "/a$b", False),
    ("Disallow: /path/file-with-a-%2A.html", "/path/file-with-a-*.html", False),
    ("Disallow: /path/foo-%24", "/path/foo-$", False),
    ("Disallow: /path/foo-%24", "/path/foo-", True),
    ("Disallow: /?q=", "/?q=1", False),
    # percent-encoding, section 2.2.2
    ("Disallow: /foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar", False),
    ("Disallow: /foo/bar/ツ", "/foo/bar/%E3%83%84", False),
    ("Disallow: /foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", False),
    ("Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", False),
    ("Disallow: /foo/bar/baz", "/foo/bar/%62%61%7a", False),
    ("Disallow: /a%3cd", "/a%3Cd", False),
    ("Disallow: /a%2fb", "/a/b", True),
    ("Disallow: /~joe/", "/%7Ejoe/x", False),
])  # fmt: skip
def test_a_path_is_allowed_or_not(rules: str, path: str, allowed: bool) -> None:
    assert allows(f"User-agent: *\n{rules}", path) is allowed


@pytest.mark.parametrize(("text", "allowed"), [
    ("User-agent: pagekin\nDisallow: /", False),
    ("User-agent: PageKin/2.0 (any)\nDisallow: /", False),
    ("User-agent: pagekinbot\nDisallow: /", True),
    ("User-agent: page\nDisallow: /", True),
    ("User-agent: other\nDisallow: /", True),
    ("User-agent: *\nDisallow: /\n\nUser-agent: pagekin\nAllow: /", True),
    ("User-agent: pagekin\n\nUser-agent: *\nDisallow: /", False),
    ("User-agent: pagekin\nUser-agent: other\nDisallow: /", False),
    ("User-agent: other\nUser-agent: pagekin\nDisallow: /", False),
    ("User-agent: other\nDisallow: /\nUser-agent: pagekin\nDisallow: /b", True),
    # groups for the same robot are one
    ("User-agent: pagekin\nDisallow: /b\nUser-agent: x\nDisallow: /c\nUser-agent: pagekin\nDisallow: /a", False),
    # records of others do not part a group
    ("User-agent: pagekin\nSitemap: http://x/\nCrawl-delay: 3\nUser-agent: other\nDisallow: /", False),
    ("Disallow: /", True),
    ("Disallow: /\nUser-agent: *\nAllow: /", True),
    ("# nothing", True),
    ("user-AGENT:*#all\r\ndisALLOW :  /a  # no\r\n", False),
    ("User-agent: *\rDisallow: /a", False),
    ("\ufeffUser-agent: *\nDisallow: /", False),
    ("User-agent: *\nDisallow /a", True),
    ("<html><title>Not found</title>User-agent: *\nDisallow: /", True),
])  # fmt: skip
def test_groups_are_found_by_the_product_token(text: str, allowed: bool) -> None:
    assert allows(text, "/a") is allowed


def test_what_lies_beyond_500_kib_is_not_read() -> None:
    padding = b"#" * (MOST_BYTES - 100) + b"\n"
    assert not allows(b"User-agent: *\n" + padding[100:] + b"Disallow: /\n", "/a")
    assert allows(b"User-agent: *\n" + padding + b"#" * 100 + b"\nDisallow: /\n", "/a")


@pytest.mark.parametrize(("text", "delay"), [
    ("User-agent: *\nCrawl-delay: 2.5\nDisallow:", 2.5), ("User-agent: *\nDisallow: /a\nCrawl-delay: 7", 7),
    ("User-agent: x\nCrawl-delay: 5\nDisallow: /", 0), ("User-agent: *\nCrawl-delay: soon", 0), ("Crawl-delay: 9", 0),
    ("User-agent: *\nCrawl-delay: -3", 0), ("User-agent: *\nCrawl-delay: nan", 0), ("User-agent: *\nCrawl-delay: inf", 0),
    ("User-agent: *\nCrawl-delay: 9\nUser-agent: pagekin\nDisallow:", 9),
    ("User-agent: *\nDisallow: /x\nCrawl-delay: 9\nUser-agent: pagekin\nDisallow:", 0),
])  # fmt: skip
def test_crawl_delay(text: str, delay: float) -> None:
    assert parse_robots(text.encode(), "pagekin").delay == delay


def by_regex(rules: list[tuple[bool, str]], path: str) -> bool:
    """Decide in the obvious way: every pattern is a regular expression; the longest match wins, at a tie the one that allows."""
    best = (0, True)
    for allow, pattern in rules:
        body = pattern.removesuffix("$")
        expression = ".*".join(map(re.escape, body.split("*"))) + ("$" if pattern.endswith("$") else "")
        if re.match(expression, path):
            best = max(best, (len(pattern), allow))
    return best[1]


PATTERNS = st.text("ab/*", min_size=0, max_size=7).flatmap(lambda s: st.sampled_from([f"/{s}", f"/{s}$", f"*{s}"]))
RULES = st.lists(st.tuples(st.booleans(), PATTERNS), max_size=6)
PATHS = st.text("ab/", max_size=9).map(lambda s: "/" + s)


@given(RULES, PATHS)
@example([(False, "/ab*ba$")], "/aba")
@example([(False, "**")], "/")
def test_rules_agree_with_regular_expressions(rules: list[tuple[bool, str]], path: str) -> None:
    text = "User-agent: *\n" + "".join(f"{'Allow' if allow else 'Disallow'}: {p}\n" for allow, p in rules)
    assert allows(text, path) == by_regex(rules, path)


@given(st.lists(st.sampled_from([
    "User-agent: *", "User-agent: pagekin", "User-agent: other", "Disallow: /a", "Disallow: /", "Allow: /a/b", "Disallow:",
    "Disallow: /*.gif$", "Sitemap: http://x/", "", "# note",
]), max_size=12), PATHS)  # fmt: skip
def test_files_agree_with_another_parser(lines: list[str], path: str) -> None:
    text = "\n".join(lines)
    assert allows(text, path) == Protego.parse(text).can_fetch(f"http://a{path}", "pagekin")


@given(st.binary(max_size=400), st.text(max_size=30))
def test_any_bytes_and_any_path_get_an_answer(body: bytes, path: str) -> None:
    assert parse_robots(b"User-agent: *\nDisallow: " + body, "pagekin").allows("/" + path) in (True, False)


def test_many_wildcards_take_no_time() -> None:
    pattern = "/" + "a*" * 2_000 + "b"
    assert allows(f"User-agent: *\nDisallow: {pattern}", "/" + "a" * 20_000)
