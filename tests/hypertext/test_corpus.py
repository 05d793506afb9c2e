"""Sources to a collection: what is stored is what was read, however the work is divided."""

import gzip
import io
import json
import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pagekin.hypertext import (
    Corpus,
    DamagedInputError,
    ReadPlan,
    WorkerError,
    check_corpus,
    read_sources,
    read_strictly,
)
from pagekin.hypertext import read as reading
from pagekin.similarity import INDEX_ARRAYS
from pagekin.sources import Limits
from pagekin.sources import plan as planning
from pagekin.store import check_files, open_kin
from tests.bags.webs import moved, read_records, record


def response(url: str, html: str, date: str = "2020-01-01T00:00:00Z", status: str = "200 OK", **headers: str) -> tuple:
    return url, html, date, status, headers


def write_warc(path: Path, *records: tuple) -> Path:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=path.suffix == ".gz")
        for url, html, date, status, headers in records:
            http = StatusAndHeaders(
                status,
                [("Content-Type", "text/html"), *headers.items()],
                protocol="HTTP/1.1",
                is_http_request=False,
            )
            record = writer.create_warc_record(
                url,
                "response",
                payload=io.BytesIO(html.encode()),
                http_headers=http,
                warc_headers_dict={"WARC-Date": date},
            )
            writer.write_record(record)
    return path


def read_into(out: Path, *sources: Path | str, **options: object) -> Corpus:
    options.setdefault("workers", 1)
    read_sources(ReadPlan([str(s) for s in sources], out, **options))  # type: ignore[arg-type]
    assert list(check_files(out)) == []
    assert list(check_corpus(open_kin(out))) == []
    return Corpus.open(out)


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.name != ".lock"}


PAGE = """<html lang="en"><title>Carbon facts</title><body><h1>Carbon</h1><p>Carbon is an element. Read about
<a href="/diamond.html">diamond</a>, a form of it, or <a href="http://elsewhere.example/x#y" rel=nofollow>elsewhere</a>."""


@pytest.mark.parametrize("parser", ["fast", "strict"])
def test_a_page_is_described_as_it_was_read(tmp_path: Path, parser: str) -> None:
    warc = write_warc(
        tmp_path / "a.warc.gz",
        response("http://a.example/carbon.html", PAGE),
        response(
            "http://a.example/diamond.html",
            "<title>Diamond</title><p>Back to <a href=carbon.html>carbon pages</a> now",
        ),
    )
    corpus = read_into(tmp_path / "a.kin", warc, parser=parser)
    about = corpus.describe("http://a.example/carbon.html")
    assert about is not None
    truth = read_strictly(PAGE, Limits())
    assert about["title"] == "Carbon facts"
    assert about["language"] == "en"
    assert about["words"]["text"] == [w for w, a in zip(truth.words, truth.attributes, strict=True) if a & 32]
    assert about["words"]["header"] == ["carbon"]
    first, second = about["anchors_out"]
    assert first["target"] == "http://a.example/diamond.html"
    assert first["text"] == "diamond"
    assert first["left"] == ["carbon", "carbon", "is", "an", "element", "read", "about"]
    assert first["right"] == ["a", "form", "of", "it", "or", "elsewhere"]
    assert second["target"] == "http://elsewhere.example/x"
    assert second["nofollow"] is True
    (incoming,) = about["anchors_in"]
    assert incoming["source"] == "http://a.example/diamond.html"
    assert (incoming["left"], incoming["text"], incoming["right"]) == (
        ["back", "to"],
        "carbon pages",
        ["now"],
    )
    other = corpus.describe("http://elsewhere.example/x")
    assert other is not None
    assert other["captured"] is False
    assert len(other["anchors_in"]) == 1
    text, at = corpus.text_bytes(0)
    assert [text[i:].split()[0].lower()[:3] for i in at[:2]] == [b"car", b"fac"]


def test_windows_hold_at_most_32_words_a_side(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(50)]
    html = f"<title>t</title><p>{' '.join(words)} <a href=b>x</a> {' '.join(words)}"
    corpus = read_into(tmp_path / "a.kin", write_warc(tmp_path / "a.warc", response("http://a.example/", html)))
    (anchor,) = corpus.describe("http://a.example/")["anchors_out"]  # type: ignore[index]
    assert anchor["left"] == words[-32:]
    assert anchor["right"] == words[:32]


def test_the_newest_capture_wins_unless_all_are_kept(tmp_path: Path) -> None:
    warc = write_warc(
        tmp_path / "a.warc.gz",
        response("http://a.example/", "<title>new</title>unique", "2021-01-01T00:00:00Z"),
        response("http://a.example/", "<title>old</title>forgotten", "2019-01-01T00:00:00Z"),
    )
    corpus = read_into(tmp_path / "one.kin", warc)
    assert [corpus.titles.text(i) for i in range(len(corpus))] == ["new"]
    assert corpus.facts["skipped"]["older capture"] == 1
    assert corpus.facts["html_records"] == 2
    assert corpus.term_number("forgotten") == -1
    assert corpus.term_number("unique") >= 0
    every = read_into(tmp_path / "all.kin", warc, all_captures=True)
    assert [every.titles.text(i) for i in range(len(every))] == ["new", "old"]


def test_redirects_and_canonical_addresses_are_aliases_of_one_page(tmp_path: Path) -> None:
    warc = write_warc(
        tmp_path / "a.warc.gz",
        response("http://a.example/old", "", status="301 Moved", Location="/older"),
        response("http://a.example/older", "", status="302 Found", Location="/new"),
        response("http://a.example/new", "<title>new</title>"),
        response("http://a.example/new?print=1", "<title>new</title><link rel=canonical href='/new'>"),
        response("http://a.example/lonely?x", "<title>lonely</title><link rel=canonical href='/lonely'>"),
        response("http://a.example/loop1", "", status="301 Moved", Location="/loop2"),
        response("http://a.example/loop2", "", status="301 Moved", Location="/loop1"),
        response(
            "http://a.example/",
            "<a href=old>o</a> <a href='new?print=1'>p</a> <a href=lonely>l</a><a href=loop1>x</a>",
        ),
    )
    corpus = read_into(tmp_path / "a.kin", warc)
    assert len(corpus) == 3
    new = corpus.describe("http://a.example/old")
    assert new is not None
    assert new["url"] == "http://a.example/new"
    assert [anchor["text"] for anchor in new["anchors_in"]] == ["o", "p"]
    assert sorted(new["aliases"]) == [f"http://a.example/{n}" for n in ("new?print=1", "old", "older")]
    lonely = corpus.describe("http://a.example/lonely")
    assert lonely is not None
    assert lonely["url"] == "http://a.example/lonely?x"
    assert [anchor["text"] for anchor in lonely["anchors_in"]] == ["l"]
    assert corpus.facts["skipped"]["canonical elsewhere"] == 1


def test_a_canonical_address_that_every_page_names_is_not_believed(tmp_path: Path) -> None:
    records = [
        response(
            f"http://a.example/{i}",
            f"<title>page {i}</title><link rel=canonical href='http://a.example/'>word{i}",
        )
        for i in range(30)
    ]
    corpus = read_into(
        tmp_path / "a.kin",
        write_warc(tmp_path / "a.warc.gz", response("http://a.example/", "home"), *records),
    )
    assert len(corpus) == 31
    assert corpus.facts["skipped"]["canonical not believed"] == 30


def test_the_bytes_do_not_depend_on_workers_order_or_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        response(
            f"http://{'abc'[i % 3]}.example/{i * 7 % 50}",
            f"<title>Page {i}</title><p>common {'x' * (i % 9)} word{i} <a href=/{i * 3 % 50}>link {i}</a> é{i % 4}",
            f"2020-01-{1 + i % 28:02}T00:00:00Z",
        )
        for i in range(120)
    ]
    one = write_warc(tmp_path / "one.warc.gz", *records[:60])
    two = write_warc(tmp_path / "two.warc", *records[60:])
    read_into(tmp_path / "first.kin", one, two)
    expected = files_of(tmp_path / "first.kin")
    read_into(tmp_path / "workers.kin", one, two, workers=2)
    assert files_of(tmp_path / "workers.kin") == expected
    read_into(tmp_path / "order.kin", two, one)
    assert files_of(tmp_path / "order.kin") == expected
    monkeypatch.setattr(planning, "UNIT_BYTES", 2_000)
    monkeypatch.setattr(reading, "PART_TOKENS", 50)
    assert len(planning.plan_units([str(one), str(two)], {})) > 6
    read_into(tmp_path / "pieces.kin", one, two)
    assert files_of(tmp_path / "pieces.kin") == expected


def kill_workers(_out: Path) -> None:
    for process in multiprocessing.active_children():
        process.kill()


def remove_parts(out: Path) -> None:
    shutil.rmtree(out / ".resume", ignore_errors=True)


@pytest.mark.parametrize(
    ("harm", "message"),
    [(kill_workers, "ended unexpectedly.*fewer --workers"), (remove_parts, "Reading failed: No such")],
)
def test_a_worker_that_fails_says_why_and_leaves_no_collection(
    tmp_path: Path, harm: Callable[[Path], None], message: str
) -> None:
    archives = [
        str(write_warc(tmp_path / f"{name}.warc", response(f"http://{name}.example/", f"<p>{name}"))) for name in "ab"
    ]
    out = tmp_path / "a.kin"
    with pytest.raises(WorkerError, match=message):
        read_sources(
            ReadPlan(archives, out, parser="strict", workers=2), lambda stage, _: stage == "reading" and harm(out)
        )
    assert not out.exists()


def test_a_false_record_start_inside_a_record_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = write_warc(tmp_path / "inner.warc.gz", response("http://inner.example/", "<p>not of this archive"))
    # Stored, not compressed: the inner archive's records stand in the outer file as they are.
    raw = io.BytesIO()
    writer = WARCWriter(raw, gzip=False)
    http = StatusAndHeaders("200 OK", [("Content-Type", "application/gzip")], protocol="HTTP/1.1")
    payload = io.BytesIO(inner.read_bytes() * 3)
    writer.write_record(
        writer.create_warc_record("http://a.example/inner.warc.gz", "response", payload, http_headers=http)
    )
    outer = tmp_path / "outer.warc.gz"
    before = write_warc(tmp_path / "b.warc.gz", response("http://a.example/1", "<p>one")).read_bytes()
    after = write_warc(tmp_path / "c.warc.gz", response("http://a.example/2", "<p>two")).read_bytes()
    outer.write_bytes(before + gzip.compress(raw.getvalue(), compresslevel=0) + after)
    monkeypatch.setattr(planning, "UNIT_BYTES", len(before) + 400)
    assert len(planning.plan_units([str(outer)], {})) > 1
    corpus = read_into(tmp_path / "a.kin", outer)
    assert [corpus.page_url(i) for i in range(len(corpus))] == ["http://a.example/1", "http://a.example/2"]
    assert corpus.facts["damaged"] == 0


def test_a_source_that_is_named_twice_and_single_pieces_of_a_file_are_read_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [response(f"http://a.example/{i}", f"<p>page {i} {'word ' * 50}") for i in range(9)]
    warc = write_warc(tmp_path / "a.warc", *records)
    twice = read_into(tmp_path / "twice.kin", warc, warc)
    assert (len(twice), twice.facts["html_records"]) == (9, 18)
    monkeypatch.setattr(planning, "UNIT_BYTES", 1_000)
    units = planning.plan_units([str(warc)], {})
    assert len(units) > 4
    read: list[float] = []
    plan = ReadPlan([str(warc)], tmp_path / "some.kin", units=(units[3], units[0]))
    report = read_sources(plan, lambda stage, share: read.append(share) if stage == "reading" else None)
    assert 0 < report.facts["pages"] < 9
    assert len(read) == 3  # its beginning, and two units


@pytest.mark.parametrize("workers", [1, 2])
def test_excluded_pages_are_counted_and_links_to_them_stay(tmp_path: Path, workers: int) -> None:
    link = "<p>See the <a href=/genindex.html>index</a> and the <a href=/_modules/a.html>listing</a>."
    addresses = [
        "GENINDEX.html",
        "_modules",
        "_modules/a.html",
        "genindex.html",
        "genindex.html?old",
        "home",
        "a?print=1",
    ]
    records = [response(f"http://docs.example/{address}", f"<title>{address}</title>{link}") for address in addresses]
    records.append(response("http://docs.example/moved", "", status="301 Moved", Location="/genindex.html"))
    archives = [
        write_warc(tmp_path / "a.warc.gz", *records[::2]), write_warc(tmp_path / "b.warc.gz", *records[1::2])
    ]  # fmt: skip
    patterns = ("*/genindex*", "*/_modules/*", "*[?]print=1", "http://docs.example/hom", "*/genindex*")
    corpus = read_into(tmp_path / "a.kin", *archives, exclude=patterns, parser="strict", workers=workers)
    kept = [corpus.page_url(i).removeprefix("http://docs.example/") for i in range(len(corpus))]
    assert kept == ["GENINDEX.html", "_modules", "home"]
    assert corpus.facts["skipped"] == {"excluded": 4, "redirect": 1}
    assert corpus.facts["html_records"] == 7
    assert corpus.facts["exclude"] == sorted(set(patterns))
    about = corpus.describe("http://docs.example/genindex.html")
    assert about is not None
    assert not about["captured"]
    assert {anchor["source"] for anchor in about["anchors_in"]} == {corpus.page_url(i) for i in range(3)}
    assert "http://docs.example/moved" in about["aliases"]


def test_strict_refuses_damage_and_leaves_no_collection(tmp_path: Path) -> None:
    warc = write_warc(
        tmp_path / "a.warc.gz",
        response("http://a.example/1", "<p>one"),
        response("http://a.example/2", "<p>two"),
    )
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(warc.read_bytes()[:-20])
    corpus = read_into(tmp_path / "a.kin", cut)
    assert corpus.facts["damaged"] >= 1
    assert "cut.warc.gz" in corpus.facts["damaged_examples"][0]
    assert corpus.describe("http://a.example/1") is not None
    with pytest.raises(DamagedInputError, match=r"cut\.warc\.gz"):
        read_sources(ReadPlan([str(cut)], tmp_path / "b.kin", strict=True))
    assert not (tmp_path / "b.kin").exists()


def test_the_check_finds_references_that_lead_nowhere(tmp_path: Path) -> None:
    read_into(tmp_path / "a.kin", write_warc(tmp_path / "a.warc", response("http://a.example/", PAGE)))
    for name, value in (
        ("anchor.target", 200),
        ("page.tokens", 1),
        ("stream.words", 60_000),
        ("inlink.anchors", 99),
    ):
        broken = tmp_path / f"{name}.kin"
        shutil.copytree(tmp_path / "a.kin", broken)
        manifest = json.loads((broken / "manifest.json").read_text())
        file = broken / manifest["files"][name]["file"]
        array = np.load(file)
        array[-1] = value
        np.save(file, array)
        assert [finding.where for finding in check_corpus(open_kin(broken))], name


def test_terms_are_ranked_by_frequency_then_word(tmp_path: Path) -> None:
    html = "<p>b b b c c a a d"
    corpus = read_into(tmp_path / "a.kin", write_warc(tmp_path / "a.warc", response("http://a.example/", html)))
    assert [corpus.word(i) for i in range(4)] == ["b", "a", "c", "d"]
    assert corpus.kin["term.count"].tolist() == [3, 2, 2, 1]
    assert [corpus.term_number(word) for word in "abcd"] == [1, 0, 2, 3]
    assert corpus.term_number("e") == -1


def test_real_archives_read_with_their_known_counts(data: Path, tmp_path: Path) -> None:
    for pattern, count in (("*aut-example.arc.gz", 94), ("*aut-example.warc.gz", 94), ("*iana*", 16), ("*BL-2014*", 32),
                           ("*flashfrozen*", 2)):  # fmt: skip
        (path,) = (data / "warc").glob(pattern)
        corpus = read_into(tmp_path / f"{count}{path.suffixes[-2]}.kin", path)
        assert corpus.facts["html_records"] == count, path.name
        assert 0 < len(corpus) <= count


def test_the_encyclopaedia_takes_little_room(school_folder: Path) -> None:
    corpus = Corpus.open(school_folder / "school.kin")
    assert len(corpus) == 4_653
    sizes = corpus.kin.bytes_on_disk
    others = ("text.frames", "page.text", *INDEX_ARRAYS)
    streams = sum(size for name, size in sizes.items() if not name.startswith(others))
    assert streams <= 0.45 * corpus.facts["html_bytes"]
    # The data's own list of links was made by another program.
    assert abs(corpus.facts["links"] - 117_359) <= 10


def test_a_few_questions_for_aliases_sort_nothing_and_many_are_answered_alike() -> None:
    pages = [record(f"http://sea.example/{name}", f"<title>{name}</title>{name}") for name in "abcd"]
    moves = [
        moved(f"http://sea.example/old-{name}-{n}", f"http://sea.example/{name}") for name in "abc" for n in range(3)
    ]
    corpus = read_records([*pages, *moves])
    homes = sorted({*map(int, corpus.aliases()[1]), 0})
    assert len(homes) > 2
    first = [corpus.aliases_of(home) for home in homes]
    assert "_alias_targets" not in vars(corpus)
    for _again in range(9):
        assert [corpus.aliases_of(home) for home in homes] == first
    assert "_alias_targets" in vars(corpus)
    names, targets = corpus.aliases()
    assert first == [[corpus.url(int(name)) for name in names[targets == home]] for home in homes]
