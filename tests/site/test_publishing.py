"""Publishing: links that hold on any host, the same bytes a second time, and not a byte left after --undo."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urljoin

import pytest
from turbohtml import parse

from pagekin.hypertext import Corpus
from pagekin.similarity import RelatedIndex
from pagekin.site import (
    SiteError,
    SitePlan,
    SiteReport,
    SiteSettings,
    publish_site,
    read_settings,
    survey_folder,
    undo_site,
)
from pagekin.site.overview import site_topics
from pagekin.site.pages import SitePages, count_links
from tests.command import pagekin
from tests.site.manuals import TOPICS, contents, write_manual

Published = tuple[Path, Path, SiteReport]


def links_on(file: Path) -> list[tuple[str, str]]:
    tree = parse(file.read_text(encoding="utf-8"))
    return [(link.attrs["href"], link.text) for link in tree.select(".pagekin-related li a")]


def target(folder: Path, file: Path, href: str) -> Path:
    """The file that a relative address leads to, wherever the folder is served."""
    root = "http://preview.example/some/path/"
    url = urljoin(root + file.relative_to(folder).as_posix(), href)
    assert url.startswith(root)
    return folder / unquote(url.removeprefix(root))


def test_each_page_links_to_pages_of_its_topic_by_relative_addresses_and_clean_titles(published: Published) -> None:
    folder, _kin, report = published
    assert (report.survey.generator, report.pages, report.marked) == ("Sphinx", 16, 16)
    counts = [len(links_on(file)) for file in sorted(folder.rglob("*.html")) if file.parent.name != "pagekin"]
    assert (report.linked, report.links) == (sum(map(bool, counts)), sum(counts))
    for topic in TOPICS:
        for file in sorted((folder / topic).glob("*.html")):
            links = links_on(file)
            assert len(links) >= 2
            for href, title in links:
                assert target(folder, file, href).is_file()
                assert "documentation" not in title
            assert all(title.startswith((topic.title(), "Start")) for _href, title in links), (file, links)


def test_menus_and_excluded_pages_are_not_read_and_stay_as_they_were(published: Published, tmp_path: Path) -> None:
    folder, kin, report = published
    corpus = Corpus.open(kin)
    assert corpus.term_number("caldera") >= 0
    assert corpus.term_number("menuword") == corpus.term_number("footerword") == -1
    assert report.skipped["excluded"] == 3
    before = contents(write_manual(tmp_path / "public"))
    after = contents(folder)
    for name in ("genindex.html", "search.html", "404.html", "favicon.ico"):
        assert after[name] == before[name]


def test_data_for_programs_says_what_the_pages_show_in_few_files(published: Published) -> None:
    folder, _kin, _report = published
    about = json.loads((folder / "pagekin/site.json").read_text())
    told = {}
    for name in about["related"]:
        told |= json.loads((folder / name).read_text())["pages"]
    assert len(told) == about["pages"] == 16
    for path, page in told.items():
        shown = [target(folder, folder / path, href) for href, _title in links_on(folder / path)]
        assert shown == [folder / one["path"] for one in page["related"]]
    names = contents(folder)
    assert set(about["files"]) == {name for name in names if name.startswith("pagekin/")} - {"pagekin/site.json"} | {
        "llms.txt"
    }
    text = names["llms.txt"].decode()
    assert text.startswith("# Example 1.2 documentation\n")
    assert "(volcano/part" in text
    topics = parse(names["pagekin/index.html"].decode())
    assert all(
        target(folder, folder / "pagekin/index.html", one.attrs["href"]).is_file() for one in topics.select("main a")
    )
    assert b"localhost" not in b"".join(names.values())


def test_a_second_run_changes_nothing_and_undo_leaves_not_a_byte(published: Published, tmp_path: Path) -> None:
    folder = tmp_path / "public"
    shutil.copytree(published[0], folder)
    before = contents(folder)
    report = publish_site(SitePlan(folder, collection=tmp_path / "manual.kin", workers=1))
    assert contents(folder) == before
    assert (report.changed, report.skipped) == (0, published[2].skipped)  # nor are files of ours counted as skipped
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert undo_site(SitePlan(folder, collection=tmp_path / "manual.kin")) == (16, report.files)
    assert contents(folder) == contents(write_manual(tmp_path / "fresh"))
    assert not (folder / "pagekin").exists()
    untouched = [path for path in times if path.exists() and path.stat().st_mtime_ns == times[path]]
    assert folder / "genindex.html" in untouched
    assert undo_site(SitePlan(folder, collection=tmp_path / "manual.kin")) == (0, 0)


def test_pages_without_a_title_are_recommended_nowhere_and_texts_do_not_repeat_titles(tmp_path: Path) -> None:
    folder = write_manual(tmp_path / "public")
    fragment = (folder / "volcano/part2.html").read_text(encoding="utf-8")
    title = "Volcano part 2 — Example 1.2 documentation"
    assert title in fragment
    (folder / "volcano/part2.html").write_text(fragment.replace(title, "&lt;no title&gt;"), encoding="utf-8")
    other = (folder / "volcano/part3.html").read_text(encoding="utf-8")
    long = "Volcano part 3 with many small words in its heading"
    (folder / "volcano/part3.html").write_text(other.replace("Volcano part 3", long), encoding="utf-8")
    publish_site(SitePlan(folder, collection=tmp_path / "manual.kin", workers=1))
    shown = {target(folder, file, href) for file in folder.rglob("*.html") for href, _title in links_on(file)}
    assert folder / "volcano/part3.html" in shown and folder / "volcano/part2.html" not in shown
    assert b"volcano/part2.html" not in (folder / "pagekin/index.html").read_bytes()
    assert len(links_on(folder / "volcano/part2.html")) >= 2
    line = next(line for line in (folder / "llms.txt").read_text().splitlines() if "volcano/part3.html" in line)
    assert line.count(long) == 1


def test_only_pages_that_are_similar_enough_are_shown_and_none_on_pages_that_only_list(tmp_path: Path) -> None:
    folder = write_manual(tmp_path / "public")
    listed = "".join(f'<li><a href="{topic}/part{n}.html">{topic} part {n}</a>' for topic in TOPICS for n in range(5))
    (folder / "contents.html").write_text(f"<title>Contents</title><div role=main><ul>{listed}</ul></div>")
    front = f"<title>Start</title><div role=main>Welcome to all who read this manual about three things. {listed[:300]}</div>"
    (folder / "index.html").write_text(front)
    plan = SitePlan(folder, SiteSettings(min_similarity=0.0, count=4), tmp_path / "manual.kin", 1)
    publish_site(plan)
    told = json.loads((folder / "pagekin/related-000.json").read_text())["pages"]
    assert {len(page["related"]) for path, page in told.items() if "part" in path} == {4}
    assert links_on(folder / "contents.html") == links_on(folder / "index.html") == []
    scores = sorted(one["similarity"] for one in told["volcano/part1.html"]["related"])
    least = sum(scores[:2]) / 2
    publish_site(replace(plan, settings=SiteSettings(min_similarity=least, count=4)))
    assert len(links_on(folder / "volcano/part1.html")) == 3
    publish_site(replace(plan, settings=SiteSettings(min_similarity=1.0, pins={"contents.html": ["index.html"]})))
    assert links_on(folder / "volcano/part1.html") == []
    assert len(links_on(folder / "contents.html")) == 1
    assert b"search.js" in (folder / "volcano/part1.html").read_bytes()


def test_numbers_of_chapters_are_dropped_and_entries_of_one_title_are_told_apart(tmp_path: Path) -> None:
    folder = write_manual(tmp_path / "public")
    for number, path in ((2, "volcano/part2.html"), (13, "volcano/part4.html")):
        file = folder / path
        title = f"Volcano part {path[12]}"
        file.write_text(file.read_text(encoding="utf-8").replace(title, f"{number}. Introduction"), encoding="utf-8")
    publish_site(SitePlan(folder, collection=tmp_path / "manual.kin", workers=1))
    (links,) = parse((folder / "volcano/part1.html").read_text(encoding="utf-8")).select(".pagekin-related ul")
    shown = [" ".join(item.text.split()) for item in links.select("li")]
    assert {"Introduction volcano/part2.html", "Introduction volcano/part4.html"} <= set(shown)
    topics = parse((folder / "pagekin/index.html").read_text(encoding="utf-8")).select(".pagekin-path")
    assert {path.text for path in topics} == {"volcano/part2.html", "volcano/part4.html"}


def test_topics_hold_all_pages_those_most_linked_to_after_the_central_ones(tmp_path: Path) -> None:
    folder = write_manual(tmp_path / "public")
    for number in range(24):
        own = " ".join(f"own{number}x{place}" for place in range(12))
        (folder / f"more{number:02}.html").write_text(
            f"<title>Chapter manual.big_part.end{number:02} 1.5</title><div role=main>{TOPICS['volcano']} {own}</div>"
        )
    plan = SitePlan(folder, collection=tmp_path / "manual.kin", workers=1)
    report = publish_site(plan)
    page = parse((folder / "pagekin/index.html").read_text(encoding="utf-8"))
    sections = page.select("section")
    assert "Chapter manual.<wbr>big_<wbr>part.<wbr>end07 1.5</a>" in (folder / "pagekin/index.html").read_text(
        encoding="utf-8"
    )
    assert sum(len(section.select("li")) for section in sections) == report.pages
    (large,) = [section for section in sections if section.select("details")]
    shown = [str(link.attrs["href"]) for link in large.select("li a")]
    count = len(shown)
    assert large.select("summary")[0].text == f"{count - 10} more"
    pages = SitePages(folder, survey_folder(plan), Corpus.open(plan.kin))
    links_to = {page: page % 3 for page in pages.order}
    chosen = max(site_topics(pages, links_to), key=lambda topic: len(topic.pages)).pages
    assert [links_to[page] for page in chosen[5:]] == sorted((links_to[page] for page in chosen[5:]), reverse=True)
    assert {pages.file_of[page] for page in chosen} == {href.removeprefix("../") for href in shown}
    known = count_links(pages, RelatedIndex.open(plan.kin))
    assert known[pages.page_of["orbit/part1.html"]] == 2 and known[pages.page_of["more01.html"]] == 0
    text = (folder / "llms.txt").read_text()
    assert "central ones first, then those that most pages link to" in text
    assert max(part.count("\n- [") for part in text.split("\n## ")) == 10


def test_settings_pin_hide_exclude_and_leave_out(tmp_path: Path) -> None:
    folder = write_manual(tmp_path / "public")
    file = tmp_path / "pagekin-site.toml"
    file.write_text(
        """
        base-url = "https://docs.example/manual/"
        exclude = ["kitchen/*", "part4.html"]
        count = 2
        heading = "See <also>"
        topics = false
        [pins]
        "volcano/part0.html" = ["index.html", "orbit/part1.html"]
        [hide]
        "*" = ["volcano/part1.html"]
        """
    )
    settings = read_settings(file)
    (folder / "llms.txt").write_text("mine")
    (folder / "orbit/link.html").symlink_to("part1.html")
    report = publish_site(SitePlan(folder, settings, tmp_path / "manual.kin", 1))
    assert report.foreign_llms and (folder / "llms.txt").read_text() == "mine"
    assert report.pages == 9 and report.survey.address_from == "option"
    assert [href for href, _title in links_on(folder / "volcano/part0.html")] == [
        "../index.html",
        "../orbit/part1.html",
    ]
    every = [href for path in folder.rglob("*.html") for href, _title in links_on(path)]
    assert not any("kitchen" in href or "part4" in href or href.endswith("volcano/part1.html") for href in every)
    assert links_on(folder / "kitchen/part1.html") == []
    assert b"See &lt;also&gt;" in (folder / "orbit/part1.html").read_bytes()
    assert (folder / "orbit/link.html").is_symlink()
    (folder / "pagekin/notes.txt").write_text("mine")
    undo_site(SitePlan(folder, settings, tmp_path / "manual.kin"))
    assert (folder / "llms.txt").read_text() == (folder / "pagekin/notes.txt").read_text() == "mine"
    assert [path.name for path in (folder / "pagekin").iterdir()] == ["notes.txt"]


def test_what_is_not_ours_or_cannot_be_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    folder = write_manual(tmp_path / "public")
    before = contents(folder)
    with pytest.raises(SiteError, match="would be published"):
        publish_site(SitePlan(folder, collection=folder / "x.kin"))
    with pytest.raises(SiteError, match="is not a page of the site"):
        publish_site(SitePlan(folder, SiteSettings(pins={"none.html": []}), tmp_path / "m.kin", 1))
    assert contents(folder) == before
    (folder / "pagekin").mkdir()
    (folder / "pagekin/index.html").write_text("mine")
    with pytest.raises(SiteError, match="did not write it"):
        publish_site(SitePlan(folder, collection=tmp_path / "m.kin"))
    (folder / "pagekin/site.json").write_text('{"files": {"../outside.html": "x", "index.html": "x"}}')
    undo_site(SitePlan(folder, collection=tmp_path / "m.kin"))
    assert (folder / "index.html").read_bytes() == before["index.html"]
    for text, words in (
        ("count = 'x'", "'count' must be a whole number"), ("colour = 1", "no setting 'colour'"), ("a = [", "not TOML"),
        ("count = 200", "'count' must be <= 100"), ("hide = {'*' = 'a.html'}", "each entry of 'hide' must be a list"),
    ):  # fmt: skip
        (tmp_path / "s.toml").write_text(text)
        with pytest.raises(SiteError, match=words):
            read_settings(tmp_path / "s.toml")


def test_hostile_pages_break_nothing(tmp_path: Path) -> None:
    folder = write_manual(tmp_path / "public")
    evil = '"><script>alert(1)</script><!--'
    words = "lava magma crater eruption ash basalt vent caldera"
    (folder / "a?b#c %41&.html").write_text(f"<title>{evil.replace('<', '&lt;')}</title><main>{words}</main>")
    (folder / "x:y.html").write_text(f"<title>\u202eevil\u2067</title><main>{words} own</main>", encoding="utf-8")
    (folder / "cut.html").write_text(f"<title>Cut</title><p>{words}</p><script>'")
    (folder / "frames.html").write_text(f"<title>Frames</title><frameset><noframes>{words}</noframes></frameset>")
    (folder / "based.html").write_text(f"<base href='volcano/'><title>Based</title><main>{words} base</main>")
    (folder / "wide.html").write_bytes(f"<title>Wide</title><main>{words}</main>".encode("utf-16"))
    (folder / "empty.html").write_bytes(b"")
    (folder / "moved.html").write_text(
        f"<meta http-equiv=refresh content='0;url=index.html'><title>Moved</title>{words}"
    )
    (folder / "bytes.html").write_bytes(b"<title>B\xe9</title><main>\xff\xfe\x80 lava magma crater vent</main>\x85")
    (folder / "book").mkdir()
    for number in range(5):
        (folder / f"book/{number}.html").write_text(f"<title>Chapter {number} - The Book</title>own{number} {words}")
    before = contents(folder)
    plan = SitePlan(folder, collection=tmp_path / "m.kin", workers=1)
    report = publish_site(plan)
    told = json.loads((folder / "pagekin/related-000.json").read_text())["pages"]
    assert told["book/3.html"]["title"] == "Chapter 3"  # several books may make up a site
    assert report.left_alone["only redirects to another page"] == 1
    assert sum(report.left_alone.values()) == 4
    after = contents(folder)
    for name in ("cut.html", "frames.html", "wide.html", "empty.html", "moved.html"):
        assert after[name] == before[name]
    for name in after:
        if name.endswith(".html"):
            tree = parse(after[name])
            assert not any("alert(1)" in one.text for one in tree.select("script"))
    for path in folder.rglob("*.html"):
        if path.name not in ("based.html", "wide.html"):
            for href, title in links_on(path) if path.name != "bytes.html" else ():
                assert target(folder, path, href).is_file(), (path, href)
                assert title != "Moved"
    assert all(target(folder, folder / "volcano/x", href).is_file() for href, _title in links_on(folder / "based.html"))
    undo_site(plan)
    assert contents(folder) == before


def test_the_command_says_what_it_did_and_what_is_wrong(tmp_path: Path) -> None:
    write_manual(tmp_path / "public")
    done = pagekin("site", "public", "-k", "2", "--workers", "1", "--collection", "manual.kin", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for words in (
        "16 pages, made by Sphinx",
        "[role=main]",
        "32 links on 16 pages",
        "3 excluded",
        "manual.kin",
        "--undo",
    ):
        assert words in done.stdout
    told = json.loads(pagekin("site", "public", "--undo", "--json", "--collection", "manual.kin", cwd=tmp_path).stdout)
    assert told["folder"] == "public" and told["changed"] == 16
    again = pagekin("site", "public", "--undo", "--collection", "manual.kin", cwd=tmp_path)
    assert "nothing to undo" in again.stdout and "manual.kin is kept" in again.stdout
    for arguments, code, words in (
        (["none"], 3, "none does not exist"), (["public", "--content", "a[["], 3, "CSS selector"),
        (["public", "--undo", "-k", "3"], 2, "leave out the other options"), (["public", "--settings", "x.toml"], 3, "x.toml"),
    ):  # fmt: skip
        done = pagekin("site", *arguments, cwd=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)
        assert words in done.stderr


def test_the_collection_lies_in_the_users_cache_until_it_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = [SitePlan(write_manual(tmp_path / name / "public"), workers=1) for name in "ab"]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert len({plan.kin for plan in plans}) == 2
    publish_site(plans[0])
    assert plans[0].kin.is_relative_to(tmp_path / "cache/pagekin/sites") and plans[0].kin.is_dir()
    undo_site(plans[0])
    assert list((tmp_path / "cache/pagekin/sites").iterdir()) == []
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert plans[0].kin.parent.is_dir()
