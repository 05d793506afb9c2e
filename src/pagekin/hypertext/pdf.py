"""Turn a PDF into a page of HTML that has its title and its text."""

import contextlib
import html
import io
import logging
from importlib.util import find_spec

from pagekin.sources import SourceError


class PdfError(ValueError):
    """A PDF that cannot be read."""


def require_pdf_reader() -> None:
    """Raise a SourceError that says what to install, if PDF files cannot be read here."""
    if find_spec("pypdf") is None:
        raise SourceError("the limit pdf_pages needs pypdf to read PDFs: pip install pypdf")


def pdf_to_html(data: bytes, most_pages: int, most_bytes: int) -> bytes:
    """Return the title and the text of a PDF's first pages as HTML in UTF-8, up to about this many bytes.

    Raise a PdfError if it is damaged, asks for a password, or has no text, as scanned ones do.
    """
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it notes each oddity of a file, of which there are many
    parts, size = [], 0
    try:
        reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise PdfError("it needs a password")
        title = _title(reader)
        for number in range(min(len(reader.pages), most_pages)):
            text = reader.pages[number].extract_text().strip()
            if text:
                parts.append(text)
                size += len(text)
            if size >= most_bytes:
                break
    except PdfError:
        raise
    except Exception as error:  # files mean harm, or were cut; the library raises whatever it meets
        raise PdfError(f"{type(error).__name__}: {error}"[:200]) from error
    if not parts:
        raise PdfError("it has no text")
    return _as_html(title, parts)[:most_bytes]


def _title(reader: object) -> str:
    """Return the title in a PDF's metadata; '' if there is none that can be read."""
    with contextlib.suppress(Exception):
        return str(reader.metadata.title or "").strip()  # type: ignore[attr-defined]
    return ""


def _as_html(title: str, pages: list[str]) -> bytes:
    """Return pages of text as HTML; an empty line ends a paragraph. Without a title, the first line is the title."""
    title = title or pages[0].partition("\n")[0][:200]
    paragraphs = [
        f"<p>{html.escape(one)}</p>" for page in pages for one in page.replace("\r", "").split("\n\n") if one.strip()
    ]
    whole = "\n".join(["<!doctype html><meta charset=utf-8>", f"<title>{html.escape(title)}</title>", *paragraphs])
    return whole.encode("utf-8", "replace")
