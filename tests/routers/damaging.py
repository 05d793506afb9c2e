"""Collections that are damaged on purpose, and what they answer then: run in a process of its own, which may die or hang."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pagekin.collection import ReloadingCollection
from pagekin.hypertext import Corpus
from pagekin.routers import Place
from pagekin.store import KinError, open_kin
from pagekin.store.arrays import HEADER_BYTES
from pagekin.web import web_app

from .webs import Running, free_ports, get, post, wait_for


def files_of(path: Path) -> dict[str, Path]:
    """Return the files of a collection by the names of their arrays."""
    return {name: path / entry["file"] for name, entry in open_kin(path).manifest["files"].items()}


def garbage(file: Path, way: str) -> bytes:
    """What a file holds when all of it but its header and its length is lost."""
    raw = file.read_bytes()
    head, body = raw[:HEADER_BYTES], raw[HEADER_BYTES:]
    chance = random.Random(len(raw))
    ways = {"noise": chance.randbytes(len(body)), "ones": b"\xff" * len(body), "backwards": body[::-1]}
    return head + ways[way]


def questions(urls: list[str]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """(what is asked, as JSON by POST, or None by GET) of every service, and of pages for people."""
    items = [{"kind": "document", "url": url} for url in urls[:6]]
    filters = {"site": urls[0].split("/")[2], "language": "en", "since": 1}
    yield "search", {"query": "the OR a"}
    yield "search", {"query": '"of the" NOT xyzzy', "filters": filters}
    yield "select", {"query": "the OR a", "items": items}
    yield "expand", {"query": "the OR a"}
    yield "show", {"query": "the", "items": items}
    yield "refine", {"query": "bird OR gas"}
    yield "refine", {"query": "bird", "preset": "hypursuit1996"}
    yield "suggest", {"items": items}
    yield "bag", {"url": urls[0]}
    for url in urls[:4]:
        yield "related", {"url": url}
    yield "tree", {}
    for path in (
        "health",
        "summary",
        "label",
        "label?form=sexpr",
        "metrics",
        "",
        "about",
        "tree/clusters",
        "cluster/1",
    ):
        yield path, None
    for url in urls[:3]:
        yield f"page?url={url}", None
    yield "find?q=the", None


def asked_all(path: Path, name: str) -> dict[str, Any]:
    """What becomes of questions to a damaged collection: {"refused": reason}, or what failed, was strange, and is told of it."""
    urls = json.loads(path.with_suffix(".json").read_text())
    try:
        leaf = ReloadingCollection(name, path)
    except KinError as error:
        return {"refused": str(error)}
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}/"
    failed, strange = [], []
    with Running([(leaf, Place("127.0.0.1", port))], web_app):
        for operation, body in questions(urls):
            html = {"Accept": "text/html"} if body is None else {}
            reply = get(url, operation, html) if body is None else post(url, operation, **body)
            said = reply.body.decode("utf-8", "replace")
            if reply.status >= 500:
                failed.append(operation)
            clear = any(
                words in said
                for words in (f"{name} is damaged", f"{name} seems to be damaged", f"pagekin check {name}")
            )
            if "Traceback" in said or str(path) in said or (reply.status >= 500 and not clear):
                strange.append((operation, reply.status, said[:300]))
        health = {}
        if failed:
            health = wait_for(lambda: (told := get(url, "health").json)["error"] and told)
        counted = [line for line in get(url, "metrics").body.decode().splitlines() if 'status="500"' in line]
    return {"failed": failed, "strange": strange, "health": health, "counted": counted}


def trial(whole: Path, folder: Path, name: str, way: str) -> dict[str, Any]:
    """What becomes of questions to a collection of which one file holds garbage."""
    path = folder / "broken.kin"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(whole, path)
    corpus = Corpus.open(whole)
    path.with_suffix(".json").write_text(json.dumps([corpus.page_url(page) for page in range(0, len(corpus), 2)]))
    file = files_of(path)[name]
    file.write_bytes(garbage(file, way))
    return asked_all(path, "broken")
