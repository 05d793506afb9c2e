"""Deltas: after small updates a collection answers as if all of it had been made anew under the same epoch."""

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pagekin
from pagekin.bags import Strategy
from pagekin.engines import build_collection, compact_collection
from pagekin.hypertext import OptOuts, ReadPlan
from pagekin.similarity import RelatedIndex
from pagekin.sources import demo_pages
from pagekin.store import DELTA, open_kin
from tests.bags.webs import moved, record
from tests.engines.frozen import remake_under_epoch
from tests.engines.living import archive, files_of, not_found, update

WORLD = [page for page in demo_pages() if "dinosaurs" in page.url or "birds" in page.url][:60]
FIRST = "2020-01-01T00:00:00Z"
QUESTIONS = ("birds", "what do dinosaurs eat", '"of the"', "changed day", "title:owl", "feathers OR teeth")


def random_records(chance: random.Random, day: int) -> list[bytes]:
    """Some new, changed and gone pages of a day, and now and then a redirect or a canonical address."""
    date = f"2020-01-{day:02}T00:00:00Z"
    records = []
    for page in chance.sample(WORLD, chance.randint(1, 4)):
        other = chance.choice(WORLD).url
        match chance.randrange(16):
            case 0 | 1 | 2:
                records.append(not_found(page.url, date))
            case 3:
                records.append(moved(page.url, other))
            case 4:
                claim = f"<link rel=canonical href={other}>".encode()
                records.append(record(page.url, page.html.replace(b"<head>", b"<head>" + claim), date))
            case 5 | 6 | 7 | 8:
                link = f"<p>changed on day {day} beside <a href={other}>what others say</a>".encode()
                records.append(record(page.url, page.html + link, date))
            case _:
                records.append(record(page.url, page.html, date))
    return records


@pytest.mark.parametrize("seed", range(4))
def test_random_updates_answer_as_all_made_anew_under_one_epoch(seed: int, tmp_path: Path) -> None:
    print(f"seed {seed}")
    chance, kin, whole = random.Random(seed), tmp_path / "living.kin", tmp_path / "whole" / "living.kin"
    first = archive(tmp_path, "0.warc", [record(page.url, page.html, FIRST) for page in WORLD[::2]])
    build_to_search([first], kin)
    shutil.copytree(kin, whole)
    deltas, sources, out = 0, [first], set[str]()
    for day in range(2, 8):
        source = archive(tmp_path, f"{day}.warc", random_records(chance, day))
        sources.append(source)
        removed = [chance.choice(WORLD).url] if chance.random() < 0.3 else []
        notes: list[str] = []
        for path, way in ((kin, "delta"), (whole, "merge")):
            out.update(update(path, source, remove=removed, way=way, note=notes.append).opted_out)
        print(day, notes)
        if DELTA not in open_kin(kin).facts:
            continue
        deltas += 1
        oracle = remake_under_epoch(whole, open_kin(kin), tmp_path / f"oracle-{day}.kin")
        compare_related(kin, oracle)
        compare_searches(kin, whole)
    assert deltas
    compact_collection(kin)
    build_to_search(sources, tmp_path / "fresh" / "living.kin", opt_outs=OptOuts.of(out))
    assert files_of(kin) == files_of(tmp_path / "fresh" / "living.kin")


def build_to_search(sources: list[str], out: Path, **options: Any) -> None:
    """Build a collection that can be searched, without clusters: updates that make it anew may find other documents."""
    build_collection(ReadPlan(sources, out, parser="strict", keep=True, **options), Strategy(), text=True)


def compare_related(kin: Path, oracle: Path) -> None:
    """Ask both about all documents."""
    ours, theirs = RelatedIndex.open(kin), RelatedIndex.open(oracle)
    urls = [theirs.urls[document] for document in range(len(theirs))]
    assert {url for document, url in enumerate(ours.urls) if not hidden(ours, document)} == set(urls)
    for url in urls:
        found, expected = (
            sorted((-one.similarity, one.url) for one in index.related(url, k=10)) for index in (ours, theirs)
        )
        assert found == expected, url


def hidden(index: RelatedIndex, document: int) -> bool:
    return bool(index.documents.are_hidden(np.array([document]))[0])


def compare_searches(kin: Path, whole: Path) -> None:
    with pagekin.open(kin) as ours, pagekin.open(whole) as theirs:
        for question in QUESTIONS:
            found, expected = (
                [(round(hit.score, 9), hit.url) for hit in index.search(question, limit=100)] for index in (ours, theirs)
            )
            assert found == expected, question
