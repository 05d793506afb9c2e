"""The documentation says what the program does: nothing undocumented, no dead link, no stale reference."""

import ast
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pagekin import __version__
from pagekin.bags import ReplacedColumns, Strategy, settings_table
from pagekin.clusters import ClusterSettings
from pagekin.engines import BuildRecipe, build_collection, cluster_collection
from pagekin.hypertext import HiddenColumns, ReadPlan
from pagekin.sources import DAMAGE_REASONS, Limits
from pagekin.store import open_kin
from tests.command import pagekin

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
CODE_BLOCK = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def document(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table_rows(text: str) -> dict[str, list[str]]:
    """The rows of all tables in a text, by each name in code style in the first cell."""
    rows: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            for name in re.findall(r"`([^`]+)`", cells[0]):
                rows[name] = cells
    return rows


def anchors(text: str) -> set[str]:
    """The fragments that headings of a page can be reached by."""
    headings = re.findall(r"^#+ (.+)$", CODE_BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_command_reference_is_what_the_commands_say() -> None:
    made = runpy.run_path(str(ROOT / "scripts" / "reference.py"))["reference"]()
    assert document("docs/cli.md") == made, "docs/cli.md is stale: run python scripts/reference.py"


def test_the_version_is_the_same_wherever_it_is_named() -> None:
    assert f"version: {__version__}\n" in document("CITATION.cff")
    assert f"ersion {__version__}" in document("CHANGELOG.md")


def test_every_command_and_option_is_in_the_reference() -> None:
    from typer.main import get_command

    from pagekin.cli.app import app, load_verbs

    load_verbs()
    program: Any = get_command(app)
    text = document("docs/cli.md")
    sections = dict(re.findall(r"^## (pagekin.*?)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE))
    for name, command in program.commands.items():
        section = sections.get(f"pagekin {name}", "")
        for parameter in command.params:
            if parameter.param_type_name == "option":
                for option in parameter.opts:
                    found = re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", section)
                    assert found, f"{option} of pagekin {name} is not documented"
        assert f"pagekin {name}" in document("README.md"), f"the README does not name pagekin {name}"


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
def test_every_limit_is_documented_with_its_default(name: str) -> None:
    row = table_rows(document("docs/reading.md")).get(name)
    assert row, f"docs/reading.md has no row for the limit {name}"
    default = next(field.default for field in fields(Limits) if field.name == name)
    assert row[1] == f"{default:,}"


@pytest.mark.parametrize("setting", settings_table(Strategy), ids=lambda setting: setting[0])
def test_every_setting_of_a_strategy_is_documented_as_it_is(setting: tuple[str, str, str, str]) -> None:
    row = table_rows(document("docs/related.md")).get(setting[0])
    assert row, f"docs/related.md has no row for the setting {setting[0]}"
    assert row[1:] == list(setting[1:])


@pytest.mark.parametrize("setting", settings_table(ClusterSettings), ids=lambda setting: setting[0])
def test_every_setting_of_clusters_is_documented_as_it_is(setting: tuple[str, str, str, str]) -> None:
    row = table_rows(document("docs/clusters.md")).get(setting[0])
    assert row, f"docs/clusters.md has no row for the setting {setting[0]}"
    _name, default, allowed, about = setting
    assert row[1:] == ["1/3" if default == str(1 / 3) else default, allowed, about]


def test_every_reason_of_skipping_is_documented() -> None:
    rows = table_rows(document("docs/reading.md"))
    reasons = set(DAMAGE_REASONS)
    for source in [*(ROOT / "src/pagekin/sources").glob("*.py"), *(ROOT / "src/pagekin/hypertext").glob("*.py")]:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            reasons |= set(literal_reasons(node))
    assert {"redirect", "older capture", "bad url"} <= reasons
    families = {f"{name.rpartition(' ')[0]} " for name in ("status N", "record type X") if name in rows}
    assert sorted(r for r in reasons - set(rows) if not r.startswith(tuple(families))) == []


def literal_reasons(node: ast.AST) -> list[str]:
    """Reasons that a piece of code gives as plain strings: `Skip("..."`, `left_out["..."]`."""
    found: ast.expr | None = None
    if isinstance(node, ast.Call) and node.args:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in ("Skip", "skip", "BodyError"):
            found = node.args[0]
    elif isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "left_out":
        found = node.slice
    return [found.value] if isinstance(found, ast.Constant) and isinstance(found.value, str) else []


def test_every_array_of_a_collection_is_documented(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(
        "<title>Rivers</title><h1>Rivers</h1><p><a href=other.html>The Nile</a> is a river."
    )
    (site / "other.html").write_text("<title>The Nile</title><p>Back to <a href=/>rivers</a>.")
    (site / "haus.html").write_text("<html lang=de><title>Haus</title><p>Ein Haus und viele Häuser.", encoding="utf-8")
    plan = ReadPlan([str(site)], tmp_path / "site.kin", parser="strict", base_url="http://site.example/")
    build_collection(plan, BuildRecipe(Strategy(), text=True))
    cluster_collection(plan.out, ClusterSettings())
    rows = table_rows(document("docs/format.md"))
    kin = open_kin(plan.out)
    facts = kin.facts
    assert sorted(set(kin.arrays) - set(rows)) == []
    assert sorted(set(facts) - set(rows)) == []
    assert sorted(set(facts["index"]) - set(rows)) == []
    documented = {name for name in rows if re.fullmatch(r"[a-z]+\.[a-z_]+", name)}
    of_deltas = {f"{one.prefix}.{field.name}" for one in (HiddenColumns, ReplacedColumns) for field in fields(one)}
    assert sorted(of_deltas - documented) == []
    assert sorted(documented - of_deltas - set(kin.arrays)) == [], "docs/format.md names arrays that no collection has"
    for name, array in kin.arrays.items():
        kinds = re.findall(r"`([uif]\d)`", rows[name][1])
        if len(kinds) == 1 and "smallest" not in rows[name][1]:
            assert array.dtype.str[1:] == kinds[0], f"{name} is {array.dtype.str}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(CODE_BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {link}, which does not exist"
        if fragment:
            assert fragment in anchors(target.read_text(encoding="utf-8")), f"{page.name}: no heading for {link}"


def test_the_static_site_has_every_page_in_a_part_and_no_dead_link(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "zensical.toml", tmp_path)
    argv = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = set(re.findall(r'= "([^"]+\.md)"', document("zensical.toml")))
    assert {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")} == listed
    start = (tmp_path / "build" / "docs" / "index.html").read_text(encoding="utf-8")
    assert not re.findall(r'<(?:script|link)[^>]+(?:src|href)="https?://(?!www.example.com)', start), (
        "loads from other hosts"
    )


def test_the_readme_shows_what_the_command_prints(school_folder: Path) -> None:
    shown = re.findall(r"^\$ pagekin (related school\.kin .+)\n((?:(?!```).*\n)+)", document("README.md"), re.MULTILINE)
    assert len(shown) == 2
    for command, printed in shown:
        result = pagekin(*shlex.split(command), cwd=school_folder)
        assert (result.stderr, result.stdout) == ("", printed)
