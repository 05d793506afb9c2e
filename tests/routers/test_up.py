"""Networks as real processes: whole when they say so, side by side, in parts, and again when one of their processes dies."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pagekin.cli.app import BAD_INPUT, app, load_verbs
from pagekin.collection import ServiceError
from pagekin.routers import Network, choose_nodes
from pagekin.routers.network import Node, Settings
from pagekin.routers.process_group import ProcessGroup, Tell
from pagekin.routers.up import share

from .webs import ask, free_ports, get, urls_of, wait_for

load_verbs()
QUERY = "oxygen OR feathers OR bird OR planet"
LOOPBACK = Settings(allow=("loopback",))


def network(folder: Path, collections: dict[str, Path], places: dict[str, str], root: str = "example") -> Path:
    """A network of a root and the leaves that have an address, in a folder of its own."""
    nodes = [Node(root, places["root"], False)]
    for name, url in places.items():
        if name != "root":
            nodes.append(Node(name, url, True, Path("leaves") / f"{name}.kin", (root,)))
            shutil.copytree(collections[name], folder / "leaves" / f"{name}.kin")
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "network.toml").write_text(Network.of("net", nodes, LOOPBACK).to_toml())
    return folder


@dataclass
class Up:
    """`pagekin network up` as a process."""

    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text()

    def until(self, words: str, count: int = 1) -> None:
        def there() -> bool:
            assert self.process.poll() is None or words in self.said, self.said
            return self.said.count(words) >= count

        wait_for(there, 120)

    def children(self) -> list[int]:
        """The processes that it started and that serve nodes."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if parent == self.process.pid and b"spawn_main" in command:
                found.append(int(entry.name))
        return found


def started(folder: Path, *options: str) -> Up:
    log = folder / f"up{'-'.join(options)}.log"
    command = [sys.executable, "-m", "pagekin", "network", "up", str(folder), "--refresh", "1", *options]
    with log.open("w") as out:
        return Up(subprocess.Popen(command, stdout=out, stderr=out), log)


def status(folder: Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["network", "status", str(folder)])
    return result.exit_code, result.output


@dataclass
class Nets:
    """Two networks that run at once, on two addresses of one machine, with the same ports and names."""

    one: Up
    other: Up
    far: Up
    urls: dict[str, str]
    folders: dict[str, Path]


@pytest.fixture(scope="module")
def nets(collections: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nets]:
    ports = free_ports(4)
    at = [f"http://127.0.0.{{}}:{port}/" for port in ports]
    made = tmp_path_factory.mktemp("nets")
    one = network(
        made / "one", collections,
        {"root": at[0].format(2), "birds": at[1].format(2), "elements": at[2].format(2)},
    )  # fmt: skip
    other = network(
        made / "other", collections,
        {"root": at[0].format(3), "planets": at[1].format(3), "trees": at[2].format(3), "birds": at[3].format(4)},
    )  # fmt: skip
    shutil.rmtree(other / "leaves" / "trees.kin")
    running = [started(one, "--processes", "2"), started(other, "--on", "127.0.0.3"), started(other, "--only", "birds")]
    urls = {"one": at[0].format(2), "other": at[0].format(3), "far": at[3].format(4)}
    try:
        yield Nets(*running, urls, {"one": one, "other": other})
    finally:
        for up in running:
            up.process.send_signal(signal.SIGTERM)
        for up in running:
            assert up.process.wait(30) == 0, up.said


def test_a_network_that_says_ready_is_whole_at_once(nets: Nets) -> None:
    nets.one.until("nodes listen")
    for child in ("birds", "elements"):
        node = Network.load(nets.folders["one"]).by_name[child]
        assert get(node.url, "health").status == 200, "all of them listen when it says so"
    nets.one.until("ready after")
    answer = ask(nets.urls["one"], "search", query=QUERY, limit=1000, deadline=10.0)
    assert answer["partial"] == []
    assert {one["path"][-1] for one in answer["asked"]} == {"birds", "elements"}
    assert answer["results"]
    assert "3 nodes listen; example at" in nets.one.said
    assert nets.one.said.index("opening 3 nodes in 2 processes") < nets.one.said.index("nodes listen")
    code, said = status(nets.folders["one"])
    assert code == 0, said
    assert "3 of 3 are up, 3 are ready" in said


def test_two_networks_of_the_same_ports_and_names_run_side_by_side_and_parts_of_one_apart(nets: Nets) -> None:
    nets.far.until("1 nodes listen")
    nets.other.until("3 nodes listen, 1 of which cannot answer yet")
    wait_for(lambda: get(nets.urls["other"], "health").json["ready"], 60)
    one = ask(nets.urls["one"], "search", query=QUERY, limit=1000, raw=True, deadline=20.0)
    other = wait_for(
        lambda: (
            (found := ask(nets.urls["other"], "search", query=QUERY, limit=1000, raw=True, deadline=20.0))
            and {"birds", "planets"} <= {each["path"][-1] for each in found["asked"] if each["leaf"]}
            and found
        )
    )
    assert {each["path"][-1] for each in one["results"]} == {"birds", "elements"}
    assert {each["path"][-1] for each in other["results"]} == {"birds", "planets"}
    birds = urls_of(ask(nets.urls["far"], "search", query=QUERY, limit=1000, raw=True, deadline=20.0))
    assert birds and birds <= urls_of(one) & urls_of(other)
    assert [reason for reason in other["partial"] if reason.startswith("example/trees: ")]


def test_status_tells_who_is_not_ready_and_is_no_success(nets: Nets) -> None:
    nets.other.until("nodes listen")
    nets.far.until("nodes listen")
    wait_for(lambda: get(nets.urls["other"], "health").json["ready"], 60)
    code, said = status(nets.folders["other"])
    assert code == BAD_INPUT
    lines = {line.split()[0]: line for line in said.splitlines()[1:] if line}
    assert "does not exist" in lines["trees"] and " no " in lines["trees"]
    assert "trees" in lines["example"], "its parent tells of it"
    assert lines["planets"].split()[2:4] == ["yes", "yes"]
    assert "3 of 4 are up, 2 are ready" in said


def test_a_process_that_dies_is_replaced(nets: Nets) -> None:
    nets.one.until("ready after")
    (child,) = nets.one.children()
    os.kill(child, signal.SIGKILL)
    nets.one.until("a process has died (exit code -9); starting another")
    nets.one.until("nodes listen again")
    assert nets.one.children() != [child]

    def whole() -> Any:
        answer = ask(nets.urls["one"], "search", query=QUERY, limit=1000, raw=True, deadline=10.0)
        return answer["partial"] == [] and answer["results"]

    wait_for(whole, 90)


def test_a_port_that_is_taken_is_one_clear_error_and_nothing_runs(collections: dict[str, Path], tmp_path: Path) -> None:
    ports = free_ports(3)
    urls = {name: f"http://127.0.0.1:{port}/" for name, port in zip(("root", "birds", "trees"), ports, strict=True)}
    folder = network(tmp_path / "net", collections, urls)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", ports[1]))
        taken.listen()
        up = started(folder, "--processes", "2")
        assert up.process.wait(60) == BAD_INPUT
    assert f"cannot listen at 127.0.0.1:{ports[1]}: Address already in use" in up.said
    assert "Traceback" not in up.said and "died" not in up.said
    assert len(up.said.strip().splitlines()) == 2, up.said


def test_nodes_that_share_a_port_run_in_one_process_at_any_port(collections: dict[str, Path], tmp_path: Path) -> None:
    named, other = free_ports(2)
    at = f"http://127.0.0.1:{named}/"
    folder = network(tmp_path / "net", collections, {"root": at, "birds": f"{at}nodes/birds/"})
    refused = CliRunner().invoke(app, ["network", "up", str(folder), "--workers", "2"])
    assert refused.exit_code == BAD_INPUT
    assert "2 processes cannot share the one port" in refused.output and "--port-each" in refused.output
    up = started(folder, "--workers", "0", "--port", str(other))
    try:
        up.until("ready after")
        for path, name in (("", "example"), ("nodes/birds/", "birds")):
            assert get(f"http://127.0.0.1:{other}/{path}", "health").json["name"] == name
        asked = CliRunner().invoke(app, ["network", "status", str(folder), "--port", str(other)])
        assert asked.exit_code == 0, asked.output
        assert status(folder)[0] == BAD_INPUT, "nobody is at the port of the file"
    finally:
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait(30) == 0, up.said


def test_an_address_of_another_machine_is_told_as_such(collections: dict[str, Path], tmp_path: Path) -> None:
    urls = {"root": "http://192.0.2.7:8700/", "birds": "http://192.0.2.7:8701/"}
    result = CliRunner().invoke(app, ["network", "up", str(network(tmp_path / "net", collections, urls))])
    assert result.exit_code == BAD_INPUT
    assert "192.0.2.7:8700" in result.output and "192.0.2.7:8701" in result.output
    assert "left to that one by --on HOST" in result.output


def test_processes_have_whole_subtrees_and_the_first_one_the_root() -> None:
    routers = [Node(f"r{number}", f"http://127.0.0.1:{10 + number}/", False, parents=("top",)) for number in range(4)]
    sites = [
        Node(f"s{number}", f"http://127.0.0.1:{20 + number}/", True, Path(f"s{number}.kin"), (f"r{number % 4}",))
        for number in range(40)
    ]
    network = Network.of("net", [Node("top", "http://127.0.0.1:1/", False), *routers, *sites])
    for processes in (1, 2, 3, 4):
        parts = share(network, processes)
        assert sorted(name for part in parts for name in part) == sorted(network.by_name)
        assert "top" in parts[0] and len(parts) == processes
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
        process = {name: number for number, part in enumerate(parts) for name in part}
        apart = [site.name for site in sites if process[site.name] != process[site.parents[0]]]
        assert len(apart) <= 10 * (processes - 1)  # of one router's sites for each cut
    assert share(network, 9, ["s1", "s2"]) == [["s2"], ["s1"]]


def test_which_nodes_run_in_a_place() -> None:
    nodes = [
        Node("root", "http://127.0.0.2:8700/", False),
        Node("a", "https://find.example/a/", True, Path("a.kin"), ("root",), listen="http://127.0.0.3:8701/"),
        Node("b", "http://127.0.0.3:8702/", True, Path("b.kin"), ("root",)),
        Node("c", "http://127.0.0.3:8703/", True, None, ("root",), here=False),
    ]
    made = Network.of("net", nodes)
    assert choose_nodes(made, [], "") == ["root", "a", "b"]
    assert choose_nodes(made, [], "127.0.0.3") == ["a", "b"]
    assert choose_nodes(made, [], "find.example") == ["a"]
    assert choose_nodes(made, ["b"], "") == ["b"]
    for only, host, said in (
        (["x"], "", "no node 'x'"),
        ([], "127.0.0.9", "no node of the network runs at '127.0.0.9'"),
    ):
        with pytest.raises(ServiceError, match=said):
            choose_nodes(made, only, host)


# -- processes beside one --------------------------------------------------------------------------------------------------


def _cannot(tell: Tell, reason: str) -> None:
    tell("line", "it begins")
    raise ServiceError(reason)


def _dies(_tell: Tell) -> None:
    os._exit(7)


def _listens(tell: Tell, nodes: int) -> None:
    tell("ready", nodes, 1)
    time.sleep(600)


def test_one_that_cannot_start_ends_all_with_its_reason() -> None:
    lines: list[str] = []
    with ProcessGroup(_cannot, [("the port is taken",)], lines.append) as others:
        with pytest.raises(ServiceError, match=r"^the port is taken$"):
            others.until_ready()
        assert lines == ["it begins"]
    with (
        ProcessGroup(_dies, [()], lines.append) as others,
        pytest.raises(ServiceError, match=r"before it was ready .*7"),
    ):
        others.until_ready()
    assert lines == ["it begins"]


def test_all_are_waited_for_and_end_with_this_one() -> None:
    with ProcessGroup(_listens, [(2,), (3,)]) as others:
        others.until_ready()
        assert (others.count, others.ill) == (5, 2)
        processes = [one.process for one in others._running]
        assert all(one.is_alive() for one in processes)
    assert not any(one.is_alive() for one in processes)
