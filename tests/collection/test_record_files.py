"""Records of pages for other programs, with warcio and our own reader as judges."""

import csv
import gzip
import hashlib
import io
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner
from warcio.archiveiterator import ArchiveIterator

from pagekin.bags import Strategy
from pagekin.cli.app import app, load_verbs
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import Corpus, ReadPlan, canonical_url, read_sources
from tests.sources.test_provenance import index_by_warcio

ARCHIVES = ("webrecorder+pywb-iana.warc.gz", "archivesunleashed+aut-example.arc.gz")


@pytest.fixture(scope="module")
def kin(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("records") / "crawl.kin"
    build_collection(
        ReadPlan([str(data / "warc" / name) for name in ARCHIVES], out), BuildRecipe(Strategy(), text=True)
    )
    return out


def run(*arguments: str | Path) -> tuple[int, str]:
    load_verbs(str(arguments[0]))
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done.exit_code, done.output


def urls_in(path: Path) -> set[str | None]:
    return {canonical_url(url) for url in index_by_warcio(path.read_bytes()).values() if url}


def test_a_cdxj_index_names_the_records_that_warcio_finds(kin: Path, data: Path, tmp_path: Path) -> None:
    code, said = run("export", kin, "--cdxj", tmp_path / "crawl.cdxj")
    assert code == 0, said
    lines = (tmp_path / "crawl.cdxj").read_bytes().splitlines()
    assert lines == sorted(lines)
    assert len(lines) == len(Corpus.open(kin))
    indexes = {name: index_by_warcio((data / "warc" / name).read_bytes()) for name in ARCHIVES}
    for line in lines:
        key, stamp, told = line.decode().split(" ", 2)
        about = json.loads(told)
        assert canonical_url(indexes[about["filename"]][int(about["offset"]), int(about["length"])]) == about["url"]
        assert len(stamp) == 14 and ")/" in key


def test_a_wacz_holds_the_records_their_index_and_the_pages(kin: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "crawl.wacz"
    code, said = run("export", kin, "--wacz", out, "--archives", data / "warc", "--json")
    assert code == 0, said
    corpus = Corpus.open(kin)
    titles = {corpus.page_url(page): corpus.titles.text(page) for page in range(len(corpus))}
    assert json.loads(said)[str(out)]["rows"] == len(titles)
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
        package = json.loads(archive.read("datapackage.json"))
        for resource in package["resources"]:
            content = archive.read(resource["path"])
            assert (resource["hash"], resource["bytes"]) == (
                f"sha256:{hashlib.sha256(content).hexdigest()}",
                len(content),
            )
        digest = json.loads(archive.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{hashlib.sha256(archive.read('datapackage.json')).hexdigest()}"
        head, *pages = map(json.loads, archive.read("pages/pages.jsonl").splitlines())
        assert head["format"] == "json-pages-1.0"
        assert {page["url"]: page["title"] for page in pages} == titles
        index = index_by_warcio(archive.read("archive/data.warc.gz"))
        for line in archive.read("indexes/index.cdxj").decode().splitlines():
            about = json.loads(line.split(" ", 2)[2])
            assert canonical_url(index[int(about["offset"]), int(about["length"])]) == about["url"]
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    # What was copied reads as it did in its archives: the same pages with the same words.
    again = tmp_path / "again.kin"
    read_sources(ReadPlan([str(out)], again))
    copy = Corpus.open(again)
    assert {copy.page_url(page): copy.titles.text(page) for page in range(len(copy))} == titles
    assert copy.facts["words"] == corpus.facts["words"]
    # And the records of a WACZ can be copied in turn.
    assert run("export", again, "--wacz", tmp_path / "third.wacz", "--archives", out, "-q") == (0, "")
    assert (tmp_path / "third.wacz").stat().st_size > 10_000


def test_digests_are_those_that_the_records_name(kin: Path, data: Path, tmp_path: Path) -> None:
    named = {}
    for record in ArchiveIterator(io.BytesIO((data / "warc" / ARCHIVES[0]).read_bytes())):
        if record.rec_type == "response":
            named[canonical_url(record.rec_headers["WARC-Target-URI"])] = record.rec_headers["WARC-Payload-Digest"]
    files = [tmp_path / "pages.jsonl", tmp_path / "crawl.cdxj"]
    options = ("--pages", files[0], "--cdxj", files[1], "-q")
    assert run("export", kin, *options, "--archives", data / "warc") == (0, "")
    rows = [json.loads(line) for line in files[0].read_text().splitlines()]
    lines = [json.loads(line.split(" ", 2)[2]) for line in files[1].read_text().splitlines()]
    digests = {row["url"]: row["content_digest"] for row in rows if row["warc_filename"] == ARCHIVES[0]}
    assert digests and all(f"sha1:{digest}" == named[url] for url, digest in digests.items())
    assert {line["url"]: line["digest"] for line in lines if "digest" in line} == {url: named[url] for url in digests}
    # Records of ARC files name none; nor is any known without the archives, or for records that are elsewhere now.
    assert {row["content_digest"] for row in rows if row["warc_filename"] == ARCHIVES[1]} == {None}
    shutil.copy(data / "warc" / "archivesunleashed+aut-example.warc.gz", tmp_path / ARCHIVES[0])
    for archives in ([], ["--archives", tmp_path / ARCHIVES[0]]):
        assert run("export", kin, *options, *archives) == (0, "")
        assert {json.loads(line)["content_digest"] for line in files[0].read_text().splitlines()} == {None}
        assert b"digest" not in files[1].read_bytes()


def test_results_are_written_as_records_and_as_csv(kin: Path, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "hits.warc.gz"
    asked = ("search", kin, "domain", "-k", "5")
    code, said = run(*asked, "--warc", out, "--archives", data / "warc", "--csv", tmp_path / "hits.csv")
    assert code == 0, said
    with (tmp_path / "hits.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows and {row["url"] for row in rows} == urls_in(out)
    assert f"{len(rows)} records of {len(rows)} results" in said
    kinds = [record.rec_type for record in ArchiveIterator(io.BytesIO(out.read_bytes()))]
    assert kinds == ["warcinfo", *["response"] * len(rows)]
    code, said = run(*asked, "--csv", "-")
    assert [row["url"] for row in csv.DictReader(io.StringIO(said))] == [row["url"] for row in rows]


def test_what_cannot_be_copied_is_counted_with_the_reason(kin: Path, data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "moved"
    folder.mkdir()
    # One archive is not there, and another file has the name of the other.
    shutil.copy(data / "warc" / ARCHIVES[1], folder / ARCHIVES[0])
    code, said = run("export", kin, "--wacz", tmp_path / "none.wacz", "--archives", folder)
    assert code == 0, said
    assert "94 archive not given" in said and "another record stands there" in said
    # Of several files of one name, that with the record is taken.
    (folder / "below").mkdir()
    shutil.copy(data / "warc" / ARCHIVES[0], folder / "below" / ARCHIVES[0])
    code, said = run("export", kin, "--wacz", tmp_path / "some.wacz", "--archives", folder)
    assert "another record stands there" not in said


def test_records_of_a_plain_file_are_compressed_when_they_are_copied(data: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain.warc"
    plain.write_bytes(gzip.decompress((data / "warc" / ARCHIVES[0]).read_bytes()))
    read_sources(ReadPlan([str(plain)], tmp_path / "plain.kin"))
    code, said = run("export", tmp_path / "plain.kin", "--wacz", tmp_path / "plain.wacz", "--archives", plain)
    assert code == 0 and "not copied" not in said, said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--wacz", "out.wacz"], "--archives"),
        (["--wacz", "out.zip", "--archives", "."], "must end in .wacz"),
        (["--wacz", "out.wacz", "--archives", "nowhere"], "nowhere does not exist"),
    ],
)
def test_an_export_of_records_that_cannot_be_is_refused(kin: Path, arguments: list[str], said: str) -> None:
    code, told = run("export", kin, *arguments)
    assert code in (2, 3) and said in told
