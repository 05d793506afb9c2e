"""The command as a user meets it: output, exit codes, errors for people."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pagekin.cli import app as command
from pagekin.cli.verbs import VERBS, rename_options
from pagekin.store import CompileProgress
from pagekin.store.compile_watch import tell_watches
from tests.command import pagekin


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site")
    (root / "sub").mkdir()
    (root / "index.html").write_text(
        "<html lang=en><title>Home & more</title><h1>Welcome</h1><a href='sub/a.html'>A page</a> here"
    )
    (root / "sub" / "a.html").write_text("<title>A</title><p>Back <a href='/'>home</a>")
    (root / "empty.html").write_text("")
    (root / "logo.png").write_bytes(b"\x89PNG")
    return root


@pytest.fixture(scope="module")
def collection(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "site.kin"
    done = pagekin("read", site, "--base-url", "https://www.example.org", "--out", out, "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "2 pages of 1 host," in done.stdout
    assert "1 empty page" in done.stdout
    return out


def test_info_counts_for_programs_and_people(collection: Path) -> None:
    about = json.loads(pagekin("info", collection, "--json").stdout)
    assert about["pages"] == 2
    assert about["urls"] == 3
    assert about["words"] == 9
    assert about["anchors"] == 2
    assert about["links"] == 2
    assert about["hosts"] == 1
    assert about["skipped"] == {"empty page": 1, "not html": 1}
    assert about["format"] == 2
    shown = pagekin("info", collection).stdout
    assert "2 (from 3 HTML records)" in shown
    assert "bytes a word" in shown


def test_page_shows_what_was_understood(collection: Path) -> None:
    about = json.loads(pagekin("page", collection, "https://www.example.org/index.html", "--json").stdout)
    assert about["url"] == "https://www.example.org/index.html"
    assert about["title"] == "Home & more"
    assert about["words"]["title"] == ["home", "more"]
    assert about["words"]["header"] == ["welcome"]
    assert about["words"]["text"] == ["welcome", "a", "page", "here"]
    (anchor,) = about["anchors_out"]
    assert (anchor["target"], anchor["text"]) == ("https://www.example.org/sub/a.html", "a page")
    assert (anchor["left"], anchor["right"]) == (["welcome"], ["here"])
    (incoming,) = about["anchors_in"]  # the link to / leads to the folder's index page
    assert incoming["source"] == "https://www.example.org/sub/a.html"
    shown = pagekin("page", collection, "https://www.example.org/").stdout
    assert "[a page] here" in shown


def test_an_unknown_page_suggests_the_nearest(collection: Path) -> None:
    done = pagekin("page", collection, "http://www.example.org/sub/b.html")
    assert done.returncode == 3
    assert "https://www.example.org/sub/a.html" in done.stderr
    assert done.stdout == ""


def test_check_proves_a_collection_whole_or_not(collection: Path, tmp_path: Path) -> None:
    done = pagekin("check", collection)
    assert done.returncode == 0
    assert "is undamaged" in done.stdout
    broken = tmp_path / "broken.kin"
    shutil.copytree(collection, broken)
    file = next(broken.glob("url.bytes-*.npy"))
    raw = bytearray(file.read_bytes())
    raw[-1] ^= 1
    file.write_bytes(raw)
    done = pagekin("check", broken, "--json")
    assert done.returncode == 3
    found = json.loads(done.stdout)
    assert found["whole"] is False
    assert found["findings"][0]["where"] == file.name


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["read", "nowhere.warc.gz", "--out", "x.kin"], 3, "does not exist"),
        (["read", __file__, "--out", "x.kin"], 3, "is not something that Pagekin reads"),
        (["build", "https://a.example/", "--out", "x.kin"], 3, "pagekin crawl https://a.example/ --out"),
        (["site", __file__], 3, "is not a folder. Name the folder that your site generator wrote"),
        (["read", "demo"], 2, "--out"),
        (["read", "demo", "--out", "x.kin", "--limit", "pages=3"], 2, "page_bytes"),
        (["read", "demo", "--out", "x.kin", "--parser", "fancy"], 2, "strict"),
        (["read", "demo", "--out", "x.kin", "--base-url", "nonsense"], 2, "http(s) address"),
        (
            ["read", "no-such-folder", "--out", "x.kin", "--base-url", "http://a.example/"],
            3,
            "no-such-folder does not exist",
        ),
        (["info", "nowhere.kin"], 3, "pagekin build"),
        (["page", "nowhere.kin", "http://a.example/"], 3, "does not exist"),
        (["check", "nowhere.kin"], 3, "pagekin build"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_mistakes_get_a_sentence_and_the_right_exit_code(
    arguments: list[str], code: int, words: str, tmp_path: Path
) -> None:
    done = pagekin(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert words in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "x.kin").exists()


def test_a_broken_archive_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(b"this is no archive at all" * 50)
    done = pagekin("read", "a.warc.gz", "--out", "a.kin", "--parser", "strict", cwd=tmp_path)
    assert done.returncode == 3
    assert "a.warc.gz" in done.stderr
    assert not (tmp_path / "a.kin").exists()


def test_a_read_that_is_killed_leaves_the_old_collection(site: Path, collection: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.kin"
    shutil.copytree(collection, mine)
    before = json.loads(pagekin("info", mine, "--json").stdout)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", "from pagekin.cli import main; main()", "read", "demo", "--out", str(mine),
             "--replace"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while not list(mine.glob(".work-*")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert json.loads(pagekin("info", mine, "--json").stdout) == before
    done = pagekin("read", site, "--base-url", "https://www.example.org/", "--out", mine, "--parser", "strict")
    assert done.returncode == 0, done.stderr
    assert pagekin("check", mine).returncode == 0


@pytest.mark.parametrize("verb", ["read", "build"])
def test_a_collection_of_other_sources_is_replaced_only_if_asked(
    verb: str, site: Path, collection: Path, tmp_path: Path
) -> None:
    mine, other, more = tmp_path / "mine.kin", tmp_path / "other", ("--parser", "strict", "--workers", "1")
    shutil.copytree(collection, mine)
    other.mkdir()
    (other / "b.html").write_text("<title>Another site</title><p>with words of its own")
    refused = pagekin(verb, other, "--out", mine, *more)
    assert refused.returncode == 3
    assert f"{mine} holds a collection of other sources: {site.name}." in refused.stderr
    assert "--replace" in refused.stderr
    assert (mine / "manifest.json").read_bytes() == (collection / "manifest.json").read_bytes()
    assert sorted(file.name for file in mine.iterdir()) == sorted(file.name for file in collection.iterdir())
    # The same sources, and more of them, lose nothing.
    assert pagekin(verb, site, "--out", mine, *more).returncode == 0
    bases = ("--base-url", f"{site}=http://a.example/", "--base-url", f"{other}=http://b.example/")
    assert pagekin(verb, site, other, *bases, "--out", mine, *more).returncode == 0
    assert pagekin(verb, site, "--out", mine, *more).returncode == 3
    done = pagekin(verb, other, "--out", mine, *more, "--replace")
    assert done.returncode == 0, done.stderr
    assert json.loads(pagekin("info", mine, "--json").stdout)["sources"] == ["other"]


def test_json_is_all_there_is_on_standard_output(site: Path, tmp_path: Path) -> None:
    done = pagekin("read", site, "--out", tmp_path / "s.kin", "--json", "--parser", "strict")
    assert json.loads(done.stdout)["pages"] == 2


@pytest.mark.parametrize("verb", ["read", "build"])
def test_pages_are_excluded_by_their_addresses(verb: str, site: Path, tmp_path: Path) -> None:
    out = tmp_path / "s.kin"
    patterns = ("--exclude", "*/sub/*", "--exclude", "*/nothing")
    done = pagekin(verb, site, "--out", out, "--parser", "strict", "--workers", "1", *patterns)
    assert done.returncode == 0, done.stderr
    assert "1 excluded" in done.stdout
    about = json.loads(pagekin("info", out, "--json").stdout)
    assert (about["pages"], about["skipped"]["excluded"]) == (1, 1)
    assert about["exclude"] == ["*/nothing", "*/sub/*"]


def test_without_a_terminal_lines_tell_of_progress_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(command.time, "monotonic", lambda: now)
    with command.progress_bar() as tell:
        for second in range(0, 100, 5):
            now = float(second)
            tell("reading", second / 100)
        now = 130.0
        tell("merging", 0.0)
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        "pagekin: reading 30%, 60.0% a minute, 1:10 left",
        "pagekin: reading 60%, 60.0% a minute, 0:40 left",
        "pagekin: reading 90%, 60.0% a minute, 0:10 left",
        "pagekin: merging 0%",
    ]
    with command.progress_bar(quiet=True) as tell:
        now = 1_000.0
        tell("reading", 0.5)
    assert capsys.readouterr().err == ""
    lines = command.ProgressLines()
    lines.tell("merging", 0.25)
    now += 31.0  # and the stage tells nothing in the meantime
    lines.remind()
    lines.remind()
    assert capsys.readouterr().err == "pagekin: merging 25%\n"
    now += 20.0
    lines.tell("naming", 0.0)
    now += 5.0
    lines.tell("naming", 0.25)
    now += 5.0
    lines.tell("naming", 0.5)
    assert capsys.readouterr().err == "pagekin: naming 50%, 0:10 left\n"  # and not 300 % a minute


def test_no_time_is_promised_without_a_rate_and_none_grows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(command.time, "monotonic", lambda: now)
    monkeypatch.setattr(command.CompilingLines, "latest", -100.0)
    lines = command.ProgressLines()
    lines.tell("trying", 0.0)
    now = 100.0
    lines.tell("trying", 0.5)
    now = 140.0
    lines.remind()
    assert capsys.readouterr().err.splitlines() == ["pagekin: trying 50%"] * 2  # a single step is no rate
    lines.tell("trying", 0.75)
    now = 180.0
    lines.remind()
    now = 215.0
    lines.remind()
    assert capsys.readouterr().err.splitlines() == [
        "pagekin: trying 75%, 32.1% a minute, 0:07 left",  # counted from the last step
        "pagekin: trying 75%",  # it should be over: nobody knows how long it takes
    ]
    lines.tell("writing", 0.0)
    lines.tell("writing", 0.25)
    now = 250.0
    lines.tell("writing", 0.5)
    now = 284.6
    lines.remind()
    assert capsys.readouterr().err.splitlines() == [
        "pagekin: writing 50%, 85.7% a minute, 0:35 left",
        "pagekin: writing 50%",  # half is left, and no second for it
    ]


def test_lines_of_progress_are_silent_while_lines_tell_of_compiling(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(command.time, "monotonic", lambda: now)
    monkeypatch.setattr(command.CompilingLines, "latest", 0.0)
    lines, compiling = command.ProgressLines(), command.CompilingLines()
    lines.tell("starting", 0.0)
    compiling.tell(CompileProgress(0, 2, 1, 60.0))
    now = 29.0
    compiling.tell(CompileProgress(1, 2, 1, 20.0))
    now = 40.0
    lines.remind()
    now = 58.0
    lines.remind()
    compiling.tell(CompileProgress(2, 2, 1, 0.0))
    lines.remind()
    now = 91.0
    lines.remind()
    assert capsys.readouterr().err.splitlines() == [
        "pagekin: compiling 2 kernels, only this once: a process, about 1:00 ...",
        "pagekin: compiled 50%, about 0:20 left",
        "pagekin: compiled in 0:58, and cached for the next time.",
        "pagekin: starting 0%",
    ]


def test_another_programs_log_hears_of_progress_and_compiling_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(command.time, "monotonic", lambda: now)
    monkeypatch.setattr(command.CompilingLines, "latest", 0.0)
    lines: list[str] = []
    with command.log_progress(lines.append) as tell:
        tell("reading", 0.0)
        tell_watches(CompileProgress(0, 4, 1, 60.0))
        now = 20.0
        tell_watches(CompileProgress(1, 4, 1, 45.0))
        tell_watches(CompileProgress(4, 4, 1, 0.0))
        now = 60.0
        tell("reading", 0.5)
    tell_watches(CompileProgress(4, 4, 1, 0.0))
    assert [line.split(",")[0] for line in lines] == [
        "pagekin: compiling 4 kernels",
        "pagekin: compiled 25%",
        "pagekin: compiled in 0:20",
        "pagekin: reading 50%",
    ]


def test_showing_loads_neither_the_compiler_nor_another_verb(collection: Path) -> None:
    code = (
        "import sys; sys.argv = ['pagekin', 'info', sys.argv[1]]\n"
        "from pagekin.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "slow = {'numba', 'scipy', 'rich', 'pydantic', 'importlib.metadata', 'pagekin.cli.read'} & set(sys.modules)\n"
        "assert not slow, slow"
    )
    done = subprocess.run([sys.executable, "-c", code, str(collection)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_in_any_verb_is_answered_with_a_sentence(collection: Path) -> None:
    code = (
        "import sys; sys.argv = ['pagekin', 'info', sys.argv[1]]\n"
        "from pagekin import store\n"
        "def stop(*_given): raise KeyboardInterrupt\n"
        "store.open_kin = stop\n"
        "from pagekin.cli import main\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(collection)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "pagekin: stopped; collections are as they were.\n")


def test_the_help_has_six_things_first_and_every_verb_once() -> None:
    done = pagekin("-h")
    assert done.returncode == 0
    assert done.stdout == pagekin("--help").stdout
    groups = re.findall(r"^(\w[^\n]*):\n((?:  .*\n)+)", done.stdout, re.MULTILINE)
    named = {heading: re.findall(r"^  ([\w-]+)  +(.+)$", rows, re.MULTILINE) for heading, rows in groups[1:]}
    assert [verb for verb, _about in named["Start here"]] == ["demo", "build", "search", "related", "serve", "site"]
    shown = [row for rows in named.values() for row in rows]
    assert [verb for verb, _about in shown] == VERBS
    assert not [text for _, text in shown if text.endswith("...")], "a verb's first sentence is too long for the list"
    assert "Usage: " in pagekin("network", "up", "-h").stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_found_by_its_name_alone(verb: str) -> None:
    done = pagekin(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^Usage: .* {verb} ", done.stdout)


def test_the_demo_reads_and_shows_itself(tmp_path: Path) -> None:
    done = pagekin("demo", "--no-serve", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "carbon" in done.stdout.lower()
    again = pagekin("demo", "--no-serve", cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_a_reader_that_goes_away_is_no_error(collection: Path) -> None:
    command = [sys.executable, "-m", "pagekin", "info", str(collection), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.parametrize(
    ("verb", "given", "taken"),
    [
        ("bag", ["x.kin", "URL", "-n", "5"], ["x.kin", "URL", "-k", "5"]),
        ("refine", ["--count=5", "x.kin"], ["--limit=5", "x.kin"]),
        ("duplicates", ["-n5", "--", "-n"], ["-k5", "--", "-n"]),
        ("build", ["--limit", "links=9"], ["--set-limit", "links=9"]),
        ("search", ["--limit", "9"], ["--limit", "9"]),
        ("network", ["up", "net", "--processes", "2"], ["up", "net", "--workers", "2"]),
        ("network", [], []),
    ],
)
def test_options_of_earlier_versions_are_still_taken(verb: str, given: list[str], taken: list[str]) -> None:
    assert rename_options(verb, given) == taken


def test_a_shell_can_complete_verbs_and_options() -> None:
    def complete(words: str, place: int) -> list[str]:
        environment = {
            **os.environ, "_PAGEKIN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place),
        }  # fmt: skip
        code = "import sys; sys.argv = ['pagekin']; from pagekin.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
        )
        return done.stdout.split()

    assert complete("pagekin rel", 1) == ["related"]
    assert "--since" in complete("pagekin search --s", 2)


@pytest.mark.parametrize("verb", ["search", "select", "expand", "suggest"])
def test_the_words_of_a_question_need_no_quotes(demo_kin: Path, verb: str) -> None:
    quoted, plain = (pagekin(verb, demo_kin, *words, "--json") for words in (["noble gas"], ["noble", "gas"]))
    assert plain.returncode == 0, plain.stderr
    assert json.loads(plain.stdout)["results"] == json.loads(quoted.stdout)["results"] != []
