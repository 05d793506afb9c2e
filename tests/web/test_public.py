"""Behind a proxy: all addresses that we give are those by which browsers reach us, and nobody can make them others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar.testing import TestClient
from typer.testing import CliRunner

from pagekin.cli.app import USAGE, app, load_verbs
from pagekin.collection import ReloadingCollection
from pagekin.routers import Place
from pagekin.routers.serve import MountedRouters
from pagekin.web import PublicAddressError, public_address, web_app
from tests.routers.webs import get

from .browser import command_site
from .parsed import Parsed

HTML = {"Accept": "text/html"}
PAGE = "http://elements.example/carbon.html"
LIES = {
    "Host": "evil.example",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "gopher",
    "Forwarded": "host=evil.example",
}


def client_at(demo_collection: Path, public: str) -> TestClient[Any]:
    made: Any = MountedRouters(
        {Place("testserver.local", 80): ReloadingCollection("demo", demo_collection)}, web_app(public)
    )
    client = TestClient(made)
    client.follow_redirects = False
    return client


@pytest.fixture(scope="module")
def behind(demo_collection: Path) -> Iterator[TestClient[Any]]:
    with client_at(demo_collection, "https://find.example/below/") as made:
        yield made


def searches(answer: Any) -> set[str]:
    """The addresses in the description of a search."""
    found = ElementTree.fromstring(answer.content)
    return {one.attrib["template"] for one in found.iter() if "template" in one.attrib} | {
        str(one.text) for one in found.iter() if one.tag.endswith("Image")
    }


@pytest.mark.parametrize("headers", [{}, LIES])
def test_the_description_of_the_search_gives_the_public_address(behind: Any, headers: dict[str, str]) -> None:
    found = searches(behind.get("/opensearch.xml", headers=headers))
    assert len(found) == 5
    assert all(one.startswith("https://find.example/below/") for one in found)


def test_without_one_no_header_changes_the_scheme(demo_collection: Path) -> None:
    with client_at(demo_collection, "") as plain:
        lies = {name: value for name, value in LIES.items() if name != "Host"}
        assert {urlsplit(one)[:2] for one in searches(plain.get("/opensearch.xml", headers=lies))} == {
            ("http", "testserver.local")
        }


@pytest.mark.parametrize(
    "path", ["/", "/find?q=gold", f"/page?url={PAGE}", f"/compare?url={PAGE}", "/tree/clusters", "/tree/addresses/1", "/cluster",
             "/cluster/1", "/network", "/about", "/evaluation", "/nowhere", "/find?q=%22", "/page?url=x"],
)  # fmt: skip
def test_every_address_of_ours_begins_there(behind: Any, path: str) -> None:
    page = Parsed(behind.get(path, headers=HTML).text)
    given = [one[name] for _tag, one in page.tags for name in ("href", "src", "action") if name in one]
    ours = [one for one in given if one.startswith("/")]
    assert len(ours) > 8
    assert [one for one in ours if not one.startswith("/below/")] == []
    assert all(one.startswith(("/", "#", "http://")) for one in given)


def test_what_leads_on_stays_below_it(behind: Any) -> None:
    for path in (f"/compare?url={PAGE}&add=gold", f"/compare?url={PAGE}&out={PAGE}"):
        assert behind.get(path, headers=HTML).headers["location"].startswith("/below/compare")
        as_json = behind.get(path.replace("compare", "compare.json", 1)).headers["location"]
        assert as_json.startswith("/below/compare.json")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ("", "")),
        ("  ", ("", "")),
        ("https://find.example", ("https://find.example", "")),
        ("https://FIND.example:443/", ("https://find.example", "")),
        ("http://find.example:8080/a/b", ("http://find.example:8080", "/a/b")),
        ("https://find.example/a/../ö/", ("https://find.example", "/%C3%B6")),
        ("https://[::1]/x/", ("https://[::1]", "/x")),
    ],
)
def test_a_public_address_is_taken_apart(text: str, found: tuple[str, str]) -> None:
    assert public_address(text) == found


@pytest.mark.parametrize(
    "text", ["find.example", "/below/", "ftp://find.example/", "https://", "https://find.example/?q=1", "https://find.example/#x",
             "https://me:secret@find.example/", "https://find.example//evil.example/", "javascript:alert(1)", "https://a b/"],
)  # fmt: skip
def test_what_can_be_none_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(PublicAddressError, match="write for example https://"):
        public_address(text)
    load_verbs()
    told = CliRunner().invoke(app, ["serve", str(tmp_path / "none.kin"), "--public-url", text])
    assert told.exit_code == USAGE
    assert "--public-url" in told.output + told.stderr


@given(st.text(max_size=60).map(lambda text: f"https://find.example/{text}"))
def test_whatever_path_it_has_our_addresses_stay_on_the_host(text: str) -> None:
    try:
        origin, path = public_address(text)
    except PublicAddressError:
        return
    assert origin == "https://find.example"
    assert path == "" or (path.startswith("/") and not path.startswith(("//", "/\\")) and not path.endswith("/"))


def test_the_command_takes_it_also_for_several_processes(demo_collection: Path) -> None:
    options = ("--public-url", "https://find.example/below", "--processes", "2", "--port", "0")
    with command_site("serve", demo_collection, *options) as site:
        for _time in range(6):
            assert b"https://find.example/below/find?q=" in get(site, "opensearch.xml").body
