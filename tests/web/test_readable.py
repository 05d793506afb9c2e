"""Addresses as people would say them, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.web.readable import readable

KNOWN = frozenset("mount everest annual report reinforcement learning harry lewis käse andes cs of the".split())


@pytest.mark.parametrize(
    ("url", "name", "way"),
    [
        ("http://a.test/", "a.test", ""),
        ("http://a.test:8080/index.html", "a.test:8080", ""),
        ("http://a.test/mount-everest.html", "Mount Everest", "a.test"),
        ("http://a.test/public/annual_report/", "Annual Report", "a.test › public"),
        ("http://a.test/x/ReinforcementLearning/Welcome.HTML", "Reinforcement Learning", "a.test › x"),
        ("http://a.test/people/Harry%20Lewis.htm", "Harry Lewis", "a.test › people"),
        ("http://a.test/k%C3%A4se", "Käse", "a.test"),
        ("http://a.test/andes/andes.html", "Andes", "a.test › andes"),
    ],
)
def test_what_can_be_read_is_a_name(url: str, name: str, way: str) -> None:
    assert readable(url, KNOWN) == (name, way)


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/~lewis/",
        "http://a.test/markhill.html",
        "http://a.test/cs",
        "http://a.test/of-the",
        "http://a.test/annual-report-1995",
        "http://a.test/annual-report?of=lewis",
        "http://a.test/<script>",
        f"http://a.test/{'everest-' * 40}",
        f"http://a.test/{'x' * 300}/annual-report",
        "http://[broken/annual-report",
    ],
)
def test_what_nobody_would_understand_has_no_name(url: str) -> None:
    assert readable(url, KNOWN)[0] == ""


@given(st.text(max_size=80))
def test_no_address_is_a_problem(text: str) -> None:
    for url in (text, f"http://a.test/{text}"):
        name, _way = readable(url, KNOWN)
        assert len(name) <= 60 and name.isprintable()
