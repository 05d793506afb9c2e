"""What holds for every answer: headers, errors for people and for programs, counts, files."""

import contextlib
import json
import re
from http.client import HTTPConnection
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from litestar.testing import TestClient

from .parsed import Parsed, harm

HTML = {"Accept": "text/html"}
POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
"""What pages may do, written out: what is loosened in the code is noticed here."""
PLACES = ("/", "/find?q=gold", "/tree/clusters", "/cluster", "/network", "/evaluation", "/about")


@pytest.mark.parametrize("place", [*PLACES, "/nowhere", "/static/style.css", "/search?q=gold", "/page?url=no"])
def test_every_answer_tells_browsers_to_load_and_run_nothing_from_elsewhere(
    client: TestClient[Any], place: str
) -> None:
    answer = client.get(place, headers=HTML)
    told = [part.strip().partition(" ") for part in answer.headers["content-security-policy"].split(";")]
    assert {name: rest for name, _space, rest in told} == POLICY and len(told) == len(POLICY)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert (
        answer.headers["cross-origin-opener-policy"] == answer.headers["cross-origin-resource-policy"] == "same-origin"
    )


@pytest.mark.parametrize("place", PLACES)
def test_every_page_is_json_at_the_same_address(client: TestClient[Any], place: str) -> None:
    path, _, query = place.partition("?")
    named = ("/index" if path == "/" else path) + ".json" + (f"?{query}" if query else "")
    by_name, by_accept = client.get(named), client.get(place, headers={"Accept": "application/json"})
    assert by_name.status_code == by_accept.status_code == 200
    assert by_name.headers["content-type"] == by_accept.headers["content-type"] == "application/json"

    def steady(body: str) -> Any:
        return {name: value for name, value in json.loads(body).items() if name != "seconds"}

    found, expected = steady(by_name.text), steady(by_accept.text)
    assert found.keys() == expected.keys()
    page = client.get(place, headers=HTML)
    assert page.headers["content-type"].startswith("text/html") and page.headers["vary"] == "Accept"
    assert {"href": named, "rel": "alternate", "type": "application/json"} in Parsed(page.text).all("link")


def test_errors_are_pages_for_people_and_json_for_programs(client: TestClient[Any]) -> None:
    for place, status in (
        ("/nowhere", 404),
        ("/cluster/9999", 404),
        ("/tree/none", 404),
        ("/compare?url=" + "a" * 9000, 400),
    ):
        page = client.get(place, headers=HTML)
        assert page.status_code == status and len(Parsed(page.text).all("h1")) == 1 and harm(page.text) == []
        assert place != "/nowhere" or "There is no page at this address." in Parsed(page.text).text
        path, _, query = place.partition("?")
        told = client.get(f"{path}.json?{query}")
        assert told.status_code == status and told.json()["detail"], place


def test_an_address_of_a_hierarchy_that_was_cut_short_leads_to_them(client: TestClient[Any], network_site: str) -> None:
    for place in ("/tree", "/tree/"):
        page = client.get(place, headers=HTML)
        assert page.status_code == 200 and page.url.path == "/tree/clusters"
        assert {"/tree/clusters", "/tree/addresses"} <= set(Parsed(page.text).links)
    # For programs it is what it was: the tree of routers.
    assert client.post("/tree", json={}).json()["name"] == "demo"
    with urlopen(Request(f"{network_site}tree", headers=HTML), timeout=20) as led:
        assert led.status == 200 and led.url.startswith(network_site) and led.url != f"{network_site}tree"


def test_who_opens_what_is_for_programs_is_told_so(client: TestClient[Any]) -> None:
    page = client.get("/refresh", headers=HTML)
    assert page.status_code == 405 and "for programs" in Parsed(page.text).text
    assert "/schema/openapi.json" in Parsed(page.text).links and harm(page.text) == []
    assert client.get("/refresh").json()["status_code"] == 405


def test_a_title_of_an_error_runs_nothing(client: TestClient[Any]) -> None:
    page = client.get("/tree/%3Cscript%3Ealert(1)", headers=HTML)
    assert page.status_code == 404 and "alert(1)" in Parsed(page.text).text and harm(page.text) == []


def test_pages_are_counted_by_kind_and_status(client: TestClient[Any]) -> None:
    for place in ("/", "/", "/find?q=gold", "/find?q=%22open", "/nowhere", "/static/icon.svg"):
        client.get(place, headers=HTML)
    text = client.get("/metrics").text
    counted = dict(
        re.findall(r'pagekin_requests_total\{router="demo",operation="(page [^"]+",status="\d+)"\} (\d+)', text)
    )
    assert counted == {'page home",status="200': "2", 'page find",status="200': "1", 'page find",status="400': "1"}
    assert 'pagekin_request_seconds_count{router="demo",operation="page home"} 2' in text


def test_the_services_are_described_without_examples_of_megabytes(client: TestClient[Any]) -> None:
    for place in ("/schema", "/schema/openapi.json"):
        answer = client.get(place)
        described = answer.json()
        assert len(answer.content) < 200_000
        assert {"/find", "/page", "/compare", "/network", "/search", "/tree/{name}"} <= described["paths"].keys()
        assert "PageView" in described["components"]["schemas"]


def test_files_may_be_kept_as_their_address_changes_with_them(client: TestClient[Any]) -> None:
    page = Parsed(client.get("/", headers=HTML).text)
    style = next(one["href"] for one in page.all("link") if one["rel"] == "stylesheet")
    script = page.all("script")[0]["src"]
    for address, kind in ((style, "text/css"), (script, "text/javascript")):
        answer = client.get(address)
        assert answer.headers["content-type"].startswith(kind) and "immutable" in answer.headers["cache-control"]
        assert re.search(r"\?v=[0-9a-f]{12}$", address)
        assert not re.search(rb"https?://(?!www\.w3\.org/)", answer.content), "nothing from elsewhere"
    for place in ("/static/none.css", "/static/..%2Fapp.py", "/static/base.css"):
        assert client.get(place).status_code == 404


def test_healthz_says_that_it_lives(client: TestClient[Any]) -> None:
    assert client.get("/healthz").json()["ready"] is True


def test_heads_are_given_without_bodies_and_odd_hosts_and_wishes_do_no_harm(demo_site: str) -> None:
    host, port = demo_site.removeprefix("http://").rstrip("/").split(":")

    def asked(method: str, place: str, **headers: str) -> tuple[int, bytes]:
        with contextlib.closing(HTTPConnection(host, int(port), timeout=20)) as made:
            made.putrequest(method, place, skip_host="Host" in headers)
            for name, value in headers.items():
                made.putheader(name, value)
            made.endheaders()
            answer = made.getresponse()
            return answer.status, answer.read()

    assert asked("HEAD", "/") == (200, b"") and asked("HEAD", "/nowhere") == (404, b"")
    assert asked("GET", "/", Accept="text/html;q=1e400")[0] == 200
    assert asked("GET", "/about", Accept="application/json;q=nan, text/html;q=-1")[0] == 200
    for name in ("a:99999999", "a:b", "<script>", "a b", "[::1"):
        assert asked("GET", "/", Host=name)[0] == 400, name
    for name in ("127.0.0.1", f"127.0.0.1:{port}", "[::1]:80", "docs.example", "xn--bcher-kva.example:8600"):
        assert asked("GET", "/healthz", Host=name)[0] == 200, name
    status, page = asked("GET", "//evil.example/x", Accept="text/html")
    assert status == 404 and b'"//evil' not in page and harm(page) == []


def test_errors_below_a_path_lead_on_below_it(network_site: str) -> None:
    asked = Request(f"{network_site}nowhere", headers=HTML)
    with pytest.raises(HTTPError) as refused:
        urlopen(asked, timeout=20)
    page = Parsed(refused.value.read())
    path = "/" + network_site.split("/", 3)[3]
    assert refused.value.code == 404
    assert all(one["href"].startswith(path) for one in page.all("a") if not one["href"].startswith("#"))
    assert page.all("form")[0]["action"] == f"{path}find"
