"""Strategies: what they say in TOML, on the command line and in presets, and what is refused."""

import json
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from pagekin.bags import (
    PRESETS,
    Strategy,
    StrategyError,
    choose_strategy,
    load_strategy,
    preset_strategy,
    settings_table,
    strategy_from_dict,
    strategy_of_index,
)
from pagekin.bags.strategy import Content

generated = settings(derandomize=True, database=None, deadline=None, max_examples=80)
NAMES = [name for name, *_ in settings_table(Strategy)]
OTHER_SIGNALS = ("tfidf", "containment", "title", "links", "cocitation", "coupling")


def value_of(strategy: Strategy, name: str) -> Any:
    """The value of a setting given by dotted name."""
    value: Any = strategy
    for part in name.split("."):
        value = getattr(value, part)
    return value


def values_for(default: str, allowed: str) -> some.SearchStrategy[Any]:
    """Values that a setting may have, by what the table of settings says of it."""
    low, found, high = allowed.replace(",", "").partition(" to ")
    if not found:
        choices = allowed.split(", ")
        return some.sampled_from([choice == "true" for choice in choices] if choices == ["true", "false"] else choices)
    if default.isdecimal():
        return some.integers(int(low), int(high))
    return some.floats(float(low), float(high))


changes = some.fixed_dictionaries(
    {}, optional={name: values_for(default, allowed) for name, default, allowed, _help in settings_table(Strategy)}
)


@some.composite
def strategies(draw: some.DrawFn) -> Strategy:
    """A strategy with any settings that go together."""
    base = draw(some.sampled_from(list(PRESETS.values())))
    chosen = draw(changes) | {"name": draw(some.text(max_size=9))}
    if chosen.get("weight.frequency", base.weight.frequency) != "nmdf":
        chosen = {name: value for name, value in chosen.items() if name != "weight.mu"}
    for needed in (
        [name for name in NAMES if name.endswith(".scale")],
        [name for name in NAMES if name.startswith("signals.")],
    ):
        if not any(chosen.get(name, value_of(base, name)) for name in needed):
            chosen[draw(some.sampled_from(needed))] = 1.0
    return base.with_settings(chosen)


# -- there and back -------------------------------------------------------------------------------------------------


@generated
@given(strategies())
@example(Strategy(name='a "b" \\ \n\t\x00\x7f\x85\u2028 é 炭 😀'))
def test_a_strategy_is_the_same_after_a_way_through_toml(strategy: Strategy) -> None:
    plain = tomllib.loads(strategy.as_toml())
    assert plain == strategy.as_dict()
    assert strategy_from_dict(plain) == strategy
    assert strategy_from_dict(plain).digest() == strategy.digest()


@generated
@given(strategies())
def test_a_strategy_is_the_same_after_a_way_through_json(strategy: Strategy) -> None:
    assert strategy_from_dict(json.loads(json.dumps(strategy.as_dict()))) == strategy


@generated
@given(strategies())
def test_a_strategy_can_be_written_as_settings_of_a_command_line(strategy: Strategy) -> None:
    given_settings = [f"{name}={value}" for name in NAMES if (value := value_of(strategy, name)) is not None]
    assert replace(choose_strategy(settings=given_settings), name=strategy.name) == strategy


@generated
@given(strategies(), strategies(), some.text(max_size=5))
def test_the_digest_goes_by_the_settings_and_not_by_the_name(one: Strategy, other: Strategy, name: str) -> None:
    assert replace(one, name=name).digest() == one.digest()
    assert (one.digest() == other.digest()) == (in_effect(one) == in_effect(other))


def in_effect(strategy: Strategy) -> Strategy:
    """The strategy without what no index depends on: its name, signals, and units that its signatures do not have."""
    signature = strategy.signature
    units = signature.units if signature.maker == "paper" else Strategy().signature.units
    indexed = replace(strategy, signature=replace(signature, units=units))
    return replace(indexed, name="", wish="both", signals=Strategy().signals)


def test_equal_numbers_have_one_digest() -> None:
    assert (
        choose_strategy(settings=["content.scale=-0.0"]).digest()
        == choose_strategy(settings=["content.scale=0"]).digest()
    )
    assert (
        choose_strategy(settings=["content.scale=2"]).digest()
        == choose_strategy(settings=["content.scale=2.00"]).digest()
    )
    assert (
        choose_strategy(settings=["content.scale=2"]).digest() != choose_strategy(settings=["content.scale=3"]).digest()
    )


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    for strategy in PRESETS.values():
        file = tmp_path / "mine.toml"
        file.write_text(strategy.as_toml(), encoding="utf-8")
        assert load_strategy(file) == load_strategy(str(file)) == choose_strategy(file=str(file)) == strategy


def test_a_file_says_what_is_different_and_may_start_from_a_preset(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("stemming = 'nostem'\n[window]\nsize = 16\n")
    assert load_strategy(file) == replace(
        Strategy().with_settings({"stemming": "nostem", "window.size": 16}), name="mine"
    )
    file.write_text("preset = 'haveliwala2002'\nname = 'named'\n[signature]\nm = 100\n")
    assert load_strategy(file) == replace(
        preset_strategy("haveliwala2002").with_settings({"signature.m": 100}), name="named"
    )
    assert choose_strategy(file=str(file), settings=["signature.m=50"]).signature.m == 50
    file.write_text("")
    assert replace(load_strategy(file), name="default") == Strategy()


# -- presets --------------------------------------------------------------------------------------------------------


def test_the_preset_of_the_paper_is_as_we_read_the_paper() -> None:
    paper = preset_strategy("haveliwala2002")
    expected = {
        "words": "letters",
        "stemming": "stem",
        "metric": "jaccard",
        "content.scale": 1.0,
        "title.scale": 1.0,
        "anchors.scale": 1.0,
        "anchors.repeat": "every",
        "anchors.within_site": True,
        "anchors.listing": 1.0,
        "links.scale": 0.0,
        "outlinks.scale": 0.0,
        "content.lead": 0.0,
        "content.furniture": 1.0,
        "window.kind": "basic",
        "window.size": 32,
        "weight.distance": "log",
        "weight.frequency": "nmdf",
        "weight.centre": 100 / 51_469,
        "weight.mu": None,
        "weight.sigma": math.log(10),
        "weight.tf": "raw",
        "signature.maker": "paper",
        "signature.m": 80,
        "signature.alpha": 0.15,
        "signature.units": 32_000,
        "signature.min_inlinks": 0,
        "signals.bag": 1.0,
        **dict.fromkeys((f"signals.{name}" for name in OTHER_SIGNALS), 0.0),
    }
    assert {name: value_of(paper, name) for name in expected} == expected
    assert set(NAMES) - set(expected) == {
        "weight.level",
        "signature.seed",
        "wish",
    }  # the centre is told by weight.centre


def test_an_index_from_before_units_could_be_set_is_known_by_the_units_and_the_digest_it_was_made_with() -> None:
    plain = preset_strategy("haveliwala2002").as_dict()
    assert strategy_of_index({"strategy": plain}) == preset_strategy("haveliwala2002")
    del plain["signature"]["units"]
    before = strategy_of_index({"strategy": plain})
    assert before.signature.units == 1_000
    assert before.digest() == "b4437abaf0e2149a" != preset_strategy("haveliwala2002").digest()
    darts = Strategy().as_dict()
    del darts["signature"]["units"]
    assert strategy_of_index({"strategy": darts}) == Strategy()


def test_units_are_told_apart_only_where_they_have_an_effect() -> None:
    darts, paper = ({"signature.maker": maker} for maker in ("darts", "paper"))
    assert Strategy().with_settings({**darts, "signature.units": 500}).digest() == Strategy().digest()
    digests = {Strategy().with_settings({**paper, "signature.units": units}).digest() for units in (500, 1_000, 32_000)}
    assert len(digests) == 3


def test_the_default_answers_with_the_best_without_a_threshold() -> None:
    assert choose_strategy() == Strategy() == PRESETS["default"]
    assert choose_strategy().signature.alpha == 0
    assert choose_strategy().metric == "jaccard"


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_the_names_they_are_called_by_and_settings_of_their_own(name: str) -> None:
    assert preset_strategy(name).name == name
    assert len({strategy.digest() for strategy in PRESETS.values()}) == len(PRESETS)


def test_the_defaults_in_the_table_of_settings_are_those_of_the_default_strategy() -> None:
    for name, default, _allowed, help_text in settings_table(Strategy):
        value = value_of(Strategy(), name)
        assert default == ("unset" if value is None else json.dumps(value).strip('"'))
        assert help_text
        if value is not None:
            assert choose_strategy(settings=[f"{name}={default}"]) == Strategy()


# -- the command line -----------------------------------------------------------------------------------------------


def test_settings_are_written_as_name_and_value() -> None:
    given_settings = [
        "window.size=16",
        " window.kind = topical ",
        "anchors.within_site=No",
        "weight.mu=-1.5e0",
        "name=x=y",
    ]
    chosen = choose_strategy("haveliwala2002", settings=given_settings)
    assert (chosen.window.size, chosen.window.kind) == (16, "topical")
    assert chosen.anchors.within_site is False
    assert chosen.weight.mu == -1.5
    assert chosen.name == "x=y"
    assert chosen.signature == preset_strategy("haveliwala2002").signature


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("Yes", True), ("ON", True), ("off", False), ("no", False)]
)
def test_switches_are_words(text: str, value: bool) -> None:
    assert choose_strategy(settings=[f"anchors.within_site={text}"]).anchors.within_site is value


def test_the_last_of_several_values_counts() -> None:
    assert choose_strategy(settings=["window.size=1", "window.size=2"]).window.size == 2


def test_settings_that_are_at_odds_one_by_one_may_go_together() -> None:
    chosen = choose_strategy(settings=["content.scale=0", "title.scale=0", "anchors.scale=0", "links.scale=1"])
    assert chosen.links.scale == 1
    assert choose_strategy(settings=["weight.frequency=log", "weight.mu=1", "weight.frequency=nmdf"]).weight.mu == 1


# -- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("window.size=1001", "0 to 1,000"),
        ("window.size=-1", "0 to 1,000"),
        ("window.size=2.5", "0 to 1,000"),
        ("window.size=big", "not 'big'"),
        ("window.size=", "0 to 1,000"),
        ("window.size=nan", "0 to 1,000"),
        ("window.size=inf", "0 to 1,000"),
        ("window.size=1" + "0" * 400, "0 to 1,000"),
        ("content.scale=nan", "0 to 1,000"),
        ("content.scale=true", "0 to 1,000"),
        ("weight.mu=none", "-50 to 50"),
        ("weight.sigma=0", "0.01 to 50"),
        ("window.kind=Basic", "basic, syntactic, topical"),
        ("words=letter", "mixed, all, letters"),
        ("stemming=porter", "nostem, stopstem, stem"),
        ("weight.frequency=idf", "nmdf, none, log, sqrt"),
        ("anchors.within_site=maybe", "true, false"),
        ("anchors.within_site=1", "true, false"),
    ],
)
def test_values_that_are_not_allowed_are_answered_with_those_that_are(setting: str, said: str) -> None:
    with pytest.raises(StrategyError, match=r"is one of: .*; not ") as refused:
        choose_strategy(settings=[setting])
    assert setting.partition("=")[0] in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("value", [10**400, -(10**400), True, None, [1], {"a": 1}, b"1", float("nan")])
def test_values_of_another_kind_are_refused(value: object) -> None:
    with pytest.raises(StrategyError, match=r"window\.size is one of: 0 to 1,000"):
        Strategy().with_settings({"window.size": value})


@pytest.mark.parametrize("name", ["windows.size", "window", "size", "", "window.size.x", "preset"])
def test_unknown_settings_are_answered_with_all_that_there_are(name: str) -> None:
    with pytest.raises(StrategyError, match=f"there is no setting '{name}'") as refused:
        choose_strategy(settings=[f"{name}=1"])
    assert all(known in str(refused.value) for known in NAMES)


@pytest.mark.parametrize("setting", ["window.size", "", "window.size:3"])
def test_a_setting_without_a_value_is_answered_with_an_example(setting: str) -> None:
    with pytest.raises(StrategyError, match=r"NAME=VALUE, for example window\.size=16"):
        choose_strategy(settings=[setting])


def test_unknown_presets_and_tables_are_answered_with_those_that_there_are() -> None:
    for ask in (
        lambda: preset_strategy("paper"),
        lambda: choose_strategy("paper"),
        lambda: strategy_from_dict({"preset": "paper"}),
    ):
        with pytest.raises(StrategyError, match=r"no preset 'paper'\. Presets are default, haveliwala2002"):
            ask()
    with pytest.raises(
        StrategyError,
        match=r"no table \[windows\]\. Tables are anchors, content, links, outlinks, signals, signature, title",
    ):
        strategy_from_dict({"windows": {"size": 1}})


def test_a_preset_and_a_file_are_not_both_taken(tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match="preset or a strategy file, not both"):
        choose_strategy("default", file=str(tmp_path / "any.toml"))


def test_a_strategy_that_leaves_everything_out_is_refused() -> None:
    nothing = ["content.scale=0", "title.scale=0", "anchors.scale=0", "links.scale=0", "outlinks.scale=0"]
    with pytest.raises(StrategyError, match=r"leaves everything out: content\.scale, title\.scale, anchors\.scale"):
        choose_strategy(settings=nothing)
    with pytest.raises(StrategyError, match="leaves everything out"):
        replace(choose_strategy(settings=nothing[1:]), content=Content(scale=0))


def test_a_level_takes_the_place_of_a_centre() -> None:
    chosen = choose_strategy("haveliwala2002", settings=["weight.level=0.4"])
    assert (chosen.weight.level, chosen.weight.centre, chosen.weight.mu) == (0.4, None, None)
    assert choose_strategy(settings=["weight.level=0.4", "weight.centre=0.1"]).weight.centre == 0.1


@pytest.mark.parametrize("frequency", ["none", "log", "sqrt"])
def test_the_centre_of_nmdf_is_refused_beside_other_weights(frequency: str) -> None:
    with pytest.raises(StrategyError, match=f"belongs to weight.frequency = 'nmdf', which is '{frequency}'"):
        choose_strategy(settings=["weight.mu=1", f"weight.frequency={frequency}"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"window.size = ", "is no TOML file: Invalid value"),
        (b"stemming = 'stem'\nstemming = 'stem'", "is no TOML file: Cannot overwrite a value"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "is no TOML file: it is not UTF-8 text"),
        (b"window.size = " + b"1" * 5_000, "is no TOML file"),
        (b"a = " + b"[" * 10_000, "is no TOML file"),
        (b"[window]\nsize = 5000", "window.size is one of: 0 to 1,000; not 5000"),
        (b"[window]\nsizes = 5", "there is no setting 'window.sizes'"),
        (b"window = 5", "there is no setting 'window'"),
        (b"words = {kind = 'all'}", "there is no table [words]"),
        (b"preset = 'best'", "there is no preset 'best'"),
        (b"[weight]\nmu = 1979-05-27", "weight.mu is one of: -50 to 50"),
        (b"[weight]\nmu = 1\nfrequency = 'log'", "weight.mu belongs to"),
    ],
)
def test_a_file_that_is_no_strategy_is_named_with_what_is_wrong(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_bytes(content)
    with pytest.raises(StrategyError) as refused:
        load_strategy(file)
    assert str(refused.value).startswith(str(file))
    assert said in str(refused.value)


def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(StrategyError, match=r"none\.toml cannot be read: No such file or directory"):
        choose_strategy(file=str(tmp_path / "none.toml"))
    with pytest.raises(StrategyError, match="cannot be read: Is a directory"):
        load_strategy(tmp_path)
