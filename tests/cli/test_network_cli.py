"""A small network as a user meets it: made, run as real processes, asked, looked at, and stopped."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, USAGE, app, load_verbs
from pagekin.cli.questions import print_answer
from pagekin.collection import Answer, AskedNode
from tests.bags.webs import record
from tests.demo_web import demo_pages

load_verbs()
HOSTS = ("rivers", "mountains", "elements", "birds", "composers", "trees")


def run(*arguments: str | Path, stdin: str | None = None) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)], input=stdin)
    return result.exit_code, result.output


def asked(*arguments: str | Path, stdin: str | None = None) -> Any:
    code, said = run(*arguments, "--json", stdin=stdin)
    assert code == 0, said
    return json.loads(said)


def free_ports(count: int) -> int:
    """The first of so many ports in a row that nobody listens at."""
    for first in range(20_000 + os.getpid() % 20_000, 60_000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.3", port))
        except OSError:
            continue
        return first
    raise AssertionError("no ports are free")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six sites of the demo web, twelve pages each."""
    made = tmp_path_factory.mktemp("net")
    pages: dict[str, list[Any]] = {}
    for page in demo_pages():
        host = page.url.split("/")[2].partition(".")[0]
        if host in HOSTS and len(pages.setdefault(host, [])) < 12:
            pages[host].append(record(page.url, page.html))
    assert len(pages) >= 4, "the demo web has other hosts now"
    (made / "web.warc").write_bytes(b"".join(one for some in pages.values() for one in some))
    code, said = run(
        "network", "init", "--from-archive", made / "web.warc", "--out", made / "net", "--processes", "1",
        "--host", "127.0.0.3", "--port", free_ports(16), "--port-each", "--quiet",
    )  # fmt: skip
    assert code == 0, said
    return made / "net"


@pytest.fixture(scope="module")
def root(folder: Path) -> Iterator[str]:
    """The address of the root of the network, which runs in two processes."""
    command = [
        sys.executable, "-m", "pagekin", "network", "up", str(folder), "--processes", "2", "--refresh", "1",
        "--replay", "https://archive.example/{timestamp}/{url}",
    ]  # fmt: skip
    with (folder / "up.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    nodes = asked("network", "show", folder)["nodes"]
    address: str = next(node["url"] for node in nodes if not node["parents"])
    pages = sum(node["pages"] for node in nodes if node["kind"] == "site")
    try:
        wait_for(folder, lambda rows: all(row["up"] for row in rows) and rows[0]["documents"] == pages)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def wait_for(folder: Path, condition: Any, seconds: float = 60) -> list[dict[str, Any]]:
    end = time.monotonic() + seconds
    while True:
        _code, said = run("network", "status", folder, "--json")
        rows: list[dict[str, Any]] = json.loads(said)["routers"]
        if condition(rows):
            return rows
        assert time.monotonic() < end, (rows, (folder / "up.log").read_text())
        time.sleep(0.2)


def test_a_search_of_the_network_tells_all_that_was_promised(root: str, folder: Path) -> None:
    answer = asked("search", root, "river OR mountain", "-k", "50")
    assert {"query", "results", "asked", "skipped", "partial"} <= answer.keys()
    assert answer["query"] == "river OR mountain"
    assert answer["partial"] == []
    assert all({"kind", "url", "title", "snippet", "cluster", "score"} <= result.keys() for result in answer["results"])
    assert all(one["reason"] for one in answer["skipped"])
    found = {result["url"] for result in answer["results"]} | {u for r in answer["results"] for u in r["copies"]}
    each: set[str] = set()
    for site in (folder / "leaves").glob("*.kin"):
        alone = asked("search", site, "river OR mountain", "-k", "50")
        each |= {result["url"] for result in alone["results"]} | {u for r in alone["results"] for u in r["copies"]}
    assert found == each
    assert len(found) > 10


def test_results_of_a_network_lead_to_the_captures(root: str) -> None:
    with urlopen(f"{root}find?q=mountain", timeout=20) as answer:
        text = answer.read().decode()
    assert 'href="https://archive.example/*/http://' in text or 'href="https://archive.example/2' in text


def test_people_read_the_same(root: str) -> None:
    code, said = run("search", root, "mountain")
    assert code == 0
    assert "sites asked through" in said
    assert "http://" in said
    assert "[" in said, "matches are marked"


def test_one_walks_down_step_by_step(root: str, tmp_path: Path) -> None:
    first = asked("select", root, "mountain")
    assert {result["kind"] for result in first["results"]} == {"cluster"}
    (tmp_path / "first.json").write_text(json.dumps(first))
    below = asked("expand", root, "mountain", "--from", tmp_path / "first.json")
    assert below["results"]
    for _step in range(4):
        if any(result["kind"] == "document" for result in below["results"]):
            break
        below = asked("expand", root, "mountain", "--from", "-", stdin=json.dumps(below))
    assert any(result["kind"] == "document" for result in below["results"])


def test_terms_documents_and_summaries(root: str) -> None:
    terms = asked("refine", root, "mountain")
    assert terms["collocated"] or terms["broader"] or terms["narrower"]
    given = {result["url"] for result in asked("search", root, "mountain")["results"]}
    suggested = asked("suggest", root, "mountain")["results"]
    assert suggested
    assert not given & {result["url"] for result in suggested}
    summary = asked("summary", root)
    assert summary["clusters"]
    assert summary["children"]
    code, said = run("summary", root)
    assert code == 0
    assert "leads to" in said
    code, label = run("label", root, "--format", "json", "--part", "routing")
    assert code == 0
    assert json.loads(label)["filters"]


def test_pages_like_a_page_come_from_the_whole_network(root: str) -> None:
    page = asked("search", root, "mountain")["results"][0]["url"]
    answer = asked("related", root, page, "-k", "20")
    found = [result["url"] for result in answer["results"]]
    assert page not in found
    assert len(found) >= 5
    assert [result["similarity"] for result in answer["results"]] == sorted(
        (result["similarity"] for result in answer["results"]), reverse=True
    )
    assert answer["partial"] == []
    explained = asked("related", root, page, "--explain", "--other-sites")["results"]
    assert explained and all(result["terms"] for result in explained)
    assert {result["url"].split("/")[2] for result in explained}.isdisjoint({page.split("/")[2]})
    code, said = run("related", root, "--html", "-", stdin="<p>mountain")
    assert (code, "is a router" in said) == (BAD_INPUT, True)
    assert run("related", root, "http://nowhere.example/")[0] == BAD_INPUT


def test_status_is_for_programs_and_for_people(root: str, folder: Path) -> None:
    rows = asked("network", "status", folder)["routers"]
    assert all({"name", "level", "leaf", "up", "label_bytes", "label_age"} <= row.keys() for row in rows)
    assert {row["leaf"] for row in rows} == {True, False}
    assert all(row["label_bytes"] > 1000 for row in rows)
    code, said = run("network", "status", folder)
    assert code == 0
    assert f"{len(rows)} of {len(rows)} are up, {len(rows)} are ready" in said
    assert said.split("\n")[0].split() == "name level up ready label, kB age, s pages known error".split()


def test_a_network_and_an_address_without_http_are_asked_like_its_root(root: str, folder: Path) -> None:
    answer = asked("search", root, "mountain")
    bare = root.removeprefix("http://").rstrip("/")
    for target in (folder, folder / "network.toml", bare, root.replace("http", "HTTP")):
        assert asked("search", target, "mountain")["results"] == answer["results"]
    assert (
        asked("summary", bare)["children"] == asked("summary", folder)["children"] == asked("summary", root)["children"]
    )
    assert asked("refine", folder, "mountain") == asked("refine", root, "mountain")


def test_of_many_reasons_why_something_is_missing_three_are_shown_the_kinds_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    late = tuple(f"root/s{n}: no answer within 3 s" for n in range(99))
    whole = Answer(total=0, partial=(*late, "root/odd: its answer cannot be understood"))
    print_answer(whole, as_json=False)
    said = capsys.readouterr().out
    assert "may be incomplete for 100 reasons, such as:" in said
    assert "root/odd" in said and said.count("root/") == 3
    print_answer(whole, as_json=True)
    assert len(json.loads(capsys.readouterr().out)["partial"]) == 100
    print_answer(Answer(total=0, partial=late[:2]), as_json=False)
    said = capsys.readouterr().out
    assert "may be incomplete:" in said and said.count("root/") == 2


def test_those_who_gave_no_answer_are_not_called_routers(capsys: pytest.CaptureFixture[str]) -> None:
    leaves = [AskedNode(path=("root", "mid", name), leaf=True, mark=name) for name in "ab"]
    again = AskedNode(path=("root", "other", "a"), leaf=True, mark="a")
    routers = [AskedNode(path=("root", name)) for name in ("mid", "other")]
    failed = [AskedNode(path=("root", "mid", name), failed=True) for name in "xyz"]
    print_answer(Answer(asked=(*leaves, again, *routers, *failed)), as_json=False)
    assert "2 sites asked through 2 routers, 0 skipped, 3 gave no answer" in capsys.readouterr().out


def test_a_network_that_does_not_run_says_so(folder: Path, tmp_path: Path) -> None:
    port = free_ports(16)
    text = (folder / "network.toml").read_text()
    first = min(int(line.rpartition(":")[2].strip('/"')) for line in text.splitlines() if line.startswith("url"))
    for place in range(16):
        text = text.replace(f":{first + place}/", f":{port + place}/")
    (tmp_path / "network.toml").write_text(text)
    code, said = run("network", "status", tmp_path, "--seconds", "1", "--json")
    assert code == BAD_INPUT
    assert not any(row["up"] for row in json.loads(said)["routers"])
    assert all("cannot be reached" in row["error"] for row in json.loads(said)["routers"])


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["search", "ROOT", "colour:red"], "colour", BAD_INPUT),
        (["search", "SITE", "colour:red"], "no attribute 'colour:'", USAGE),
        (["search", "SITE", "NOT river"], "NOT only takes pages away", USAGE),
        (["search", "SITE", "river", "--since", "yesterday"], "is not a day", USAGE),
        (["search", "SITE", "river", "--routing", "magic"], "--routing is one of", USAGE),
        (["search", "no.kin", "river"], "does not exist", BAD_INPUT),
        (["search", "http://127.0.0.1:9/", "river"], "cannot be reached", BAD_INPUT),
        (["suggest", "SITE"], "name a query", USAGE),
        (["suggest", "SITE", "zzzzzz"], "nothing to suggest by", BAD_INPUT),
        (["select", "SITE", "river", "--from", "no.json"], "cannot be read", BAD_INPUT),
        (["network", "up", "NET", "--only", "birds.exampel"], "did you mean 'birds.example'", BAD_INPUT),
        (["network", "up", "NET", "--replay", "nowhere"], "is not a pattern", USAGE),
        (["serve", "no.kin"], "does not exist", BAD_INPUT),
    ],
)
def test_mistakes_are_told(root: str, folder: Path, arguments: list[str], said: str, code: int) -> None:
    site = next((folder / "leaves").glob("*.kin"))
    places = {"ROOT": root, "SITE": str(site), "NET": str(folder)}
    found, output = run(*(places.get(one, one) for one in arguments))
    assert (found, said in output) == (code, True), output


def test_a_collection_is_served_until_it_is_told_to_stop(folder: Path) -> None:
    site = next((folder / "leaves").glob("*.kin"))
    port = free_ports(1)
    command = [sys.executable, "-m", "pagekin", "serve", str(site), "--host", "127.0.0.3", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert f"http://127.0.0.3:{port}/" in process.stdout.readline()
        answer = asked("search", f"http://127.0.0.3:{port}/", "the")
        assert answer["total"] > 0
        assert answer["leaf"]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
