"""The text of PDFs: read only where it is asked for, bounded, and skipped with a reason where there is none."""

import io
import subprocess
import sys
from pathlib import Path

import pypdf
import pytest
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from pagekin.hypertext import Corpus, ReadPlan, read_sources
from pagekin.hypertext.pdf import PdfError, pdf_to_html
from pagekin.sources import Limits
from tests.sources.making import http, warc

KRILL = "Krill are small crustaceans of the cold sea"


def make_pdf(*pages: str, title: str = "", password: str = "") -> bytes:
    """A PDF with a line of text on each page."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject({
        NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
        NameObject("/BaseFont"): NameObject("/Helvetica"),
    })  # fmt: skip
    for text in pages:
        page = writer.add_blank_page(300, 300)
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        content = StreamObject()
        content.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = content
    if title:
        writer.add_metadata({"/Title": title})
    if password:
        writer.encrypt(password)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_text_and_title_become_html() -> None:
    html = pdf_to_html(make_pdf(KRILL, "Whales eat <them>", title="Of krill & whales"), 10, 100_000).decode()
    assert "<title>Of krill &amp; whales</title>" in html
    assert KRILL in html and "Whales eat &lt;them&gt;" in html
    assert f"<title>{KRILL}</title>" in pdf_to_html(make_pdf(KRILL), 10, 100_000).decode(), (
        "its first line stands for it"
    )


def test_only_so_many_pages_and_bytes_are_read() -> None:
    pdf = make_pdf(KRILL, "Whales", "Seals")
    assert b"Whales" in pdf_to_html(pdf, 2, 100_000) and b"Seals" not in pdf_to_html(pdf, 2, 100_000)
    assert len(pdf_to_html(pdf, 3, 90)) <= 90


@pytest.mark.parametrize("pdf", [
    b"", b"%PDF-1.7 and nothing else", make_pdf(KRILL)[:300], make_pdf(""), make_pdf(KRILL, password="secret"),
])  # fmt: skip
def test_what_cannot_be_read_says_why(pdf: bytes) -> None:
    with pytest.raises(PdfError) as caught:
        pdf_to_html(pdf, 10, 100_000)
    assert str(caught.value)


def read(folder: Path, limits: Limits) -> Corpus:
    plan = ReadPlan(
        [str(folder)], folder.with_suffix(".kin"), base_url="http://sea.example/", limits=limits, replace=True
    )
    read_sources(plan)
    return Corpus.open(plan.out)


def test_pdfs_of_a_folder_are_pages_if_asked_for(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "krill.PDF").write_bytes(make_pdf(KRILL, title="Krill"))
    (site / "scanned.pdf").write_bytes(make_pdf(""))
    (site / "index.html").write_text("<title>Sea</title><p>Read about <a href=krill.PDF>krill</a>.")
    corpus = read(site, Limits())
    assert len(corpus) == 1 and corpus.facts["skipped"] == {"not html": 2}
    corpus = read(site, Limits(pdf_pages=10))
    assert [corpus.page_url(page) for page in range(len(corpus))] == [
        "http://sea.example/index.html",
        "http://sea.example/krill.PDF",
    ]
    assert corpus.titles[1] == b"Krill"
    assert corpus.facts["skipped"] == {"unreadable pdf": 1}


def test_pdfs_of_an_archive_are_pages_if_asked_for(tmp_path: Path) -> None:
    archive = tmp_path / "sea.warc"
    pdf = http(make_pdf(KRILL, title="Krill"), "Content-Type: application/pdf")
    archive.write_bytes(warc("http://sea.example/krill", pdf, date="2021-01-01T00:00:00Z"))
    plan = ReadPlan([str(archive)], tmp_path / "sea.kin", limits=Limits(pdf_pages=10))
    read_sources(plan)
    assert Corpus.open(plan.out).titles[0] == b"Krill"


def test_without_the_reader_it_is_said_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>Sea")
    code = (
        "import sys; sys.modules['pypdf'] = None; import importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *more: None if name == 'pypdf' else find(name, *more); from pagekin.cli import main; main()"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "read",
        str(tmp_path),
        "--out",
        str(tmp_path / "x.kin"),
        "--set-limit",
        "pdf_pages=5",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "pip install pypdf" in done.stderr and "Traceback" not in done.stderr
