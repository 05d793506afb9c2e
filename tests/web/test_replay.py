"""With a pattern of a web archive's addresses, pages link to captures in place of the live web."""

from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient

from pagekin.bags import Strategy
from pagekin.collection import ReloadingCollection
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import ReplayPatternError, replay_pattern, web_app
from tests.bags.webs import record
from tests.command import pagekin

PATTERN = "https://archive.example/web/{timestamp}/{url}"
URL = "http://harbour.test/ferry?day=1&x=%3C"
DATES = ("2019-05-06T07:08:09Z", "2021-01-02T03:04:05Z")
NOON = "http://harbour.test/noon"


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page that was captured twice, one that was captured on one day, twice in the same second, and one with a link."""
    folder = tmp_path_factory.mktemp("replay")
    said = [
        (URL, f"<title>Ferry</title><p>The ferry leaves the harbour at noon, since {date}.", date) for date in DATES
    ]
    pages = [
        *said,
        *(
            (NOON, f"<title>Noon</title><p>At {date}.", f"2019-05-06T{date}Z")
            for date in ("12:00:00", "12:00:00", "18:30:00")
        ),
        ("http://harbour.test/", f"<title>Harbour</title><p><a href='{URL}'>the ferry</a> of the harbour", DATES[0]),
    ]
    (folder / "a.warc").write_bytes(b"".join(record(url, html, date=date) for url, html, date in pages))
    plan = ReadPlan([str(folder / "a.warc")], folder / "a.kin", all_captures=True)
    build_collection(plan, BuildRecipe(Strategy(), text=True))
    return plan.out


def page_of(collection: Path, pattern: str, path: str, **parameters: str) -> str:
    """A page of the collection, served with a pattern."""
    app: Any = MountedRouters(
        {Place("testserver.local", 80): ReloadingCollection("a", collection)}, web_app(replay=pattern)
    )
    with TestClient(app) as client:
        answer = client.get(path, params=parameters, headers={"Accept": "text/html"})
    assert answer.status_code == 200
    return str(answer.text)


def test_a_page_links_to_its_newest_capture_and_lists_all_of_them(collection: Path) -> None:
    page = page_of(collection, PATTERN, "/page", url=URL)
    address = URL.replace("&", "&amp;")
    newest, oldest = (
        f'href="https://archive.example/web/{date}/{address}"' for date in ("20210102030405", "20190506070809")
    )
    assert page.count(newest) == 2  # below the title, and in the list of captures
    assert page.count(oldest) == 1
    assert "See it in the archive" in page
    assert f'href="{address}"' not in page


def test_captures_of_one_day_have_times_and_the_same_second_counts_once(collection: Path) -> None:
    page = page_of(collection, "", "/page", url=NOON)
    assert [page.count(f">2019-05-06 {time}<") for time in ("12:00:00", "18:30:00")] == [1, 1]
    assert "read 2 times" in page
    printed = pagekin("page", collection, NOON).stdout
    assert "captures  2: 2019-05-06 18:30:00, 2019-05-06 12:00:00" in printed


def test_results_link_to_captures(collection: Path) -> None:
    found = page_of(collection, PATTERN, "/find", q="ferry noon")
    assert 'href="https://archive.example/web/20210102030405/http://harbour.test/ferry?day=1&amp;x=%3C"' in found
    assert "Capture" in found


def test_captures_are_listed_without_links_where_no_archive_was_given(collection: Path) -> None:
    page = page_of(collection, "", "/page", url=URL)
    assert '<li><time datetime="2019-05-06">2019-05-06</time></li>' in page
    assert "archive.example" not in page


def test_an_address_behind_a_question_mark_or_a_fragment_is_written_as_a_parameter(collection: Path) -> None:
    page = page_of(collection, "https://archive.example/?ts={timestamp}#url={url}", "/page", url=URL)
    assert (
        'href="https://archive.example/?ts=20210102030405#url=http%3A%2F%2Fharbour.test%2Fferry%3Fday%3D1%26x%3D%253C"'
        in page
    )


@pytest.mark.parametrize(
    "text", ["x", "{url}", "ftp://a.example/{url}", "https://a.example/", "https://a.example/{url}{host}"]
)
def test_what_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(ReplayPatternError, match="timestamp"):
        replay_pattern(text)
