"""The strategies of the paper's figures have its base settings."""

from pagekin.bags import PRESETS
from pagekin.bags.strategy import PAPER_CENTRE
from pagekin.evaluation import figure_strategies
from pagekin.evaluation.evaluate import BY_INLINKS
from pagekin.evaluation.figures import EQUAL, HIGHER, LOWER, UNSAID, Figure, figures


def by_number() -> dict[str, Figure]:
    return {figure.number: figure for figure in figures()}


def test_all_figures_are_there_with_at_least_25_different_strategies() -> None:
    assert list(by_number()) == ["3", "4", "5", "6", "7", "9", "note 6", "presets"]
    strategies = figure_strategies()
    assert len(strategies) == sum(len(figure.strategies) for figure in figures())
    assert len({strategy.digest() for strategy in strategies.values()}) >= 25
    assert set(BY_INLINKS) <= strategies.keys()


def test_base_settings_are_those_that_the_text_gives() -> None:
    for figure in figures():
        for label, strategy in figure.strategies.items():
            if figure.number == "presets":
                assert strategy is PRESETS[label]
                continue
            assert strategy.words == "letters"
            assert strategy.anchors.repeat == "every"
            assert strategy.weight.tf == "raw"
            assert strategy.weight.frequency != "nmdf" or strategy.weight.centre == PAPER_CENTRE
            if figure.number != "9":
                assert strategy.stemming == "stem"
            if not label.startswith("window "):
                assert strategy.window.size == 32
            if figure.number != "note 6":
                assert strategy.metric == "jaccard"
            if figure.number in ("5", "7", "9"):
                assert strategy.weight.distance == "log"


def test_figures_3_and_4_are_unweighted_and_alike() -> None:
    three, four = by_number()["3"], by_number()["4"]
    assert [s.digest() for s in three.strategies.values()] == [s.digest() for s in four.strategies.values()]
    assert four.orthogonality
    assert list(three.strategies) == [
        "window 0", "window 4", "window 8", "window 16", "window 32", "syntactic", "topical", "links", "content",
    ]  # fmt: skip
    for label, strategy in three.strategies.items():
        assert (strategy.weight.distance, strategy.weight.frequency) == ("none", "none")
        held = {name for name in ("content", "title", "anchors", "links") if getattr(strategy, name).scale}
        assert held == {"links": {"links"}, "content": {"content", "title"}}.get(label, {"anchors", "title"})
    assert [three.strategies[f"window {size}"].window.size for size in (0, 4, 8, 16, 32)] == [0, 4, 8, 16, 32]


def test_what_the_paper_says_of_steps_is_about_bars_that_are_there() -> None:
    for figure in figures():
        assert figure.steps
        assert {bar for step in figure.steps for bar in step} <= figure.strategies.keys()
        assert set(figure.steps.values()) <= {HIGHER, LOWER, EQUAL, UNSAID}
    seven = by_number()["7"].steps
    assert list(seven) == [("none", "log"), ("log", "sqrt"), ("sqrt", "NMDF")]
    assert set(seven.values()) == {HIGHER}


def test_each_of_the_other_figures_varies_one_thing() -> None:
    figure = by_number()
    five = {label: (s.content.scale, s.links.scale) for label, s in figure["5"].strategies.items()}
    assert five == {"windows": (0, 0), "windows + content": (1, 0), "windows + links": (0, 1), "all three": (1, 1)}
    six = {label: (s.weight.distance, s.weight.frequency) for label, s in figure["6"].strategies.items()}
    assert six == {
        "none": ("none", "none"), "distance": ("log", "none"), "frequency": ("none", "nmdf"), "both": ("log", "nmdf"),
    }  # fmt: skip
    assert [s.weight.frequency for s in figure["7"].strategies.values()] == ["none", "log", "sqrt", "nmdf"]
    assert [s.stemming for s in figure["9"].strategies.values()] == ["nostem", "stopstem", "stem"]
    assert {s.metric for s in figure["note 6"].strategies.values()} == {"jaccard", "cosine"}
