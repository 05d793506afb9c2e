"""A folder that takes the place of itself becomes a delta: changed, new and gone files, and nothing for all others."""

import random
import shutil
from pathlib import Path

import pytest

import pagekin
from pagekin.engines import UpdateReport, compact_collection
from pagekin.store import DELTA, KEPT, KinError, open_kin
from tests.bags.webs import record
from tests.engines.frozen import remake_under_epoch
from tests.engines.living import archive, files_of, update
from tests.engines.test_delta import build_to_search, compare_related, compare_searches

SITE = "http://docs.example/"
NAMES = [
    f"{name}.html" for name in ("index", "birds", "owls", "teeth", "fish", "feathers", "nests/index", "nests/eggs")
]
WORDS = (
    "birds of the day eat feathers and teeth while dinosaurs sleep what changed in owl nests below old trees".split()
)


def write_page(site: Path, name: str, chance: random.Random) -> None:
    links = "".join(
        f"<p>{' '.join(chance.choices(WORDS, k=6))} <a href=/{chance.choice(NAMES)}>{chance.choice(WORDS)}</a>"
        for _ in range(chance.randint(0, 4))
    )
    (site / name).parent.mkdir(exist_ok=True, parents=True)
    (site / name).write_text(f"<title>{name}</title><h1>{chance.choice(WORDS)}</h1>{links}{' '.join(WORDS[::2])}")


def change(site: Path, chance: random.Random) -> None:
    """Write, write anew or remove some files."""
    for name in chance.sample(NAMES, chance.randint(0, 3)):
        if chance.random() < 0.3:
            (site / name).unlink(missing_ok=True)
        else:
            write_page(site, name, chance)


def renew(kin: Path, site: Path, way: str) -> UpdateReport:
    return update(kin, str(site), base_url=SITE, way=way)


@pytest.mark.parametrize("seed", range(3))
def test_random_changes_answer_as_all_made_anew_under_one_epoch(seed: int, tmp_path: Path) -> None:
    chance, site, kin, whole = random.Random(seed), tmp_path / "docs", tmp_path / "a.kin", tmp_path / "whole" / "a.kin"
    for name in NAMES[:6]:
        write_page(site, name, chance)
    links = f"<title>Others</title><p>Read of <a href={SITE}owls.html>owls</a> and <a href={SITE}>all birds</a> there."
    sources = [archive(tmp_path, "0.warc", [record("http://other.example/", links)])]
    build_to_search([str(site), *sources], kin, base_url=SITE)
    shutil.copytree(kin, whole)
    deltas = 0
    for day in range(8):
        change(site, chance)
        for path, way in ((kin, "delta"), (whole, "merge")):
            renew(path, site, way)
        if day % 3 == 2:  # an archive between two of them
            sources.append(archive(tmp_path, f"{day}.warc", [record(f"http://other.example/{day}", links + str(day))]))
            for path, way in ((kin, "delta"), (whole, "merge")):
                update(path, sources[-1], way=way)
        if DELTA in open_kin(kin).facts:
            deltas += 1
            compare_related(kin, remake_under_epoch(whole, open_kin(kin), tmp_path / f"oracle-{day}.kin"))
            compare_searches(kin, whole)
    assert deltas >= 4, "most changes are deltas"
    compact_collection(kin)
    build_to_search([str(site), *sources], tmp_path / "fresh" / "a.kin", base_url=SITE)
    assert files_of(kin) == files_of(tmp_path / "fresh" / "a.kin")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name in NAMES:
        write_page(tmp_path / "docs", name, random.Random(name))
    build_to_search([str(tmp_path / "docs")], tmp_path / "docs.kin", base_url=SITE)
    return tmp_path / "docs.kin"


def test_changed_new_and_gone_files_are_counted_and_the_base_stays(docs: Path) -> None:
    before, site = files_of(docs), docs.parent / "docs"
    (site / "owls.html").write_text("<title>Owls</title><p>Quaggas hunt at night.")
    (site / "news.html").write_text("<title>News</title><p>A zyzzyva was seen.")
    (site / "fish.html").unlink()
    report = renew(docs, site, "delta")
    assert report.way == "delta" and report.pages == (1, 1, 1)
    assert {name for name in before if before[name] != files_of(docs).get(name)} == {"manifest.json"}
    with pagekin.open(docs) as index:
        assert [hit.url for hit in index.search("quaggas", ask=0)] == [f"{SITE}owls.html"]
        assert [hit.url for hit in index.search("zyzzyva", ask=0)] == [f"{SITE}news.html"]
        assert f"{SITE}fish.html" not in [hit.url for hit in index.search("dinosaurs OR feathers OR birds")]


def test_a_folder_without_changes_leaves_all_as_it_is(docs: Path) -> None:
    before = files_of(docs)
    report = renew(docs, docs.parent / "docs", "delta")
    assert report.way == "" and files_of(docs) == before


def test_a_delta_refuses_a_damaged_part_if_it_reads_pages_of_it(docs: Path, tmp_path: Path) -> None:
    [part] = (docs / KEPT).glob("part-*")
    data = bytearray((part / "blobs").read_bytes())
    data[7] ^= 1
    (part / "blobs").write_bytes(data)
    new = archive(tmp_path, "new.warc", [record("http://docs.example/new", "<p>A page that links to nothing.")])
    assert update(docs, new, way="delta").way == "delta", "no old page is read"
    again = archive(tmp_path, "again.warc", [record(f"{SITE}owls.html", "<p>Other owls", "2021-01-01T00:00:00Z")])
    with pytest.raises(KinError, match=r"has changed since it was written.*pagekin check"):
        update(docs, again, way="delta")
    with pytest.raises(KinError, match=r"blobs has changed.*--updatable"):
        update(docs, again, way="merge")
