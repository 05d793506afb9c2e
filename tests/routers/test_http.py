"""The services over HTTP: what is described is there, what is asked wrongly is told, labels stay fresh by ETag."""

import gzip
import json
import socket
import warnings
from typing import Any

import pytest

from pagekin.collection import ReloadingCollection, ServiceError
from pagekin.labels import (
    ABSTRACTION_FUNCTIONS,
    join_parts,
    label_etag,
    label_from_json,
    label_from_wire,
)
from pagekin.routers import Place, Router, listening_socket, router_app
from pagekin.routers.http import LARGEST_REQUEST
from pagekin.routers.metrics import Metrics
from tests.labels.sexpr_reader import label_from_sexpr

from .webs import Running, Web, ask, free_ports, get, post, request, urls_of, wait_for

POSTED = ("search", "show", "select", "expand", "refine", "suggest", "related", "bag")
BOTH = ("root", "elements")
"""A router and a leaf."""


@pytest.fixture(params=BOTH)
def url(web: Web, request: pytest.FixtureRequest) -> str:
    return web.urls[request.param]


def refused(reply: Any, *statuses: int) -> str:
    """Why a request was refused, by a JSON answer that blames the caller."""
    assert reply.status in (statuses or (400,)), (reply.status, reply.body[:300])
    assert reply.headers["content-type"].startswith("application/json")
    detail = reply.json["detail"]
    assert isinstance(detail, str) and detail
    assert "Traceback" not in detail
    return detail


# -- what is there --------------------------------------------------------------------------------------------------------


def test_everything_is_described(url: str) -> None:
    described = get(url, "schema/openapi.json")
    assert described.status == 200
    paths = described.json["paths"]
    for operation in POSTED:
        assert "post" in paths[f"/{operation}"]
    for operation in ("search", "select", "expand", "refine", "related", "label", "summary", "health", "metrics"):
        assert "get" in paths[f"/{operation}"]
    assert "post" in paths["/refresh"]
    limit = next(one for one in paths["/search"]["get"]["parameters"] if one["name"] == "limit")
    assert limit["schema"]["maximum"] == 10_000
    for page in ("schema", "schema/swagger", "schema/redoc", "schema/elements"):
        assert b"<script" not in get(url, page).body, "no page that loads scripts from elsewhere"


def test_the_application_is_made_as_the_framework_wants_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        router_app()


@pytest.mark.parametrize("operation", ["search", "select", "expand", "refine"])
def test_get_and_post_say_the_same(url: str, operation: str) -> None:
    posted, got = ask(url, operation, query="oxygen"), get(url, operation, q="oxygen").json
    for answer in (posted, got):
        answer.pop("seconds")
        for one in answer.get("asked", ()):
            one.pop("seconds"), one.pop("bytes")
    assert posted == got
    if operation == "search":
        few = get(url, "search", q="gas", limit=3, site="elements.example", language="en", since=1, until=2**40).json
        same = {"site": "elements.example", "language": "en", "since": 1, "until": 2**40}
        assert few["results"] == ask(url, "search", query="gas", limit=3, filters=same)["results"] != []


# -- what is asked wrongly ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query", ["", " ", "(", "a OR", "NOT a", 'a "b', "colour:red", "title:", "a" * 1500, "(" * 200, "x " * 60, "?!"]
)
@pytest.mark.parametrize("operation", ["search", "select", "expand", "refine"])
def test_a_query_that_cannot_be_read_is_told(url: str, operation: str, query: str) -> None:
    said = refused(post(url, operation, query=query))
    assert refused(get(url, operation, q=query)) and len(said) < 2000


WRONG: list[tuple[str, Any]] = [
    *(("search", body) for body in ({}, [], None, "oxygen")),
    *(
        ("search", {"query": "x"} | more)
        for more in (
            {"query": 5}, {"query": None}, {"query": "x" * 3000}, {"limit": -1}, {"limit": 10**9}, {"limit": "10"},
            {"limit": 1.5}, {"nonsense": 1}, {"routing": "magic"}, {"deadline": 0}, {"deadline": 1e9}, {"deadline": "soon"},
            {"hops": -1}, {"hops": 99}, {"ask": -1}, {"visited": ["a"] * 99}, {"visited": "a"}, {"raw": 1},
            {"filters": {"since": -1}}, {"filters": {"since": 2**60}}, {"filters": {"colour": 1}},
            {"filters": {"language": "??"}}, {"filters": {"site": "a b"}}, {"stats": {"pages": 1}},
            {"stats": {"analyser": "?", "pages": 1, "words": 1, "df": {"x": -1}}},
        )
    ),
    *(
        (operation, {"query": "x", "items": items})
        for operation in ("select", "expand", "show")
        for items in (
            5, [{"kind": "file", "url": "u"}], [{"kind": "document"}], [{"kind": "document", "url": ""}],
            [{"kind": "cluster", "url": "u", "path": 1}], [{"kind": "cluster", "url": "u"}] * 1001,
        )
    ),
    *(("refine", {"query": "x"} | more) for more in ({"count": 0}, {"count": 1001}, {"preset": "2049"})),
    *(("suggest", body) for body in ({"items": "all"}, {"items": [], "limit": -5})),
    ("show", {"query": "x"}), ("show", {"items": []}),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "body"), WRONG, ids=lambda value: json.dumps(value)[:40])
def test_a_request_that_breaks_the_rules_is_told(url: str, operation: str, body: Any) -> None:
    raw = json.dumps(body).encode()
    refused(request(f"{url}{operation}", "POST", raw, {"Content-Type": "application/json"}))


@pytest.mark.parametrize(
    "body",
    [
        {"options": {"k": 0}}, {"ask": 0}, {"url": 5}, {"bag": 5}, {"bag": {}}, {"url": "x" * 3000},
        {"bag": {"strategy": "x", "hashes": ["1"], "weights": [1.0], "sketch": []}},
        {"bag": {"strategy": "x", "hashes": [1], "weights": ["1"], "sketch": []}},
        {"bag": {"strategy": "x", "hashes": [1], "weights": [1.0], "sketch": [70_000]}},
    ],
    ids=lambda body: json.dumps(body)[:40],
)  # fmt: skip
@pytest.mark.parametrize("operation", ["related", "bag"])
def test_a_request_for_related_pages_that_breaks_the_rules_is_told(url: str, operation: str, body: Any) -> None:
    refused(post(url, operation, **body))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b'{"query": "\xff"}',
        b'{"query": "\\ud800"}',
        b"[" * 100_000,
        b"null",
        b"NaN",
        b"\x00" * 50,
    ],
)
def test_what_is_no_json_is_told(url: str, raw: bytes) -> None:
    for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
        refused(request(f"{url}search", "POST", raw, {"Content-Type": kind}))


def test_a_huge_body_is_told_and_not_kept(url: str) -> None:
    for operation in ("search", "suggest"):
        raw = b'{"query": "' + b"x" * (LARGEST_REQUEST + 1000) + b'"}'
        try:
            reply = request(f"{url}{operation}", "POST", raw, {"Content-Type": "application/json"})
        except (BrokenPipeError, ConnectionResetError):
            continue  # it hung up before all was sent
        assert "larger" in refused(reply, 413)
    assert get(url, "health").status == 200


@pytest.mark.parametrize(
    "asked",
    [
        "search", "search?q=x&limit=-1", "search?q=x&limit=many", "search?q=x&limit=100000", "search?q=x&since=yesterday",
        "search?q=x&since=-1", "search?q=x&since=99999999999999999999999", "search?q=x&language=%00", "search?q=x&site=a%20b",
        "search?q=" + "x" * 3000, "search?q=%ff%fe", "refine?q=x&count=0", "related", "related?url=x&k=0",
        "label?part=soul", "label?form=poem", "select", "expand?limit=3",
    ],
)  # fmt: skip
def test_a_bad_address_is_told(url: str, asked: str) -> None:
    if asked == "search?q=%ff%fe":  # no words in it
        assert request(url + asked).status in (200, 400)
        return
    refused(request(url + asked))


def test_what_is_not_there_is_told(url: str) -> None:
    refused(get(url, "nothing"), 404)
    refused(get(url, "../../etc/passwd"), 404)
    refused(request(f"{url}health", "POST"), 405)
    refused(get(url, "show"), 405)
    refused(request(f"{url}search", "DELETE"), 405)


def test_a_page_that_nobody_knows_is_told(url: str) -> None:
    assert "nowhere.example" in refused(get(url, "related", url="http://nowhere.example/"), 404)
    refused(post(url, "bag", url="http://nowhere.example/"), 404)


def test_a_raw_line_of_rubbish_does_not_stop_the_server(web: Web) -> None:
    place = web.urls["root"].removeprefix("http://").rstrip("/")
    host, _colon, port = place.rpartition(":")
    for rubbish in (
        b"\x00\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /search HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"\x16\x03\x01",
    ):
        with socket.create_connection((host, int(port)), timeout=10) as raw:
            raw.sendall(rubbish)
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(4096):
                pass
    assert get(web.urls["root"], "health").json["ready"]


# -- labels ---------------------------------------------------------------------------------------------------------------


def test_a_label_is_sent_again_only_if_it_changed(url: str) -> None:
    for part in ("", *ABSTRACTION_FUNCTIONS):
        for form in ("json", "sexpr", "wire"):
            asked = {"form": form} | ({"part": part} if part else {})
            first = get(url, "label", **asked)
            assert first.status == 200
            tag = first.headers["etag"]
            again = get(url, "label", {"If-None-Match": tag}, **asked)
            assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
            assert get(url, "label", {"If-None-Match": f'"other", {tag}'}, **asked).status == 304
            assert get(url, "label", {"If-None-Match": '"other"'}, **asked).status == 200
    tags = get(url, "health").json["etags"]
    assert {part: get(url, "label", part=part).headers["etag"] for part in ABSTRACTION_FUNCTIONS} == {
        part: f'"{tag}"' for part, tag in tags.items()
    }


def test_all_forms_of_a_label_are_the_same_label(url: str) -> None:
    label = label_from_json(get(url, "label").body)
    assert label_from_wire(get(url, "label", form="wire").body) == label
    assert label_from_sexpr(get(url, "label", form="sexpr").body.decode()) == label
    parts = {part: label_from_wire(get(url, "label", part=part, form="wire").body) for part in ABSTRACTION_FUNCTIONS}
    assert join_parts(parts) == label
    assert label_etag(label) == get(url, "label").headers["etag"].strip('"')
    packed = get(url, "label", {"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert label_from_json(gzip.decompress(packed.body)) == label


# -- metrics --------------------------------------------------------------------------------------------------------------


def metrics_of(url: str) -> dict[str, float]:
    lines = get(url, "metrics").body.decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


def test_requests_are_counted_with_their_times(web: Web) -> None:
    url = web.urls["culture"]
    router = 'router="culture",operation="refine"'
    before = metrics_of(url)
    ask(url, "refine", query="violin")
    post(url, "refine", query="(")
    post(url, "refine", query="(")
    after = metrics_of(url)
    for status, count in ((200, 1), (400, 2)):
        name = f'pagekin_requests_total{{{router},status="{status}"}}'
        assert after[name] - before.get(name, 0) == count
    buckets = [value for name, value in after.items() if name.startswith(f"pagekin_request_seconds_bucket{{{router}")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == after[f"pagekin_request_seconds_count{{{router}}}"]
    assert after['pagekin_child_up{router="culture",child="birds"}'] == 1
    assert after['pagekin_ready{router="culture"}'] == 1
    assert get(url, "metrics").headers["content-type"].startswith("text/plain; version=0.0.4")


def test_names_in_metrics_cannot_break_out_of_their_quotes(web: Web) -> None:
    from pagekin.collection import Health

    health = Health(
        name='a"b\\c\nd', leaf=True, level=0, ready=True, version="", documents=1, label_bytes=0, label_age=None, etags={},
        uptime=0.0, requests=0,
    )  # fmt: skip
    metrics = Metrics()
    metrics.note("search", 200, 0.003)
    for line in metrics.text(health).splitlines():
        assert line.startswith(("# TYPE ", "pagekin_")), line
    assert 'router="a\\"b\\\\c\\nd"' in metrics.text(health)


# -- listening ------------------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_told() -> None:
    with listening_socket(Place("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        with pytest.raises(ServiceError, match=f"127.0.0.1:{port}: .*already"):
            listening_socket(Place("127.0.0.1", port))
        with pytest.raises(ServiceError, match="already"):
            Running([(Router("x", {}), Place("127.0.0.1", port))])


def test_a_router_at_all_addresses_of_the_machine_answers_at_each(web: Web, collections: dict[str, Any]) -> None:
    (port,) = free_ports(1, "0.0.0.0")
    with Running([(ReloadingCollection("birds", collections["birds"]), Place("0.0.0.0", port))]):
        for host in ("127.0.0.1", "127.0.0.7", "localhost"):
            assert get(f"http://{host}:{port}/", "health").json["name"] == "birds"


def test_a_router_without_labels_says_for_whom_it_waits() -> None:
    port, dead = free_ports(2)
    router = Router("alone", {"ghost": f"http://127.0.0.1:{dead}/"})
    with Running([(router, Place("127.0.0.1", port))]):
        url = f"http://127.0.0.1:{port}/"
        wait_for(lambda: router.children["ghost"].error)
        for operation in ("search", "select", "expand", "refine"):
            assert "ghost" in refused(post(url, operation, query="x"), 503)
        assert "ghost" in refused(get(url, "label"), 503)
        refused(get(url, "summary"), 503)
        health = get(url, "health").json
        assert not health["ready"] and health["children"][0]["error"]
        assert 'pagekin_ready{router="alone"} 0' in get(url, "metrics").body.decode()


def test_the_servers_of_the_tests_hold_what_they_say(web: Web) -> None:
    assert len({value.rpartition(":")[0] for value in web.urls.values()}) == 4, "the network spans several hosts"
    assert urls_of(web.search("elements", "oxygen"))
