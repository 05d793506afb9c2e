"""The Sphinx extension and the MkDocs plugin, on real small projects."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from turbohtml import parse

from pagekin.mkdocs import PagekinPlugin
from tests.site.manuals import TOPICS, WORDS, contents


def sources(folder: Path, heading: str) -> None:
    """Write a project's pages; `heading` underlines titles, or is '' for Markdown."""
    folder.mkdir(parents=True)
    names = [f"{topic}{number}" for topic in TOPICS for number in range(4)]
    for name in names:
        topic, number = name[:-1], int(name[-1])
        words = " ".join(TOPICS[topic].split()[number : number + 6] * 3)
        title = f"{topic.title()} number {number}"
        top = f"{title}\n{heading * len(title)}\n" if heading else f"# {title}\n"
        (folder / f"{name}{'.rst' if heading else '.md'}").write_text(f"{top}\n{WORDS} {words}.\n")
    if heading:
        tree = "\n".join(f"   {name}" for name in names)
        (folder / "index.rst").write_text(f"Start\n=====\n\n.. toctree::\n\n{tree}\n")
    else:
        (folder / "index.md").write_text("# Start\n\n" + "\n".join(f"- [{name}]({name}.md)" for name in names))


def run(*command: str, cwd: Path) -> str:
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run([sys.executable, "-m", *command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def check(folder: Path, pattern: str, address: str) -> None:
    """See that pages of each topic link to others of it, and that the address is known."""
    for topic in TOPICS:
        file = folder / pattern.format(f"{topic}1")
        tree = parse(file.read_text(encoding="utf-8"))
        (place,) = tree.select("[role=main] .pagekin, article .pagekin, main .pagekin")
        links = place.select("li a")
        assert 2 <= len(links) <= 4
        assert topic in str(links[0].attrs["href"])
        assert links[0].text.startswith(f"{topic.title()} number")
    assert f"({address}" in (folder / "llms.txt").read_text()


@pytest.mark.parametrize("builder", ["html", "dirhtml"])
def test_sphinx_builds_have_related_pages_and_incremental_ones_the_same(tmp_path: Path, builder: str) -> None:
    sources(tmp_path / "docs", "=")
    (tmp_path / "docs/conf.py").write_text(
        'project = "Example"\nextensions = ["pagekin.sphinx"]\nhtml_baseurl = "https://docs.example/x/"\npagekin_count = 4\n'
        'pagekin_workers = 1\npagekin_collection = "../docs.kin"\n'
    )
    said = run("sphinx", "-b", builder, "docs", "out", cwd=tmp_path)
    assert "related pages on 12 pages" in said
    check(tmp_path / "out", "{}.html" if builder == "html" else "{}/index.html", "https://docs.example/x/")
    before = contents(tmp_path / "out")
    run("sphinx", "-b", builder, "docs", "out", cwd=tmp_path)
    after = contents(tmp_path / "out")
    assert {name for name in before if name.endswith(".html") and before[name] != after.get(name)} == set()


def test_other_sphinx_builders_and_switched_off_builds_are_left_alone(tmp_path: Path) -> None:
    sources(tmp_path / "docs", "=")
    (tmp_path / "docs/conf.py").write_text('project = "Example"\nextensions = ["pagekin.sphinx"]\n')
    run("sphinx", "-b", "text", "docs", "text", cwd=tmp_path)
    run("sphinx", "-D", "pagekin_enabled=0", "docs", "out", cwd=tmp_path)
    assert not (tmp_path / "out/pagekin").exists()
    assert not (tmp_path / "text/pagekin").exists()


def test_a_sphinx_build_takes_its_options_from_the_command_line_and_undoes_what_is_switched_off(tmp_path: Path) -> None:
    sources(tmp_path / "docs", "=")
    (tmp_path / "docs/conf.py").write_text(
        'project = "Example"\nextensions = ["pagekin.sphinx"]\npagekin_workers = 1\npagekin_collection = "../docs.kin"\n'
    )
    run("sphinx", "-D", "pagekin_enabled=0", "docs", "out", cwd=tmp_path)
    before = contents(tmp_path / "out")
    run("sphinx", "-D", "pagekin_count=1", "docs", "out", cwd=tmp_path)
    tree = parse((tmp_path / "out/orbit1.html").read_text(encoding="utf-8"))
    assert len(tree.select(".pagekin li a")) == 1
    assert "13 pages are as before" in run("sphinx", "-D", "pagekin_enabled=0", "docs", "out", cwd=tmp_path)
    after = contents(tmp_path / "out")
    assert {name for name in before if name.endswith(".html") and before[name] != after.get(name)} == set()
    assert not (tmp_path / "out/pagekin").exists() and not (tmp_path / "out/llms.txt").exists()
    assert "number of related pages" in run("sphinx", "-D", "pagekin_count=x", "docs", "out", cwd=tmp_path)


def test_mkdocs_builds_have_related_pages(tmp_path: Path) -> None:
    sources(tmp_path / "docs", "")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: Example\nsite_url: https://docs.example/y/\n"
        "plugins:\n  - search\n  - pagekin:\n      count: 4\n      workers: 1\n      collection: docs.kin\n"
    )
    (tmp_path / "pagekin-site.toml").write_text('[pins]\n"orbit1/" = ["index.html"]\n')
    run("mkdocs", "build", "-q", cwd=tmp_path)
    tree = parse((tmp_path / "site/orbit1/index.html").read_text(encoding="utf-8"))
    assert tree.select(".pagekin li a")[0].attrs["href"] == "../"
    (tmp_path / "pagekin-site.toml").unlink()
    run("mkdocs", "build", "-q", cwd=tmp_path)
    check(tmp_path / "site", "{}/index.html", "https://docs.example/y/")


def test_the_preview_of_mkdocs_is_left_alone() -> None:
    plugin = PagekinPlugin()
    plugin.load_config({})
    plugin.on_startup(command="serve", dirty=False)
    plugin.on_post_build(config=None)  # which would be asked for the site's folder
    plugin.on_startup(command="build", dirty=False)
    with pytest.raises(AttributeError):
        plugin.on_post_build(config=None)
