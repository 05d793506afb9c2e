"""Makes docs/screenshots: each kind of page of the demo web, wide and narrow, and one in the dark.

`make screenshots`, or `python -m scripts.screenshots` from the project's root.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import sync_playwright
from scripts.chromium import HINT, find_chromium

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "screenshots"
SIZES = {"wide": (1280, 900), "narrow": (390, 844)}
MOST_BYTES = 150_000
CARBON, SILVER = "http://elements.example/carbon.html", "http://elements.example/silver.html"
# What is shown, and what is opened first.
PAGES = {
    "home": ("", ""),
    "results": (f"find?{urlencode({'q': 'volcano'})}", ""),
    "page": (f"page?{urlencode({'url': CARBON})}", ""),
    "why": (f"page?{urlencode({'url': CARBON})}", "#similar ~ * details summary"),
    "compare": (f"compare?{urlencode({'url': [CARBON, SILVER]}, doseq=True)}", ""),
    "clusters": ("tree/clusters", ""),
    "label": ("cluster", ""),
    "evaluation": ("evaluation", ""),
    "about": ("about", ""),
}
NETWORK_PAGES = {"network": (f"network?{urlencode({'q': 'volcano'})}", "")}


def main() -> None:
    """Serve the demo web and look at it."""
    path = find_chromium()
    if not path:
        sys.exit(HINT)
    # What serves sites for the tests does so here.
    from tests.routers.webs import free_ports
    from tests.web.browser import ARGUMENTS, await_children, command_site

    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        _run("demo", "--out", f"{folder}/demo.kin", "--no-serve")
        _run("evaluate", f"{folder}/demo.kin", "--directory", "url-path")
        with command_site("serve", f"{folder}/demo.kin", "--port", "0") as site:
            _take_all(browser, site, PAGES)
            page = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="dark").new_page()
            _take(page, site, PAGES["home"], "home-dark")
        made = ["network", "init", "--from-archive", "demo", "--out", f"{folder}/net", "--one-port", "--quiet"]
        _run(*made, "--port", str(free_ports(1)[0]))
        with command_site("network", "up", f"{folder}/net") as site:
            await_children(site)
            _take_all(browser, site, NETWORK_PAGES)
        browser.close()


def _run(*arguments: str) -> None:
    """Run a command of ours, or end."""
    command = [sys.executable, "-c", "from pagekin.cli import main; main()", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _take_all(browser: Any, site: str, pages: dict[str, tuple[str, str]]) -> None:
    """Take pictures of pages in each size."""
    for shape, (width, height) in SIZES.items():
        page = browser.new_context(viewport={"width": width, "height": height}).new_page()
        for name, shown in pages.items():
            _take(page, site, shown, f"{name}-{shape}")


def _take(page: Any, site: str, shown: tuple[str, str], file: str) -> None:
    """Take one picture of (an address, what is to be opened there)."""
    path, opened = shown
    page.goto(site + path)
    if opened:
        first = page.locator(opened).first
        first.click()
        first.evaluate("e => window.scrollTo(0, e.getBoundingClientRect().top + scrollY - 220)")
    small = _small(page.screenshot())
    (FOLDER / f"{file}.png").write_bytes(small)
    sys.stdout.write(f"{file}.png {len(small):,} bytes\n")
    if len(small) > MOST_BYTES:
        sys.exit(f"{file}.png is larger than {MOST_BYTES:,} bytes")


def _small(picture: bytes) -> bytes:
    """A PNG with a palette, without what says when it was made."""
    made = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(
        made, "PNG", optimize=True
    )
    return made.getvalue()


if __name__ == "__main__":
    main()
