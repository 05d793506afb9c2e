"""Sources and collections in an object store, by the local engine: the same bytes as from and on a disk."""

import gzip
from pathlib import Path

import pytest

from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe, build_here
from pagekin.engines.targets import prepare_target
from pagekin.hypertext import ReadPlan
from pagekin.sources import Limits, SourceError, plan_units, read_unit
from pagekin.store import KinError, Storage, StorageError, fetch, open_kin
from tests.sources.making import members, some_records

from .collections import files_of

REAL = ["archivesunleashed+aut-example.arc.gz", "webrecorder+pywb-iana.warc.gz"]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "made.warc.gz"
    path.write_bytes(b"".join(members(some_records())))
    return path


def build(source: str, out: Path | str, shards: int = 1, replace: bool = False) -> None:
    """Build with an index alone."""
    build_here(
        ReadPlan([source], Path("site.kin"), parser="strict", replace=replace), out, shards, BuildRecipe(Strategy())
    )


@pytest.mark.parametrize("name", REAL)
def test_an_archive_reads_the_same_wherever_it_lies(bucket: str, data: Path, name: str) -> None:
    Storage(bucket).upload(data / "warc" / name, f"real/{name}")
    here, there = ([*plan_units([source], {})] for source in (str(data / "warc" / name), f"{bucket}/real/{name}"))
    assert [(unit.kind, unit.start, unit.end, unit.where) for unit in here] == [
        (unit.kind, unit.start, unit.end, unit.where) for unit in there
    ]
    for one, other in zip(here, there, strict=True):
        assert list(read_unit(one, Limits())) == list(read_unit(other, Limits()))


def test_a_build_from_a_list_in_a_store_to_the_store_and_back(bucket: str, archive: Path, tmp_path: Path) -> None:
    store, out = Storage(bucket), f"{bucket}/local/site.kin"
    store.upload(archive, "files/made.warc.gz")
    store.write("warc.paths.gz", gzip.compress(b"files/made.warc.gz\n"))
    build(f"{bucket}/warc.paths.gz", out)
    build(str(archive), tmp_path / "here.kin")
    fetch(out, tmp_path / "fetched.kin")
    assert files_of(tmp_path / "fetched.kin") == files_of(tmp_path / "here.kin")
    build(str(archive), out, shards=2)
    fetch(out, tmp_path / "fetched.kin")
    build(str(archive), tmp_path / "shards.kin", shards=2)
    assert files_of(tmp_path / "fetched.kin") == files_of(tmp_path / "shards.kin")
    assert set(Storage(out).names()) == set(files_of(tmp_path / "shards.kin"))  # nothing is left of the first build
    fetch(out, tmp_path / "shard.kin", shard=1)
    folder = open_kin(tmp_path / "shards.kin").facts["shards"][1]["folder"]
    assert files_of(tmp_path / "shard.kin") == files_of(tmp_path / "shards.kin" / folder)
    with pytest.raises(KinError, match="has 2 shards, from 0; there is no shard 2"):
        fetch(out, tmp_path / "none.kin", shard=2)


def test_a_collection_of_other_sources_is_not_replaced_unless_that_is_asked_for(
    bucket: str, archive: Path, tmp_path: Path
) -> None:
    out = f"{bucket}/kept/site.kin"
    build(str(archive), out)
    before = Storage(out).names()
    other = archive.with_name("other.warc.gz")
    other.write_bytes(archive.read_bytes())
    with pytest.raises(KinError, match=r"site\.kin holds a collection of other sources: made\.warc\.gz"):
        build(str(other), out)
    assert Storage(out).names() == before
    build(str(other), out, replace=True)


def test_what_was_damaged_in_a_store_is_not_fetched(bucket: str, archive: Path, tmp_path: Path) -> None:
    out = f"{bucket}/damaged/site.kin"
    build(str(archive), out)
    fetch(out, tmp_path / "kept.kin")
    before = files_of(tmp_path / "kept.kin")
    name = next(name for name in Storage(out).names() if name.startswith("page.digest"))
    raw = bytearray(Storage(out).read(name))
    raw[-1] ^= 1
    Storage(out).write(name, bytes(raw))
    with pytest.raises(KinError, match="checksum differs"):
        fetch(out, tmp_path / "kept.kin")
    Storage(out).remove(name)
    with pytest.raises(KinError, match="which its manifest names"):
        fetch(out, tmp_path / "kept.kin")
    assert files_of(tmp_path / "kept.kin") == before


def test_a_store_that_does_not_give_a_file_is_no_damaged_record(bucket: str, archive: Path) -> None:
    Storage(bucket).upload(archive, "gone/made.warc.gz")
    (unit,) = plan_units([f"{bucket}/gone/made.warc.gz"], {})
    items = read_unit(unit, Limits())
    next(items)
    Storage(bucket).remove("gone/made.warc.gz")
    with pytest.raises(StorageError, match="does not exist"):
        list(read_unit(unit, Limits()))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.warc.gz", r"none\.warc\.gz does not exist"),
        ("none.paths.gz", r"none\.paths\.gz does not exist"),
        ("page.html", "is not something that Pagekin reads"),
    ],
)
def test_what_cannot_be_a_source_is_named(bucket: str, name: str, said: str) -> None:
    Storage(bucket).write("page.html", b"<p>")
    with pytest.raises((SourceError, StorageError), match=said):
        plan_units([f"{bucket}/{name}"], {})


def test_no_collection_at_an_address(bucket: str, tmp_path: Path) -> None:
    with pytest.raises(KinError, match=r"nothing\.kin is not a finished Pagekin collection"):
        fetch(f"{bucket}/nothing.kin", tmp_path / "site.kin")
    assert not (tmp_path / "site.kin").exists()


def test_what_a_collection_keeps_is_not_lost_to_one_that_was_made_elsewhere(
    bucket: str, archive: Path, tmp_path: Path
) -> None:
    out, kept = f"{bucket}/elsewhere/site.kin", tmp_path / "kept.kin"
    build(str(archive), out)
    build_here(ReadPlan([str(archive)], kept, parser="strict", keep=True), kept, 1, BuildRecipe(Strategy()))
    before = files_of(kept)
    with pytest.raises(KinError, match="would lose that"):
        fetch(out, kept)
    with pytest.raises(KinError, match="would lose that"), prepare_target(kept, True, []):
        pass
    assert files_of(kept) == before
