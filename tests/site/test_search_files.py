"""The files of the static search: what a slow reader finds in them is what the index says, in few and small files."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from pagekin.hypertext import Corpus
from pagekin.site import SiteReport
from pagekin.site.search_files import _BODY, _CALLED, _LEVELS, MOST_SHARDS, _cut_shards, _join_forms, shard_bytes
from pagekin.text import TextIndex


def read_shard(data: bytes) -> Iterator[tuple[str, int, list[tuple[int, int, int]]]]:
    """(form, pages that hold it, [page, level of the text, level of the title]): the format as docs/sites.md tells it."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    name = b""
    for _ in range(varint()):
        same, more = varint(), varint()
        name = name[:same] + data[at : at + more]
        at += more
        held, count, size = varint(), varint(), varint()
        end, page, pages = at + size, -1, []
        while at < end:
            page += varint() + 1
            pages.append(page)
        levels = data[at : at + count]
        at += count
        yield name.decode(), held, [(one, level >> 4, level & 15) for one, level in zip(pages, levels, strict=True)]
    assert at == len(data)


def test_every_form_is_found_with_what_it_adds_to_each_page(published: tuple[Path, Path, SiteReport]) -> None:
    folder, kin, _report = published
    about = json.loads((folder / "pagekin/search/meta.json").read_text())
    files = folder / "pagekin/search" / about["id"]
    index = TextIndex.open(Corpus.open(kin))
    found = {}
    for number, first in enumerate(about["shards"]):
        forms = list(read_shard(gzip.decompress((files / f"words-{number:03}.bin").read_bytes())))
        assert forms[0][0] == first
        found |= {form: (held, rows) for form, held, rows in forms}
    assert list(found) == [index.forms.text(number) for number in range(len(index.forms))]
    groups = [json.loads(gzip.decompress(path.read_bytes())) for path in sorted(files.glob("pages-*.bin"))]
    paths = [path for group in groups for path, _title, _text in group]
    page_of = [index.corpus.pages_of(index.corpus.url_number(f"http://localhost/{path}"))[0] for path in paths]
    assert about["pages"] == len(paths) == 16
    for form, (held, rows) in found.items():
        parts = index.parts(form)
        assert held == len(parts.pages)
        body = dict(zip(parts.pages.tolist(), parts.body.tolist(), strict=True))
        called = dict(zip(parts.named.tolist(), parts.called.tolist(), strict=True))
        assert {page_of[page] for page, _b, _c in rows} == body.keys() | called.keys()
        for page, text_level, title_level in rows:
            assert abs(text_level - body.get(page_of[page], 0) * _LEVELS / _BODY) <= 1
            assert abs(title_level - called.get(page_of[page], 0) * _LEVELS / _CALLED) <= 1
            assert (title_level > 0) == (called.get(page_of[page], 0) > 0)


def test_a_large_vocabulary_takes_no_more_files_than_there_may_be() -> None:
    """Entries as of 100,000 pages: many short ones, and some as long as they get."""
    entries = [(f"word{number:06}", bytes(20_000 if number % 500 == 0 else 30)) for number in range(300_000)]
    sizes = [len(form) + len(data) for form, data in entries]
    shards = list(_cut_shards(entries, shard_bytes(sizes)))
    assert len(shards) <= MOST_SHARDS
    assert [entry for shard in shards for entry in shard] == entries
    assert [form for form, _held, _rows in read_shard(_join_forms([("a", b"\1\0\0"), ("ab", b"\1\0\0")]))] == [
        "a",
        "ab",
    ]


def test_the_dictionary_holds_words_as_they_are_written_and_how_common_they_are(
    published: tuple[Path, Path, SiteReport],
) -> None:
    folder, _kin, _report = published
    (file,) = (folder / "pagekin/search").glob("*/dictionary.bin")
    lines = gzip.decompress(file.read_bytes()).decode().split("\n")
    words = {line[:-1]: int(line[-1]) for line in lines}
    assert list(words) == sorted(words)
    assert words["part"] > words["measure"] == words["documentation"] > 0
    assert {"eruption", "saucepan", "begins"} <= words.keys()
