"""A browser for the tests, which watches what pages do, and sites for it to visit."""

import asyncio
import functools
import http.server
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from scripts.chromium import HINT, find_chromium

from pagekin.collection import ReloadingCollection, Service
from pagekin.routers import Place, Router
from pagekin.routers.serve import serve
from pagekin.web import web_app
from tests.routers.webs import Running, eager, free_ports, get, wait_for

REQUIRED = os.environ.get("PAGEKIN_DATA_REQUIRED") == "1"
WIDE, NARROW = 1280, 390
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]  # fmt: skip
# Told to the page before its own scripts: what the policy stops, and how far things jump about.
WATCH = """
window.stopped = [];
window.shifted = 0;
addEventListener("securitypolicyviolation", (e) => window.stopped.push(e.violatedDirective + " " + e.blockedURI));
new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) window.shifted += e.value; })
  .observe({type: "layout-shift", buffered: true});
"""


@contextmanager
def chromium() -> Iterator[Any]:
    """A Chromium of playwright's; without one the test is skipped, or fails where it is required."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _without("playwright is not installed: scripts/setup.sh dev does that")
    path = find_chromium()
    if not path:
        _without(HINT)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def _without(reason: str) -> None:
    if REQUIRED:
        pytest.fail(f"{reason} (PAGEKIN_DATA_REQUIRED=1 asks for a browser)")
    pytest.skip(reason)


class Visitor:
    """Makes pages that look at one site, and keeps what they did that no page may do."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []
        self.problems: list[str] = []

    def __call__(
        self, site: str, path: str = "", width: int = WIDE, javascript: bool = True, dark: bool = False, **options: Any
    ) -> Any:
        """A page at an address of a site."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 844 if width < 600 else 900}, java_script_enabled=javascript,
            color_scheme="dark" if dark else "light", has_touch=width < 600, **options,
        )  # fmt: skip
        self._contexts.append(context)
        origin = urlsplit(site)
        context.on("request", lambda asked: self._note_request(asked.url, origin.netloc))
        page = context.new_page()
        if javascript:
            page.add_init_script(WATCH)
        page.on("console", lambda said: said.type == "error" and self.problems.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(site.rstrip("/") + "/" + path.lstrip("/"))
        return page

    def _note_request(self, url: str, host: str) -> None:
        if urlsplit(url).netloc != host and not url.startswith(("data:", "about:")):
            self.problems.append(f"request elsewhere: {url}")

    def close(self) -> None:
        """End all pages; what the policy stopped is a problem, too."""
        for context in self._contexts:
            for page in context.pages:
                self.problems += [f"stopped: {what}" for what in page.evaluate("window.stopped || []")]
            context.close()
        self._contexts.clear()


@functools.cache
def axe_source() -> str:
    """The accessibility checker, as a script."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def barriers(page: Any) -> list[str]:
    """What keeps people from using a page: axe's serious and critical findings. The page must have JavaScript."""
    page.evaluate(axe_source())
    # Without what only its report would need: paths to elements, and stylesheets fetched again.
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], selectors: false, preload: false})")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:200]} {node.get('failureSummary', '')[:200]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def overflow(page: Any) -> list[str]:
    """What makes a page wider than the window."""
    found: list[str] = page.evaluate("""() => {
        const wide = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= wide) return [];
        return [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > wide + 1)
            .slice(0, 5).map((e) => e.outerHTML.slice(0, 150));
    }""")
    return found


# -- sites --------------------------------------------------------------------------------------------------------------


class Pages(Running):
    """Routers with pages for people, served in a thread."""

    def _run(self, services: Sequence[tuple[Service, Place]]) -> None:
        async def whole() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            await serve(services, self._ready.set, self._stop, web_app)

        try:
            asyncio.run(whole())
        except BaseException as error:
            self._error = error
        finally:
            self._ready.set()


@contextmanager
def leaf_site(leaf: ReloadingCollection) -> Iterator[str]:
    """The address at which a collection is served."""
    place = Place("127.0.0.1", free_ports(1)[0])
    with Pages([(leaf, place)]):
        yield f"http://{place.host}:{place.port}/"


@contextmanager
def network_below_paths(collections: Mapping[str, Path], children: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The address of the first router of a network whose nodes share a port, each below a path."""
    port = free_ports(1)[0]
    urls = {name: f"http://127.0.0.1:{port}/{name}/" for name in (*children, *collections)}
    services: list[tuple[Service, Place]] = [
        (Router(name, {child: urls[child] for child in below}, eager()), Place.of(urls[name]))
        for name, below in children.items()
    ]
    services += [(ReloadingCollection(name, path), Place.of(urls[name])) for name, path in collections.items()]
    with Pages(services):
        for name in children:
            await_children(urls[name])
        yield urls[next(iter(children))]


def await_children(url: str) -> None:
    """Wait until a router knows all its children."""

    def known() -> bool:
        health = get(url, "health").json
        return health["ready"] and all(one["up"] and one["label_bytes"] for one in health["children"])

    wait_for(known, 60)


@contextmanager
def command_site(*arguments: str | Path, **options: Any) -> Iterator[str]:
    """The address that a command prints when it listens; it is stopped in the end."""
    command = [sys.executable, "-u", "-c", "from pagekin.cli import main; main()", *map(str, arguments)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
    assert started.stdout is not None
    said = ""
    try:
        for line in started.stdout:
            said += line
            if found := re.search(r"http://[\d.]+:\d+/\S*", line):
                yield found[0]
                break
        else:
            raise AssertionError(f"it listens nowhere: {said}")
    finally:
        started.terminate()
        started.wait(20)
        started.stdout.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """A plain web server of files that says nothing."""

    asked: list[tuple[str, int]]
    headers_sent: Mapping[str, str]

    def end_headers(self) -> None:
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
        super().end_headers()

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        self.asked.append((self.path, int(code)))

    def log_message(self, *_said: Any) -> None:
        pass


@contextmanager
def static_site(folder: Path, **headers: str) -> Iterator[tuple[str, list[tuple[str, int]]]]:
    """(the address of a folder served by a plain web server, what is asked of it with the answers' status)."""
    asked: list[tuple[str, int]] = []
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    kind = type("Files", (_Quiet,), {"asked": asked, "headers_sent": sent})
    handler: Callable[..., Any] = functools.partial(kind, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", asked
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
