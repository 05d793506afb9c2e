"""Search on a static site beside Pagefind: bytes for the first question, and whether the page that was meant is among ten.

    npm install --prefix FOLDER pagefind
    python -m benchmarks.site_search SITE --pagefind FOLDER/node_modules/.bin/pagefind

SITE is a folder of HTML, which is copied. Both index the same pages, those that `pagekin site` reads. Questions are two telling
words of titles of pages, and the same with two letters of the longer one exchanged. Each is asked in a fresh browser, of a
server that packs text as hosts do; counted is all that is fetched until ten results are shown.
"""

import argparse
import functools
import gzip
import http.server
import json
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from scripts.chromium import find_chromium

from pagekin.hypertext import Corpus, keep_content
from pagekin.site import SitePlan, publish_site
from pagekin.text import TextIndex, form_of, tokens

TEXT = (".js", ".json", ".css", ".html")
OURS = "async ([q]) => (await pagekin.search(q, 10)).map((one) => new URL(one.url).pathname)"
PAGEFIND = """async ([q]) => {
  const pagefind = await import("/pagefind/pagefind.js");
  const found = await pagefind.search(q);
  const ten = await Promise.all(found.results.slice(0, 10).map((one) => one.data()));
  return ten.map((one) => new URL(one.url, location).pathname);
}"""


class _Packing(http.server.SimpleHTTPRequestHandler):
    """A web server that packs text, and counts what it sends."""

    sent: list[int]

    def do_GET(self) -> None:
        """Send a file."""
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        if path.suffix in TEXT:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.sent.append(len(body))

    def log_message(self, *_said: Any) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Yield (the address of a folder, the sizes of what is sent)."""
    sent: list[int] = []
    handler = functools.partial(type("Files", (_Packing,), {"sent": sent}), directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", sent
    finally:
        server.shutdown()
        server.server_close()


def questions(corpus: Corpus, paths: dict[int, str], count: int) -> list[tuple[str, str, str]]:
    """Return (path, two telling words of its title, the same misspelt)."""
    index = TextIndex.open(corpus)
    found = []
    pages = sorted(paths)
    for page in pages[:: max(1, len(pages) // (4 * count))]:
        words = {
            word for word in tokens(corpus.titles.text(page)) if len(word) >= 5 and word.isascii() and word.isalpha()
        }
        known = sorted(words, key=lambda word: (index.look_up(form_of(word)).pages, word))
        known = [word for word in known if 2 <= index.look_up(form_of(word)).pages <= len(pages) // 10][:2]
        if len(known) == 2:
            longer, other = sorted(known, key=len, reverse=True)
            at = len(longer) // 2
            wrong = longer[:at] + longer[at + 1] + longer[at] + longer[at + 2 :]
            if wrong != longer and index.look_up(form_of(wrong)).number < 0:
                found.append((paths[page], f"{longer} {other}", f"{wrong} {other}"))
    return found[:count]


def main() -> None:
    """Publish a copy of a site, index it by Pagefind, and ask both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=Path)
    parser.add_argument("--pagefind", type=Path, required=True)
    parser.add_argument(
        "--most", type=int, default=10_000, help="pages that are copied, the first in the order of their paths"
    )
    parser.add_argument("--questions", type=int, default=25)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, theirs = Path(scratch) / "site", Path(scratch) / "theirs"
        for file in sorted(options.site.rglob("*.html"))[: options.most]:
            if not file.is_symlink():
                (folder / file.relative_to(options.site)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, folder / file.relative_to(options.site))
        plan = SitePlan(folder, collection=Path(scratch) / "site.kin")
        report = publish_site(plan)
        told: dict[str, Any] = {}
        for part in json.loads((folder / "pagekin/site.json").read_text())["related"]:
            told |= json.loads((folder / part).read_text())["pages"]
        for path in told:  # the same words for both
            html = keep_content((folder / path).read_bytes(), report.survey.content)
            (theirs / path).parent.mkdir(parents=True, exist_ok=True)
            (theirs / path).write_bytes(html if b"<html" in html[:2000] else b"<html>" + html)
        done = subprocess.run(
            [str(options.pagefind), "--site", str(theirs), "--force-language", "en"],
            check=True,
            capture_output=True,
            text=True,
        )
        indexed = re.search(r"Indexed (\d+) pages", done.stdout)
        shutil.copytree(theirs / "pagefind", folder / "pagefind")
        corpus = Corpus.open(plan.kin)
        base = report.survey.base_url
        paths = {pages[0]: path for path in told if (pages := corpus.pages_of(corpus.url_number(base + path)))}
        asked = questions(corpus, paths, options.questions)
        print(f"{report.pages:,} pages here, {indexed[1] if indexed else '?'} by Pagefind; {len(asked)} questions")
        print(
            "| search | files | MB | kB for the first question: median | most | found | misspelt: median | most | found |"
        )
        print("|---|---|---|---|---|---|---|---|---|")
        for name, program, ours in (("pagekin", OURS, "pagekin"), ("Pagefind", PAGEFIND, "pagefind")):
            files = [path for path in (folder / ours).rglob("*") if path.is_file() and "related-" not in path.name]
            size = sum(path.stat().st_size for path in files) / 1e6
            cells = []
            for place in (1, 2):
                sizes, hits = _ask(folder, program, name == "pagekin", [(one[0], one[place]) for one in asked])
                cells.append(f"{statistics.median(sizes) / 1e3:.0f} | {max(sizes) / 1e3:.0f} | {hits} of {len(asked)}")
            print(f"| {name} | {len(files):,} | {size:.1f} | {' | '.join(cells)} |", flush=True)


def _ask(folder: Path, program: str, ours: bool, asked: list[tuple[str, str]]) -> tuple[list[int], int]:
    """Return (bytes that each question took, how many found their page)."""
    sizes, hits = [], 0
    with served(folder) as (site, sent), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])
        (folder / "ask.html").write_text('<!doctype html><link rel="icon" href="data:,">')
        for path, query in asked:
            context = browser.new_context()
            page = context.new_page()
            page.goto(f"{site}ask.html")
            sent.clear()
            if ours:
                page.add_script_tag(url="/pagekin/search.js")
                page.add_style_tag(url="/pagekin/site.css")
            found = page.evaluate(program, [f"{query} "])
            hits += any(one.lstrip("/") in (path, path.removesuffix("index.html")) for one in found)
            sizes.append(sum(sent))
            context.close()
        browser.close()
    return sizes, hits


if __name__ == "__main__":
    main()
