"""Weights of signals are fitted where the site has something to say, kept where it has not, and judged by other pages."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pagekin.bags import LinkColumns, Signals, Strategy, link_weights, load_strategy
from pagekin.cli.app import USAGE, app, load_verbs
from pagekin.clusters import Directory, load_directory
from pagekin.engines import BuildRecipe, build_collection, index_collection
from pagekin.evaluation import (
    LEAST_EFFECT,
    Gain,
    Verdict,
    evaluate_strategies,
    summarise_comparisons,
    tune_kin,
    tune_see_also,
)
from pagekin.evaluation.author_links import running_links
from pagekin.evaluation.compare import Difference
from pagekin.evaluation.fit import halfway
from pagekin.evaluation.gamma import ClassBootstrap
from pagekin.evaluation.hidden import find_running_links, hide_links, measure_hidden, without_anchor_words
from pagekin.evaluation.ranking import document_id, make_rankings
from pagekin.evaluation.served import SignalScores, shares
from pagekin.evaluation.signal_table import REPEATS, SignalTable, class_error, cross_fit, draw_weights, fit_repeatedly
from pagekin.evaluation.without_lists import without_links
from pagekin.hypertext import Corpus, ReadPlan
from pagekin.similarity import SIGNALS, RelatedIndex
from tests.bags.webs import record
from tests.evaluation.test_tune import SlowClock

SITE = "http://site.example/"
CLASSES = [f"{top}/{middle}/{low}" for top in "ab" for middle in "cdefgh" for low in "ij"]
WORDS = [f"{a}{b}{c}{d}" for a in "bdfgklm" for b in "aeiou" for c in "nprst" for d in ("ak", "em", "ol")]


def pages(titled: bool) -> dict[str, str]:
    """Pages whose text is of one of 12 themes, which have nothing to do with the classes; titles may name these."""
    rng = random.Random(7)
    names = rng.sample(WORDS[-60:], len(CLASSES))
    made = {}
    for name, path in zip(names, CLASSES, strict=True):
        for page in range(6):
            theme = rng.randrange(12)
            text = rng.choices(WORDS[20 * theme : 20 * theme + 20], k=40)
            title = f"{name} {name}hood" if titled else " ".join(rng.choices(WORDS, k=2))
            made[f"{SITE}{path}/{page}"] = f"<title>{title}</title><p>{' '.join(text)}"
    return made


def linked_pages() -> dict[str, str]:
    """Pages of random words with links to random pages amid them."""
    rng = random.Random(3)
    urls = [f"{SITE}{number}" for number in range(90)]
    made = {}
    for url in urls:
        links = [f'<a href="{to}">{" ".join(rng.choices(WORDS, k=2))}</a>' for to in rng.sample(urls, 5) if to != url]
        parts = [part for link in links for part in (" ".join(rng.choices(WORDS, k=15)), link)]
        made[url] = f"<title>{' '.join(rng.choices(WORDS, k=2))}</title><p>{' '.join(parts)}"
    return made


def build(folder: Path, web: Mapping[str, str], strategy: Strategy) -> Path:
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in web.items()))
    build_collection(
        ReadPlan([str(folder / "web.warc")], folder / "web.kin", parser="strict", workers=1), BuildRecipe(strategy)
    )
    return folder / "web.kin"


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("titled"), pages(titled=True), Strategy())


@pytest.fixture(scope="module")
def random_tree(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    return RelatedIndex.open(build(tmp_path_factory.mktemp("random"), pages(titled=False), Strategy()))


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> RelatedIndex:
    return RelatedIndex.open(build(tmp_path_factory.mktemp("linked"), linked_pages(), Strategy()))


def tree_of(index: RelatedIndex) -> Directory:
    return load_directory(index.corpus, "url-path")


# -- kin ----------------------------------------------------------------------------------------------------------------


def test_where_titles_tell_the_class_they_get_more_weight(titled: Path) -> None:
    index = RelatedIndex.open(titled)
    done = tune_kin(index, tree_of(index))
    assert done.improved
    assert done.fitted.title > 2 * done.before.title
    assert done.changes()[0][0] in ("title", "bag", "tfidf")
    assert done.verdict.gains[0].difference > 0.1
    assert [gain.measure for gain in done.verdict.gains] == ["nDCG@10", "MAP", "Γ", "Somers' D"]
    assert done.advice.wish == "kin"
    assert done.advice.signals == done.fitted
    assert done.advice.digest() == index.strategy.digest()  # the bags are as they were


def test_half_of_the_way_is_taken_where_all_of_it_is_not_sure(titled: Path) -> None:
    index = RelatedIndex.open(titled)
    done = tune_kin(index, tree_of(index))
    assert done.by_half is not None and not done.goes_half, "all of the way is sure"
    sure, unsure, nearly = (Verdict((gain("nDCG@10", 0.03, low, 0.06),)) for low in (0.01, -0.01, 0.001))
    half = replace(done, by_fit=unsure, by_half=sure)
    assert half.goes_half and half.improved and half.verdict is sure
    assert half.chosen == halfway(done.before, done.fitted) == half.advice.signals
    assert shares(half.chosen) == pytest.approx((shares(done.before) + shares(done.fitted)) / 2, abs=0.001)
    assert half.as_dict()["half"] and "half-way" in half.as_toml("url-path")
    assert not replace(done, by_fit=unsure, by_half=nearly).improved, "a second chance must be surer than the first"
    assert replace(done, by_fit=nearly, by_half=None).improved
    assert not replace(done, by_fit=nearly, by_half=None, goal_is_strict=True).improved, "by lists the first, too"


def test_a_random_directory_changes_nothing(random_tree: RelatedIndex) -> None:
    for seed in range(1, 5):
        done = tune_kin(random_tree, tree_of(random_tree), seed=seed)
        assert not done.improved
        assert done.advice.signals == done.before


def test_a_fit_keeps_to_its_budget(titled: Path, linked: RelatedIndex) -> None:
    index = RelatedIndex.open(titled)
    whole, short = (tune_kin(index, tree_of(index), budget=budget, now=SlowClock()) for budget in (1e6, 60.0))
    assert short.seconds <= 1.2 * 60
    assert short.judged[1] < whole.judged[1]
    assert short.tries < whole.tries
    assert tune_see_also(linked, budget=60.0, now=SlowClock()).seconds <= 1.2 * 60


# -- see also -----------------------------------------------------------------------------------------------------------


def test_hidden_links_are_gone_in_both_directions_and_from_all_weights(linked: RelatedIndex) -> None:
    links = LinkColumns.of(linked.corpus.kin)
    hidden, shown = hide_links(links, find_running_links(linked, links, 1), 1)
    less = without_links(links, hidden)
    for document, targets in hidden.items():
        assert len(targets) > 0
        assert abs(len(targets) - len(shown[document])) <= 1
        out = less.out[less.out_offsets[document] : less.out_offsets[document + 1]]
        assert out.tolist() == sorted(shown[document].tolist())
        for target in targets.tolist():
            assert document not in less.into[less.in_offsets[target] : less.in_offsets[target + 1]]
    assert len(links.out) - len(less.out) == sum(map(len, hidden.values()))
    citing = np.diff(less.out_offsets)
    some = int(next(iter(hidden.values()))[0])
    into = less.into[less.in_offsets[some] : less.in_offsets[some + 1]]
    assert less.in_weight[some] == pytest.approx(link_weights(citing)[into].sum(), rel=1e-5)
    everything = without_links(links, {0: np.zeros(0, np.int64)})
    for name in ("out", "into", "out_weight", "in_weight", "out_offsets", "in_offsets"):
        assert np.allclose(getattr(everything, name), getattr(links, name), rtol=1e-5)


def test_words_that_links_alone_bring_do_not_give_hidden_links_away(linked: RelatedIndex) -> None:
    links = LinkColumns.of(linked.corpus.kin)
    citing = 0
    target = int(links.out[links.out_offsets[citing]])
    as_served, blind = (
        SignalScores(index).measure(citing, np.array([target]))[0] for index in (linked, without_anchor_words(linked))
    )
    assert blind[0, SIGNALS.index("bag")] < 0.8 * as_served[0, SIGNALS.index("bag")]


def test_random_links_seldom_change_anything_and_what_they_cannot_tell_keeps_its_share(linked: RelatedIndex) -> None:
    tunings = [tune_see_also(linked, seed=seed) for seed in range(1, 13)]
    assert sum(done.improved for done in tunings) <= 1  # an interval of 95 % is wrong upwards once in 40 times
    for done in tunings:
        assert done.advice.wish == ("see-also" if done.improved else "both")
        for name in ("links", "bag", "title"):
            assert getattr(done.fitted, name) == pytest.approx(getattr(done.preset, name), abs=0.001)


def test_what_is_served_is_what_weights_for_see_also_have_to_beat(linked: RelatedIndex) -> None:
    done = tune_see_also(linked)
    assert done.before == linked.strategy.signals
    assert done.preset == linked.strategy.signals_for("see-also") != done.before
    gains = [verdict.gains[0] for verdict in (done.by_preset, done.by_fit, done.by_fit_alone)]
    assert gains[0].before == gains[1].before
    assert gains[2].before == gains[0].after != gains[0].before
    assert gains[1].after == gains[2].after


def test_by_links_in_running_text_the_whole_interval_must_be_above_the_least_effect(linked: RelatedIndex) -> None:
    done = tune_see_also(linked)
    for low, better in ((LEAST_EFFECT - 0.001, False), (LEAST_EFFECT, True)):
        verdict = Verdict((gain("nDCG@10", 0.03, low, 0.06),))
        for_links = replace(done, by_fit=verdict, by_fit_alone=verdict)
        assert for_links.improved == better
        assert replace(for_links, least_low=0.0).improved


def test_weights_that_find_fewer_of_the_right_pages_are_refused_though_these_stand_higher(linked: RelatedIndex) -> None:
    done = tune_see_also(linked)
    for recall, better in ((-0.01, False), (-1e-9, True), (0.01, True)):
        verdict = Verdict((gain("nDCG@10", 0.03, 0.01, 0.06), gain("recall@10", recall, -0.03, 0.02)))
        for_links = replace(done, by_fit=verdict, by_fit_alone=verdict, by_half=verdict)
        assert for_links.improved == better
        assert for_links.loses_right_pages != better


def test_the_quick_ndcg_of_a_fit_is_that_of_the_judge(linked: RelatedIndex) -> None:
    rng, table, hidden = np.random.default_rng(2), SignalTable(), {}
    for source in range(12):
        near = np.delete(np.arange(90), source)
        hidden[source] = rng.choice(near, 4, replace=False)
        table.add(
            SignalScores(linked), source, source, near, np.isin(near, hidden[source]).astype(np.int64), np.ones(4)
        )
    bootstrap = ClassBootstrap(np.arange(12), 10, 1)
    names = {number: document_id(linked.urls[number]) for number in range(90)}
    grades = {names[source]: {names[d]: 1 for d in some.tolist()} for source, some in hidden.items()}
    rankings = make_rankings(names, np.arange(12), np.arange(12), grades, 1, 12, bootstrap)
    for weights in (Signals(), Signals(1, 0, 0, 0, 0, 0, 0), Signals(0, 1, 1, 0, 0, 0, 0)):
        measured = measure_hidden(table, rankings, bootstrap, [shares(weights)] * 12)
        assert table.ndcg(shares(weights)).mean() == pytest.approx(measured["nDCG@10"][0], abs=1e-6)


def test_a_class_is_one_piece_of_evidence() -> None:
    one_class = 0.05 * (np.arange(40) < 10)
    by_page, by_class = (class_error(one_class, classes) for classes in (np.arange(40), np.arange(40) // 10))
    assert by_page < one_class.mean() < 1.2 * by_class
    assert class_error(np.full(40, 0.01), np.arange(40) // 10) == pytest.approx(0)


def test_drawn_weights_begin_with_the_presets_and_keep_what_is_fixed() -> None:
    kin, both = Strategy().signals_for("kin"), Signals()
    pool = draw_weights([kin, both], ("links", "title"), 50, 3)
    assert len(pool) == 50
    assert pool[0] == pytest.approx(shares(kin))
    for weights in pool:
        assert weights.sum() == pytest.approx(1)
        assert weights.min() >= 0
        for name in ("links", "title"):
            assert weights[SIGNALS.index(name)] == pytest.approx(shares(kin)[SIGNALS.index(name)])
    assert all(
        np.array_equal(a, b) for a, b in zip(pool, draw_weights([kin, both], ("links", "title"), 50, 3), strict=True)
    )


class MadeUpTable(SignalTable):
    """Sources of which those of one class alone gain by the signal `title`, and all others by `tfidf`."""

    def __init__(self, odd: int) -> None:
        super().__init__()
        self.sources = list(range(60))
        self.classes = [source // 6 for source in range(60)]
        self._odd = np.array(self.classes) == odd

    def ndcg(self, weights: np.ndarray) -> np.ndarray:
        title, tfidf = (weights[SIGNALS.index(name)] for name in ("title", "tfidf"))
        return np.asarray(np.where(self._odd, 0.2 + 0.5 * title, 0.2 + 0.5 * tfidf))


def test_a_part_is_judged_by_weights_that_do_not_know_it() -> None:
    table = MadeUpTable(odd=3)
    parts = np.array(table.classes) % 5
    fit = cross_fit(table, parts, [Signals()])
    assert fit.weights.tfidf > 0.6
    assert len(fit.without) == 5
    for part, weights in enumerate(fit.without):
        changed = MadeUpTable(odd=3 if part != 3 else -1)
        changed._odd |= parts == part  # whatever this part would gain by: its own weights stay
        assert cross_fit(changed, parts, [Signals()]).without[part] == weights


def test_in_every_division_a_part_is_judged_by_weights_that_do_not_know_it() -> None:
    table = MadeUpTable(odd=3)
    fit = fit_repeatedly(table, [Signals()], seed=2)
    assert fit.weights.tfidf > fit.weights.title + 0.2
    assert len(fit.without) == len({tuple(parts) for parts in fit.parts.tolist()}) == REPEATS
    for place, (weights, parts) in enumerate(zip(fit.without, fit.parts, strict=True)):
        assert np.bincount(parts).tolist() == [12] * 5
        changed = MadeUpTable(odd=3)
        changed._odd |= parts == 1  # whatever this part would gain by: its own weights stay
        again = fit_repeatedly(changed, [Signals()], seed=2).without[place]
        same = np.array([one == other for one, other in zip(again, weights, strict=True)])
        assert same[parts == 1].all() and not same[parts != 1].any()


def test_running_text_is_told_from_lists(tmp_path: Path) -> None:
    amid = "quinces and lanterns stand beside <a href=b>the harbour</a>, where the old boats wait for spring"
    web = {
        f"{SITE}a": f"<p>{amid}</p><ul><li><a href=c>the quay</a> with many boats and ropes and nets and more</ul>"
        "<p><a href=d>one</a> <a href=e>two</a> <a href=f>three</a></p><p>See <a href=g>more</a></p>",
        **{f"{SITE}{name}": f"<title>{name}</title>{name} words" for name in "bcdefg"},
    }
    corpus = RelatedIndex.open(build(tmp_path, web, Strategy())).corpus
    page = corpus.pages_of(corpus.url_number(f"{SITE}a"))[0]
    assert [corpus.url(url) for url in running_links(corpus, page).tolist()] == [f"{SITE}b"]
    lonely = corpus.pages_of(corpus.url_number(f"{SITE}b"))[0]
    assert not len(running_links(corpus, lonely))


# -- verdicts -----------------------------------------------------------------------------------------------------------


def gain(measure: str, by: float, low: float, high: float) -> Gain:
    return Gain(measure, 0.5, 0.5 + by, low, high)


def test_the_first_measure_decides_by_interval_and_least_effect() -> None:
    assert Verdict((gain("nDCG@10", 0.113, 0.05, 0.2), gain("Somers' D", 0.019, -0.01, 0.04))).better
    assert not Verdict((gain("nDCG@10", LEAST_EFFECT - 0.001, 0.001, 0.01),)).better
    assert not Verdict((gain("nDCG@10", 0.2, -0.001, 0.4),)).better
    assert not Verdict((gain("nDCG@10", float("nan"), float("nan"), float("nan")),)).better


def test_a_conflict_of_measures_is_said() -> None:
    said = Verdict((gain("nDCG@10", 0.1, 0.05, 0.2), gain("Somers' D", -0.1, -0.2, -0.05))).conflict
    assert said.startswith("The measures disagree: nDCG@10 +0.100 [+0.050, +0.200] rises, but Somers' D -0.100")
    assert "sees no difference" in Verdict((gain("nDCG@10", 0.0, -0.1, 0.1), gain("MAP", 0.1, 0.05, 0.2))).conflict
    assert not Verdict((gain("nDCG@10", 0.1, 0.05, 0.2), gain("MAP", -0.1, -0.2, 0.05))).conflict


def test_an_evaluation_says_where_the_first_places_contradict_the_whole_order() -> None:
    by_d = Difference("windows", "content", "siblings", "somers_d", 0.1, 0.05, 0.15, 0.001)
    by_ndcg = Difference("windows", "content", "", "ndcg10", -0.2, -0.3, -0.1, 0.001)
    said = summarise_comparisons([by_d, by_ndcg], "siblings")
    assert said.startswith("windows is better than content, beyond chance, by 0.100")
    assert (
        "The measures disagree: by nDCG@10 content is better than windows, beyond chance, by 0.200 [0.100, 0.300]"
        in said
    )
    assert "disagree" not in summarise_comparisons([by_d, replace(by_ndcg, difference=0.2)], "siblings")


def test_without_a_sure_difference_the_measures_that_see_one_are_named() -> None:
    by_d = Difference("windows", "content", "siblings", "somers_d", 0.05, -0.05, 0.15, 0.4)
    by_map = Difference("windows", "content", "", "map", 0.2, 0.1, 0.3, 0.001)
    said = summarise_comparisons([by_d, by_map], "siblings")
    assert "by Somers' D siblings no difference beyond chance, corrected for 1 comparison" in said
    assert "It is better, beyond chance, by MAP (0.200 [0.100, 0.300])." in said
    for weak in (replace(by_map, p=0.4), replace(by_map, difference=-0.2)):
        assert "It is better" not in summarise_comparisons([by_d, weak], "siblings")


def test_without_a_sure_difference_in_the_main_region_the_other_regions_are_named() -> None:
    by_d = Difference("windows", "content", "siblings", "somers_d", 0.05, -0.05, 0.15, 0.4)
    overall = Difference("windows", "content", "overall", "somers_d", 0.2, 0.1, 0.3, 0.001)
    cousins = Difference("windows", "content", "cousins", "somers_d", -0.2, -0.3, -0.1, 0.001)
    by_map = Difference("windows", "content", "", "map", 0.2, 0.1, 0.3, 0.001)
    said = summarise_comparisons([by_d, overall, cousins, replace(overall, measure="gamma"), by_map], "siblings")
    assert (
        "It is better, beyond chance, by Somers' D overall (0.200 [0.100, 0.300]) and MAP (0.200 [0.100, 0.300])."
        in said
    )
    assert said.endswith("It is worse, beyond chance, by Somers' D cousins (-0.200 [-0.300, -0.100]).")
    sure = summarise_comparisons([replace(by_d, p=0.001), cousins], "siblings")
    assert sure.endswith("It is worse, beyond chance, by Somers' D cousins (-0.200 [-0.300, -0.100]).")


def test_if_all_that_is_sure_speaks_for_the_second_strategy_it_is_called_better() -> None:
    by_d = Difference("words", "anchors", "siblings", "somers_d", 0.048, -0.137, 0.083, 0.6)
    cousins = Difference("words", "anchors", "cousins", "somers_d", -0.2, -0.3, -0.1, 0.001)
    by_map = Difference("words", "anchors", "", "map", -0.1, -0.2, -0.05, 0.001)
    said = summarise_comparisons([by_d, cousins, replace(cousins, measure="gamma"), by_map], "siblings")
    assert said.startswith(
        "anchors is better than words, beyond chance, by Somers' D cousins (0.200 [0.100, 0.300]) and MAP (0.100 [0.050, 0.200])."
    )
    assert "Only by Somers' D siblings, which orders strategies, words comes first, and that may be chance" in said
    mixed = summarise_comparisons([by_d, cousins, replace(by_map, difference=0.1)], "siblings")
    assert mixed.startswith("words comes first")


# -- what is served -----------------------------------------------------------------------------------------------------


def test_served_by_bags_alone_is_judged_as_the_strategy_is(titled: Path, tmp_path: Path) -> None:
    bag_alone = Strategy(signals=Signals(1, 0, 0, 0, 0, 0, 0))
    index = RelatedIndex.open(build(tmp_path, pages(titled=True), bag_alone))
    done = evaluate_strategies(
        index.corpus, tree_of(index), {"own": bag_alone, "paper": Strategy()}, served=index, cache=False
    )
    own, served = (next(one for one in done.judgements if one.name == name) for name in ("own", "served (both)"))
    for region, agreement in served.agreements.items():
        assert agreement.gamma == pytest.approx(own.agreements[region].gamma, abs=2e-3)
        assert agreement.somers_d == pytest.approx(own.agreements[region].somers_d, abs=2e-3)
    assert done.scores["served (both)"].ndcg10 == pytest.approx(done.scores["own"].ndcg10, abs=5e-3)
    assert served in done.comparable


# -- the command --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def verbs() -> None:
    load_verbs()


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    return result.exit_code, result.output


def test_saved_weights_are_what_an_index_then_serves(titled: Path, tmp_path: Path) -> None:
    saved = tmp_path / "kin.toml"
    code, said = run("tune", titled, "--directory", "url-path", "--for", "kin", "--save", saved)
    assert code == 0, said
    assert "The fitted weights are better." in said
    strategy = load_strategy(saved)
    assert strategy.wish == "kin"
    before = json.loads(run("evaluate", titled, "--directory", "url-path", "--for", "kin", "--json")[1])
    index_collection(titled, strategy)
    after = json.loads(run("evaluate", titled, "--directory", "url-path", "--for", "kin", "--json")[1])
    served = [next(one for one in told["strategies"] if one["name"] == "served (kin)") for told in (before, after)]
    assert served[1]["ndcg10"] > served[0]["ndcg10"] + 0.1
    assert served[1]["ndcg10_low"] <= served[1]["ndcg10"] <= served[1]["ndcg10_high"]


def test_what_is_missing_or_too_much_is_said(titled: Path) -> None:
    for arguments, said in (
        ([], "--directory"),
        (["--for", "see-also", "--directory", "url-path"], "leave --directory out"),
        (["--bags"], "--bags needs --directory"),
        (["--directory", "url-path", "--tries", "3"], "--tries needs --bags"),
        (["--for", "both", "--directory", "url-path"], "kin, see-also"),
    ):
        code, output = run("tune", titled, *arguments)
        assert code == USAGE
        assert said in output


def test_a_page_without_links_cannot_be_asked_for_hidden_ones(titled: Path) -> None:
    code, said = run("tune", titled, "--for", "see-also")
    assert code != 0
    assert "0 pages have such lists, and 0 such links" in said
    assert Corpus.open(titled).facts["index"]


# -- a build that tunes -------------------------------------------------------------------------------------------------


def build_by_command(folder: Path, web: Mapping[str, str], *more: str) -> str:
    (folder / "web.warc").write_bytes(b"".join(record(url, html) for url, html in web.items()))
    arguments = ["build", str(folder / "web.warc"), "--out", str(folder / "web.kin"), "--no-clusters", *more]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_build_with_tune_serves_what_was_fitted_and_another_build_repeats_it(tmp_path: Path) -> None:
    saved = tmp_path / "tuned.toml"
    said = build_by_command(tmp_path, pages(titled=True), "--tune", "20s", "--save-strategy", str(saved))
    assert "The fitted weights are better" in said
    tuned = RelatedIndex.open(tmp_path / "web.kin").strategy
    assert (tuned.name, tuned.wish) == ("tuned", "kin")
    assert tuned.signals.title > 2 * Strategy().signals_for("kin").title
    manifest = (tmp_path / "web.kin" / "manifest.json").read_bytes()
    build_by_command(tmp_path, pages(titled=True), "--strategy", str(saved))
    assert (tmp_path / "web.kin" / "manifest.json").read_bytes() == manifest


def test_a_build_with_tune_keeps_its_strategy_where_nothing_is_better(tmp_path: Path) -> None:
    saved = tmp_path / "same.toml"
    said = build_by_command(tmp_path, pages(titled=False), "--tune", "20s", "--save-strategy", str(saved), "--json")
    told = json.loads(said)
    assert told["tuning"]["improved"] is False
    assert told["index"]["strategy"]["name"] == "default"
    assert load_strategy(saved) == Strategy()


def test_a_build_that_cannot_be_judged_is_a_build_all_the_same(tmp_path: Path) -> None:
    said = build_by_command(tmp_path, {f"{SITE}one": "<title>harbour</title>lanterns and quinces"}, "--tune", "20s")
    assert "Not tuned: " in said
    assert len(RelatedIndex.open(tmp_path / "web.kin")) == 1


def test_a_strategy_to_save_needs_tuning(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("one page")
    arguments = ["build", str(tmp_path), "--out", str(tmp_path / "x.kin"), "--save-strategy", str(tmp_path / "s.toml")]
    assert CliRunner().invoke(app, arguments).exit_code == USAGE
