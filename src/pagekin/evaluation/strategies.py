"""The strategies to judge: a collection's own, those of the paper's figures, or those of a file or a mapping."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pagekin.bags import PRESETS, Strategy, StrategyError, strategy_from_dict, strategy_of_index
from pagekin.evaluation.figures import figures
from pagekin.hypertext import Corpus

GivenStrategies = str | os.PathLike[str] | Mapping[str, Strategy | Mapping[str, Any]]
"""A TOML file with a table for each strategy, or strategies or tables of settings by name."""


def own_strategies(corpus: Corpus) -> dict[str, Strategy]:
    """Return the presets, and the strategy of the collection's index."""
    strategies = dict(PRESETS)
    index = corpus.facts.get("index")
    if index:
        strategy = strategy_of_index(index)
        if strategy.digest() not in {known.digest() for known in strategies.values()}:
            strategies[f"{strategy.name} (the index's)"] = strategy
    return strategies


def figure_strategies() -> dict[str, Strategy]:
    """Return the strategies of all figures, named by figure and bar."""
    return {
        f"{figure.number}: {label}": strategy for figure in figures() for label, strategy in figure.strategies.items()
    }


def as_strategies(given: GivenStrategies) -> dict[str, Strategy]:
    """Return strategies by name; raise a StrategyError that says what is wrong with them."""
    if isinstance(given, Mapping):
        return _from_tables(given, "the mapping")
    if isinstance(given, str | os.PathLike):
        return read_strategies(Path(given))
    raise StrategyError(
        f"strategies are a TOML file, or a mapping from names to strategies or settings, not a {type(given).__name__}"
    )


def read_strategies(file: Path) -> dict[str, Strategy]:
    """Read strategies from a TOML file with a table for each."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise StrategyError(f"{file} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StrategyError(f"{file} is no TOML file: {error}") from None
    return _from_tables(tables, str(file))


def _from_tables(tables: Mapping[str, Any], where: str) -> dict[str, Strategy]:
    """Return the strategies of tables by name; `where` they are is for messages."""
    strategies: dict[str, Strategy] = {}
    for name, table in tables.items():
        if isinstance(table, Strategy):
            strategies[str(name)] = table
            continue
        if not isinstance(table, Mapping):
            raise StrategyError(
                f"{where}: '{name}' is neither a strategy nor a table of settings; in a file, write each strategy under a "
                "heading [NAME]"
            )
        try:
            strategies[str(name)] = strategy_from_dict({**table, "name": str(name)})
        except StrategyError as error:
            raise StrategyError(f"{where}, [{name}]: {error}") from None
    if not strategies:
        raise StrategyError(f"{where} holds no strategy; in a file, write each under a heading [NAME]")
    return strategies
