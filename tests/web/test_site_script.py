"""A site that was visited, with what Pagekin wrote for it put on it: a script shows related pages and the search."""

from pathlib import Path

import pytest

from pagekin.site import ArchivePlan, publish_archive
from tests.site.manuals import write_manual
from tests.sources.making import http, members, warc

from .browser import NARROW, Visitor, barriers, overflow, static_site
from .test_site import STRICT, ask

LINES = (
    '<link rel="stylesheet" href="{up}pagekin/site.css"><script src="{up}pagekin/search.js" defer></script>'
    '<script src="{up}pagekin/related.js" defer></script></body>'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a web server that has the manual, what was written for it from an archive, and a line on each page."""
    where = tmp_path_factory.mktemp("visited")
    folder = write_manual(where / "public")
    files = sorted(folder.rglob("*.html"))
    address = "http://docs.example/"
    records = [warc(f"{address}{file.relative_to(folder).as_posix()}", http(file.read_bytes())) for file in files]
    (where / "docs.warc.gz").write_bytes(b"".join(members(records)))
    publish_archive(ArchivePlan(where / "docs.warc.gz", address, folder, collection=where / "docs.kin", workers=1))
    for file in files:
        up = "" if file.parent == folder else "../"
        file.write_text(file.read_text().replace("</body>", LINES.format(up=up)))
    named = folder / "orbit/part2.html"
    named.write_text(named.read_text().replace("<footer>", "<aside data-pagekin-related></aside><footer>"))
    return folder


def test_the_script_shows_related_pages_and_search(visit: Visitor, site: Path) -> None:
    with static_site(site, Content_Security_Policy=STRICT) as (root, asked):
        page = visit(root, "volcano/part1.html?from=mail#there", width=NARROW)
        links = page.locator("[role=main] .pagekin-related a")
        links.first.wait_for()
        assert links.count() >= 2 and links.first.inner_text().startswith("Volcano part")
        assert barriers(page) == [] and overflow(page) == []
        assert "Kitchen part" in ask(page, "sauecpan")[0]
        page.keyboard.press("Escape")
        with page.expect_navigation(wait_until="load"):
            links.first.click()
        links.first.wait_for()
        assert all(status in (200, 304) for _path, status in asked)
        # In the place that the site names, if there is one; and nothing on pages that are not known.
        named = visit(root, "orbit/part2.html")
        named.locator("aside .pagekin-related a").first.wait_for()
        asked_of = "pagekinRelated(location.href)"
        assert visit(root, "genindex.html").evaluate(asked_of) == []
        assert visit(root, "").evaluate(asked_of) == visit(root, "index.html").evaluate(asked_of) != []
