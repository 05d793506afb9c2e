"""From the corpus to weighted bags: what represents a page, by a strategy.

`Strategy` is one value with every choice; `make_bags` turns the corpus's streams into bags by compiled kernels;
`Bags` reads them. Only making bags imports the compiler.
"""

from pagekin.bags.strategy import (
    PRESETS,
    Strategy,
    StrategyError,
    choose,
    from_dict,
    load,
    preset,
    settings_table,
    strategy_of_index,
)

__all__ = [
    "PRESETS",
    "Strategy",
    "StrategyError",
    "choose",
    "from_dict",
    "load",
    "preset",
    "settings_table",
    "strategy_of_index",
]
