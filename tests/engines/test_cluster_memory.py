"""What the stages of clusters hold in little memory: a few numbers for each page, whatever else the pages say."""

import sys
import tracemalloc
from pathlib import Path

import pytest

from pagekin.bags import Strategy
from pagekin.clusters import ClusterSettings, levels, phrases, sampling, terms, thesaurus
from pagekin.engines import BuildRecipe, build_collection, cluster_collection, needs
from pagekin.hypertext import ReadPlan
from pagekin.store import MemoryBudget, open_kin

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from web_generator import MadeWeb, WebFigures

ADDRESSES = 1_200, 4_800
SAMPLE = 150
LITTLE = MemoryBudget(1 << 20)
MOST_ADDED = {"names": 6_000, "topics": 8_000, "label": 11_500}
"""Bytes that a page, with its share of the words and folders, may add: 3,300, 3,900 and 8,800 when this was written.

When all arrays lay in memory it was 13,700, 15,800 and 15,400. A page has some 350 words and 20 links.
"""
MOST_OF_SAMPLE = {"neighbours": 4_200_000, "joining": 4_600_000}
"""Bytes for a sample of so many pages: 3.1 and 3.4 million when this was written, and 5.3 and 6.0 with all arrays in memory."""
BATCHES = [
    (terms, "_BATCH_WORDS"), (phrases, "_BATCH_WORDS"), (phrases, "_ENTRIES"), (levels, "_ENTRIES"), (levels, "_SUMMED"),
    (sampling, "_PART"), (thesaurus, "_ENTRIES"), (thesaurus, "_PART"),
]  # fmt: skip
"""Sizes of batches, which would hold all of a small web."""


def peaks(folder: Path, addresses: int) -> tuple[int, dict[str, int]]:
    """Build a made-up web, and cluster it again in little memory: (its pages, the most that each stage held)."""
    archive, kin = folder / f"{addresses}.warc", folder / f"{addresses}.kin"
    most: dict[str, int] = {}
    archive.write_bytes(b"".join(MadeWeb(addresses, WebFigures()).records()))
    build_collection(ReadPlan([str(archive)], kin, workers=1), BuildRecipe(Strategy()))

    def note(stage: str, _share: float) -> None:
        most[stage] = max(most.get(stage, 0), tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()

    tracemalloc.start()
    try:
        cluster_collection(kin, ClusterSettings(sample=SAMPLE), None, note, 1, memory=LITTLE)
    finally:
        tracemalloc.stop()
    return open_kin(kin).facts["pages"], most


def test_a_page_adds_little_to_the_memory_of_each_stage_and_the_sample_lies_in_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(needs, "LEAST_MEMORY", 0)
    monkeypatch.setattr(needs, "MEMORY_SHARE", 0)
    for module, size in BATCHES:
        monkeypatch.setattr(module, size, 1 << 5 if size == "_PART" else 1 << 12)
    (few, before), (many, after) = (peaks(tmp_path, addresses) for addresses in ADDRESSES)
    assert many > 3 * few > 2 * SAMPLE
    added = {stage: round((after[stage] - before[stage]) / (many - few)) for stage in MOST_ADDED}
    assert {stage: size for stage, size in added.items() if size > MOST_ADDED[stage]} == {}
    assert {stage: before[stage] for stage, most in MOST_OF_SAMPLE.items() if before[stage] > most} == {}
