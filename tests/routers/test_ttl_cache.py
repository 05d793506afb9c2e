"""Answers that are given again: the same, for some seconds, if they are whole."""

import time

import pytest

from pagekin.routers import ttl_cache
from pagekin.routers.ttl_cache import TtlCache

from .bad_children import QUERY, Parts, above, found
from .fakes import Fake, reply, says, tells
from .webs import Web, ask, eager


class Clock:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(ttl_cache, "time", made)
    return made


def test_what_is_kept_ends_after_its_seconds_and_the_oldest_go(clock: Clock) -> None:
    kept: TtlCache[str] = TtlCache(3.0, 2)
    kept.put(b"a", "first")
    assert kept.get(b"a") == "first"
    clock.now += 2.9
    assert kept.get(b"a") == "first"
    kept.put(b"b", "second")
    clock.now += 0.2
    assert (kept.get(b"a"), kept.get(b"b")) == (None, "second")
    kept.put(b"a", "again")
    kept.put(b"c", "third")
    assert (kept.get(b"a"), kept.get(b"b"), kept.get(b"c")) == ("again", None, "third")
    kept.clear()
    assert kept.get(b"c") is None
    never: TtlCache[str] = TtlCache(0.0, 2)
    never.put(b"a", "first")
    assert never.get(b"a") is None


def test_the_same_question_is_answered_the_same_without_asking_anybody(web: Web, parts: Parts, clock: Clock) -> None:
    settings = eager(settle=0.3, cached=30.0)
    with (
        Fake(tells({"results": [found("http://kept.example/")], "total": 1}), parts) as child,
        above(web, {"child": child.url}, settings) as (url, _router),
    ):
        first = ask(url, "search", query=QUERY, raw=True, deadline=60.0)
        assert len(child.asked("search")) == 1
        assert ask(url, "search", query=QUERY, raw=True, deadline=59.0) == first
        assert len(child.asked("search")) == 1
        for other in ({"limit": 11}, {"query": QUERY + " OR x"}, {"filters": {"site": "a.example"}}):
            ask(url, "search", **{"query": QUERY, "raw": True, "deadline": 60.0, **other})
        assert len(child.asked("search")) == 4, "other questions are others"
        clock.now += 31
        again = ask(url, "search", query=QUERY, raw=True, deadline=60.0)
        assert len(child.asked("search")) == 5
        assert again["results"] == first["results"]


def test_answers_that_miss_something_are_not_kept(web: Web, parts: Parts) -> None:
    settings = eager(settle=0.3, cached=30.0)
    with (
        Fake(says(reply(b"{", "500 Oh")), parts) as child,
        above(web, {"child": child.url}, settings) as (url, _router),
    ):
        asked = {"query": QUERY, "raw": True, "deadline": 60.0}
        assert ask(url, "search", **asked)["partial"]
        child.behave = tells({"results": [found("http://late.example/")], "total": 1})
        until = time.monotonic() + 20
        while (answer := ask(url, "search", **asked))["partial"]:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert "http://late.example/" in {one["url"] for one in answer["results"]}
