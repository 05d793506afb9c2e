"""Strategies that are read from a file, and those that are judged by default."""

from pathlib import Path

import pytest

from pagekin.bags import StrategyError
from pagekin.evaluation import (
    own_strategies,
    read_strategies,
)
from pagekin.hypertext import Corpus


def test_strategies_are_read_by_their_headings(tmp_path: Path) -> None:
    file = tmp_path / "strategies.toml"
    file.write_text(
        '[plain]\n[near]\nwindow = {size = 4}\nweight.frequency = "none"\n[old]\npreset = "haveliwala2002"\n', "utf-8"
    )
    found = read_strategies(file)
    assert list(found) == ["plain", "near", "old"]
    assert [strategy.name for strategy in found.values()] == ["plain", "near", "old"]
    assert (found["near"].window.size, found["near"].weight.frequency) == (4, "none")
    assert found["old"].words == "letters"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no strategy"),
        ("words = 'all'", "'words' is neither a strategy nor a table"),
        ("[a]\nwindow.size = -1", r"\[a\]: window.size"),
        ("[a\n", "no TOML"),
        ("[a]\nwidth = 3", "no setting 'width'"),
    ],
)
def test_a_bad_file_of_strategies_is_refused_with_the_reason(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(StrategyError, match=said) as raised:
        read_strategies(file)
    assert "bad.toml" in str(raised.value)


def test_by_default_the_presets_are_judged_and_the_strategy_of_the_index(corpus: Corpus) -> None:
    assert list(own_strategies(corpus)) == ["default", "haveliwala2002"]
