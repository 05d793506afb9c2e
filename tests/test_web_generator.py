"""The made-up web of the benchmarks: the same bytes each time, and the figures that it is asked for."""

import sys
from pathlib import Path

import pytest

from pagekin.bags import Strategy
from pagekin.engines import BuildRecipe, build_collection
from pagekin.hypertext import ReadPlan

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from web_generator import MadeWeb, WebFigures, measure


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    made = [b"".join(MadeWeb(1_000, WebFigures(), seed).records()) for seed in (1, 1, 2)]
    assert made[0] == made[1]
    assert made[0] != made[2]


def test_a_made_web_has_the_figures_that_were_asked_for(tmp_path: Path) -> None:
    archive, wanted = tmp_path / "web.warc", WebFigures(words=150, links=8, copies=0.2)
    archive.write_bytes(b"".join(MadeWeb(3_000, wanted).records()))
    build_collection(ReadPlan([str(archive)], tmp_path / "web.kin"), BuildRecipe(Strategy()))
    found = measure(tmp_path / "web.kin")
    assert found.captured == pytest.approx(1 / 3, abs=0.05)
    assert 0.1 < found.copies < 0.25
    assert 150 < found.words < 250  # with the words of links and of the template
    assert found.links == pytest.approx(8, abs=2)
    assert found.zipf == pytest.approx(1, abs=0.25)
