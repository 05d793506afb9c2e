"""Pages are kept by site, date and language."""

import datetime
from pathlib import Path

import pytest

from pagekin.hypertext import Corpus
from pagekin.text import QueryError, keep_pages
from tests.bags.webs import record

from .collections import addresses, read

ENGLISH = "<html lang=en-GB><p>english"
GERMAN = "<html lang=de><p>deutsch"
PAGES = [
    record("http://cornell.edu/1", ENGLISH, "2001-01-01T00:00:00Z"),
    record("http://cs.cornell.edu/2", GERMAN, "2002-01-01T00:00:00Z"),
    record("http://www.cs.cornell.edu:8080/3", ENGLISH, "2003-01-01T00:00:00Z"),
    record("http://notcornell.edu/4", ENGLISH, "2004-01-01T00:00:00Z"),
    record("http://xn--mnchen-3ya.de/5", "<p>?", "2005-01-01T00:00:00Z"),
    record("http://10.0.0.1/6", "<p>?", "2006-01-01T00:00:00Z"),
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus.open(read(tmp_path_factory.mktemp("filters") / "a.kin", PAGES))


def kept(corpus: Corpus, **filters: object) -> str:
    mask = keep_pages(corpus, **filters)  # type: ignore[arg-type]  # any of the filters, by name
    return "".join(sorted(addresses(corpus, [page for page in range(len(corpus)) if mask[page]])))


def year(number: int, *, second: int = 0) -> int:
    return int(datetime.datetime(number, 1, 1, 0, 0, second, tzinfo=datetime.UTC).timestamp())


@pytest.mark.parametrize(
    ("site", "pages"),
    [
        ("cornell.edu", "123"),
        (".Cornell.EDU", "123"),
        ("cs.cornell.edu", "23"),
        ("www.cs.cornell.edu", "3"),
        ("www.cs.cornell.edu:8080", "3"),
        ("www.cs.cornell.edu:81", ""),
        ("http://cs.cornell.edu/some/page", "23"),
        ("edu", "1234"),
        ("ornell.edu", ""),
        ("münchen.de", "5"),
        ("10.0.0.1", "6"),
        ("elsewhere.org", ""),
    ],
)
def test_a_site_is_a_host_and_all_below_it(corpus: Corpus, site: str, pages: str) -> None:
    assert kept(corpus, site=site) == pages


@pytest.mark.parametrize("site", ["", "a b", "[", "ftp://x.org/"])
def test_what_is_no_host_is_refused(corpus: Corpus, site: str) -> None:
    with pytest.raises(QueryError, match="is not a host; write one such as"):
        keep_pages(corpus, site=site)


def test_dates_include_both_ends(corpus: Corpus) -> None:
    assert kept(corpus, since=year(2003)) == "3456"
    assert kept(corpus, since=year(2003, second=1)) == "456"
    assert kept(corpus, until=year(2002)) == "12"
    assert kept(corpus, since=year(2002), until=year(2003)) == "23"
    assert kept(corpus, since=0) == "123456"
    assert kept(corpus, until=-1) == ""


def test_a_page_without_a_date_passes_no_date(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    undated = Corpus.open(read(tmp_path / "a.kin", [record("http://a.test/1", ENGLISH, "1970-01-01T00:00:00Z")]))
    assert int(undated.kin["page.date"][0]) == 0
    assert kept(undated) == "1"
    assert kept(undated, since=0) == kept(undated, until=1 << 40) == ""


def test_languages(corpus: Corpus) -> None:
    assert kept(corpus, language="en") == "134"
    assert kept(corpus, language="EN-us") == "134"
    assert kept(corpus, language="de") == "2"
    assert kept(corpus, language="fr") == ""
    for wrong in ("", "english language", "x"):
        with pytest.raises(QueryError, match="not a language code"):
            keep_pages(corpus, language=wrong)


def test_filters_together_keep_what_all_keep(corpus: Corpus) -> None:
    assert kept(corpus) == "123456"
    assert kept(corpus, site="cornell.edu", since=year(2002), language="en") == "3"
