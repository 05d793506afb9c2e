"""`pagekin update` and `compact` as a user meets them: what they say, and what they refuse."""

import json
from pathlib import Path

import pytest

from tests.bags.webs import record
from tests.command import pagekin
from tests.engines.living import archive, files_of, not_found, page_urls

SEA = "http://sea.example/"


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("archives")
    pages = [
        record(f"{SEA}{name}", f"<title>{name}</title><p>All {name} swim below the ice.", "2001-01-01T00:00:00Z")
        for name in ("whales", "seals", "krill", "penguins")
    ]
    later = [record(f"{SEA}squid", "<title>squid</title><p>Giant squid swim.", "2002-01-01T00:00:00Z")]
    later.append(not_found(f"{SEA}seals", "2002-01-01T00:00:00Z"))
    return [archive(folder, "first.warc", pages), archive(folder, "second.warc", later)]


def test_update_remove_compact_and_info_tell_what_they_did(archives: list[str], tmp_path: Path) -> None:
    kin, fresh = tmp_path / "sea.kin", tmp_path / "fresh" / "sea.kin"  # the label has the name
    common = ("--parser", "strict", "--workers", "1", "--no-clusters")
    done = pagekin("build", archives[0], "--out", kin, "--updatable", *common)
    assert done.returncode == 0, done.stderr
    done = pagekin("update", kin, archives[1], archives[0], "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "1 page new, 0 changed, 1 gone; 4 pages now" in done.stdout
    assert "the collection was made anew, because it has fewer than 2,000 pages" in done.stdout
    assert "first.warc was read before, and is left out" in done.stderr
    (tmp_path / "list.txt").write_text(f"{SEA}krill  # by mail\nelsewhere.example\n")
    told = json.loads(pagekin("update", kin, "--remove-from", tmp_path / "list.txt", "--workers", "1", "--json").stdout)
    assert (told["pages"], told["changed"]) == ({"added": 0, "changed": 0, "removed": 1}, True)
    assert (told["way"], told["reason"][:27]) == ("merge", "the collection was made ane")
    assert told["opted_out"] == [f"{SEA}krill", "elsewhere.example"]
    shown = pagekin("info", kin).stdout
    assert "parts of 2 sources are kept" in shown
    assert "left out   1 address and 1 host, permanently" in shown
    kept = json.loads(pagekin("info", kin, "--json").stdout)["kept"]
    assert [source["names"] for source in kept["sources"]] == [["first.warc"], ["second.warc"]]
    assert kept["updatable"] and kept["bytes"] > 1_000 and kept["updated"] >= kept["built"] > "2020"
    done = pagekin("compact", kin, "--workers", "1")
    assert "3 pages, the same as after a build of all its sources" in done.stdout
    done = pagekin("build", *archives, "--out", fresh, "--opt-outs", tmp_path / "list.txt", *common)
    assert done.returncode == 0, done.stderr
    assert files_of(kin) == files_of(fresh)
    assert page_urls(kin) == {f"{SEA}{name}" for name in ("whales", "penguins", "squid")}


def test_a_delta_says_what_stays_and_erase_what_it_writes_again(archives: list[str], tmp_path: Path) -> None:
    kin = tmp_path / "sea.kin"
    pagekin("build", archives[0], "--out", kin, "--updatable", "--parser", "strict", "--workers", "1", "--no-clusters")
    done = pagekin("update", kin, "--remove", f"{SEA}krill", "--delta", "--workers", "1")
    assert "the update was put into a delta" in done.stdout and "as was asked for" in done.stdout
    assert f"pagekin update {kin} --erase" in " ".join(done.stdout.split())
    told = " ".join(pagekin("info", kin, "--drift", "--workers", "1").stdout.split())
    assert "words are weighed as of then. 1 page has come, changed or gone since, 25.0 %" in told
    assert "an update makes all anew when it would have more than 20 %" in told and "--erase" in told
    assert "of the first ten related pages" in told
    done = pagekin("update", kin, "--erase", "--workers", "1")
    assert "erased: all files of the collection and 1 of its parts were written again" in done.stdout
    done = pagekin("update", kin, archives[1], "--merge", "--workers", "1")
    assert "made anew, because this was asked for" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 2, "there is nothing to do"),
        (["--remove", "sea.example"], 2, "--remove: 'sea.example' is not an http(s) address"),
        (["--remove-site", f"{SEA}krill"], 2, "krill' is neither a host, such as example.org"),
        (["--remove-from", "missing.txt"], 2, "missing.txt cannot be read"),
        (["--erase", "--delta"], 2, "give only one of them"),
        (["--expire", "soon"], 2, "90d, 12w or 1y"),
        (["--remove", f"{SEA}krill"], 3, "--updatable"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    arguments: list[str], code: int, message: str, archives: list[str], bare: Path
) -> None:
    before = files_of(bare)
    done = pagekin("update", bare, *arguments)
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.split())
    assert files_of(bare) == before


@pytest.fixture(scope="module")
def bare(archives: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection without clusters that keeps nothing."""
    kin = tmp_path_factory.mktemp("bare") / "bare.kin"
    done = pagekin(
        "build", archives[0], "--out", kin, "--parser", "strict", "--workers", "1", "--no-clusters", "--no-text"
    )
    assert done.returncode == 0, done.stderr
    return kin
