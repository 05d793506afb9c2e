"""Dictionaries as webs: a page for each entry, with the links of its text and its author's *See also* as a list.

dictd's files have no HTML. Entries stand one after the other, with references in braces.
"""

import gzip
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

HEADWORD = re.compile(r"^(?=\S)(?!\{)(.+)$")
FIELD = re.compile(r"\A\s*<([a-z][a-z, /-]*)>\s*")
"""The fields that an entry belongs to, as in "<programming, tool>"."""
REFERENCE = re.compile(r"\{([^{}]+)\}")
EDITED = re.compile(r"\(\d{4}-\d\d-\d\d\)")
"""The day on which an entry was edited: entries of the same day were often edited together, which words should not tell."""
SEE_ALSO = re.compile(r"\b(?:See also|See|Compare|Contrast|Cf\.?)(?:\s*\{[^{}]+\}(?:\s*(?:,|;|and|or|also))*)+\s*\.?")
"""A sentence that names nothing but other entries."""


@dataclass(frozen=True)
class Entry:
    """One entry of a dictionary."""

    words: tuple[str, ...]
    text: str

    @property
    def field(self) -> str | None:
        """Return the first field that the entry names."""
        named = FIELD.match(self.text)
        return named[1].split(",")[0].strip() if named else None


def read_entries(file: Path) -> Iterator[Entry]:
    """Yield the entries of a .dict.dz file whose texts are indented and whose headwords are not."""
    words: list[str] = []
    lines: list[str] = []
    with gzip.open(file, "rt", encoding="utf-8", errors="replace") as text:
        for line in text:
            headword = HEADWORD.match(line.rstrip())
            if headword and any(one.strip() for one in lines):
                yield Entry(tuple(words), "".join(lines))
                words, lines = [], []
            if headword:
                words.append(headword[1].strip())
            else:
                lines.append(line)
    if words:
        yield Entry(tuple(words), "".join(lines))


def path_of(word: str) -> str:
    """Return the path of a headword's page."""
    return quote(word.lower(), safe=" ").replace(" ", "_")[:150] + ".html"


def write_pages(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path, HTML) of a dictionary's entries; those that only name another entry are left out."""
    entries = [entry for entry in read_entries(file) if not entry.words[0].startswith("00-database")]
    known = {word.lower(): path_of(entry.words[0]) for entry in entries for word in entry.words}

    def link(reference: re.Match[str]) -> str:
        word = " ".join(reference[1].split())
        path = known.get(word.lower())
        return f'<a href="{html.escape(quote(path))}">{html.escape(word)}</a>' if path else html.escape(word)

    def mark_up(text: str) -> str:
        pieces, end = [], 0
        for reference in REFERENCE.finditer(text):
            pieces += [html.escape(text[end : reference.start()]), link(reference)]
            end = reference.end()
        return "".join([*pieces, html.escape(text[end:])])

    for entry in entries:
        text = FIELD.sub("", entry.text)
        listed = " ".join(one[0] for one in SEE_ALSO.finditer(text))
        text = EDITED.sub("", SEE_ALSO.sub("", text))
        if len(text.split()) < 5:
            continue
        title = html.escape(entry.words[0])
        paragraphs = "".join(f"<p>{mark_up(one)}</p>\n" for one in re.split(r"\n\s*\n", text) if one.strip())
        field = f'<meta name="field" content="{html.escape(entry.field)}">' if entry.field else ""
        yield (
            path_of(entry.words[0]),
            f"<!DOCTYPE html><html><head><title>{title}</title>{field}</head><body><h1>{title}</h1>\n{paragraphs}"
            f'<div class="seealso">{mark_up(listed)}</div></body></html>'.encode(),
        )
