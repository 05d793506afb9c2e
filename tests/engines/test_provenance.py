"""Every page says which record of which archive it was read from, however the collection was made."""

import json
from pathlib import Path

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import pagekin
from pagekin.bags import Strategy
from pagekin.cli.app import app, load_verbs
from pagekin.engines import BuildRecipe, build_collection, build_shards, update_collection
from pagekin.hypertext import Corpus, OptOuts, ReadPlan, open_corpora, read_sources
from pagekin.sources import RecordPlace
from pagekin.store import KinError, KinWriter, open_kin
from tests.engines.living import files_of
from tests.sources.making import html, http, members, warc
from tests.sources.test_provenance import index_by_warcio

Places = dict[str, RecordPlace]


def places_in(path: Path) -> Places:
    return {corpus.page_url(page): corpus.place(page) for corpus in open_corpora(path) for page in range(len(corpus))}


def write_archive(path: Path, numbers: range, date: str = "2020-01-02T03:04:05Z") -> Path:
    records = [warc(f"http://made.test/{number}", http(html(number)), date=date) for number in numbers]
    path.write_bytes(b"".join(members(records)))
    return path


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    """Two archives that both have the same captures of the pages 4 to 7, at other offsets."""
    return [
        str(write_archive(tmp_path / "b.warc.gz", range(8))),
        str(write_archive(tmp_path / "a.warc.gz", range(4, 12))),
    ]


def test_places_depend_neither_on_the_order_of_archives_nor_on_workers(archives: list[str], tmp_path: Path) -> None:
    outs = []
    for number, (sources, workers) in enumerate([(archives, 1), (archives[::-1], 1), (archives, 2)]):
        outs.append(tmp_path / f"{number}.kin")
        read_sources(ReadPlan(sources, outs[-1], "strict", workers))
    assert files_of(outs[0]) == files_of(outs[1]) == files_of(outs[2])
    named = {url[len("http://made.test/") :]: place.archive for url, place in places_in(outs[0]).items()}
    # Of one capture in two archives, the record in the one that comes first by its name is told.
    assert named == {str(number): "b.warc.gz" if number < 4 else "a.warc.gz" for number in range(12)}


def test_real_archives_are_named_in_shards_updates_and_tables(data: Path, tmp_path: Path) -> None:
    sources = [data / "warc" / f"{name}.warc.gz" for name in ("webrecorder+pywb-iana", "archivesunleashed+aut-example")]
    index = {
        (source.name, *place): url for source in sources for place, url in index_by_warcio(source.read_bytes()).items()
    }
    whole, shards, updated = (tmp_path / f"{name}.kin" for name in ("whole", "shards", "updated"))
    plan = ReadPlan([str(source) for source in sources], whole, workers=1)
    build_collection(plan, BuildRecipe(Strategy()))
    build_shards(ReadPlan(plan.sources, shards, workers=1), 2, BuildRecipe(Strategy()))
    build_collection(ReadPlan(plan.sources[:1], updated, workers=1, keep=True), BuildRecipe(Strategy()))
    update_collection(updated, plan.sources[1:])
    places = places_in(whole)
    assert {place.archive for place in places.values()} == {source.name for source in sources}
    assert all(place in index for place in places.values())
    assert places_in(shards) == places_in(updated) == places
    gone = next(iter(places))
    update_collection(updated, opt_outs=OptOuts.parse([gone], []))
    left = places_in(updated)
    assert left == {url: place for url, place in places.items() if url in left}
    assert gone not in left

    load_verbs("export")
    load_verbs("page")
    table = tmp_path / "pages.parquet"
    assert CliRunner().invoke(app, ["export", str(whole), "--pages", str(table), "-q"]).exit_code == 0
    columns = ("warc_filename", "warc_record_offset", "warc_record_length")
    rows = pyarrow.parquet.read_table(table).to_pylist()
    assert {row["url"]: tuple(row[name] for name in columns) for row in rows} == places
    url, place = next(iter(places.items()))
    about = json.loads(CliRunner().invoke(app, ["page", str(whole), url, "--json"]).output)
    assert tuple(about[name] for name in columns) == place
    said = CliRunner().invoke(app, ["page", str(whole), url]).output
    assert f"{place.archive}, {place.length:,} bytes at {place.offset:,}" in said


def test_a_collection_of_an_earlier_version_opens_and_says_how_to_renew_it(tmp_path: Path) -> None:
    path = tmp_path / "old.kin"
    plan = ReadPlan([str(write_archive(tmp_path / "a.warc.gz", range(3)))], path, "strict")
    build_collection(plan, BuildRecipe(Strategy()))
    kin = open_kin(path)
    with KinWriter(path, "test") as writer:
        files = kin.manifest["files"].items()
        writer.commit(kin.facts, {name: entry for name, entry in files if not name.startswith(("record.", "archive."))})
    corpus = Corpus.open(path)
    assert not corpus.has_places
    with pytest.raises(KinError, match=r"an earlier Pagekin made it.*pagekin build SOURCE"):
        corpus.place(0)
    with pagekin.open(path) as index:
        assert "warc_filename" not in index.page("http://made.test/1")
        assert {row["warc_filename"] for row in index.pages().rows()} == {None}
