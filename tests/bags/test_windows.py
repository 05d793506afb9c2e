"""Windows around links, counted by finger (section 3.1): which words, how far away, and where they end."""

import math

import pytest

from pagekin.bags import STOP_WORDS

from .webs import bags_of, plainly, shares

SOURCE, TARGET = "http://s.example/", "http://t.example/"
LINK = f"<a href={TARGET}>granite</a>"
STONES = [f"stone{first}{second}" for first in "abcdefgh" for second in "uvwxyz"]


def bag(html: str, *settings: str) -> dict[str, float]:
    """The bag of the page that `html`, on another host, links to."""
    return bags_of({SOURCE: html}, plainly(*settings)).bag(TARGET)


def test_the_words_used_here_are_none_that_are_stopped() -> None:
    assert not STOP_WORDS & {*STONES, *"granite mica quartz basalt slate marble".split()}
    assert STOP_WORDS.issuperset(["the", "and", "of", "with", "click", "here"])


def test_a_window_counts_kept_words_and_passes_over_stop_words() -> None:
    html = f"<p>marble, basalt and the mica of {LINK} with the quartz and of the slate, basalt"
    assert bag(html, "window.size=1") == pytest.approx(shares(["mica", "granite", "quartz"]))
    assert bag(html, "window.size=2") == pytest.approx(shares(["basalt", "mica", "granite", "quartz", "slate"]))


def test_a_window_of_no_words_holds_the_link_text_alone() -> None:
    assert bag(f"<p>mica {LINK} quartz", "window.size=0") == {"granite": 1.0}


def test_a_word_that_stands_on_both_sides_counts_twice() -> None:
    assert bag(f"mica {LINK} mica") == pytest.approx(shares({"granite": 1, "mica": 2}))


def test_an_anchor_word_that_stands_in_the_window_as_well_counts_by_both_distances() -> None:
    html = f"<p>granite the {LINK} of mica"
    assert bag(html, "weight.distance=log") == pytest.approx(shares({"granite": 5 + 4, "mica": 4}))


def test_words_weigh_less_the_farther_they_are_from_the_link() -> None:
    left, right = STONES[:10], STONES[10:20]
    html = f"<p>{' the '.join(reversed(left))} {LINK} {' '.join(right)}"
    found = bag(html, "weight.distance=log")
    for distance, weight in ((1, 4), (3, 3), (7, 2)):
        assert found[left[distance - 1]] / found["granite"] == pytest.approx(weight / 5)
        assert found[right[distance - 1]] / found["granite"] == pytest.approx(weight / 5)
    assert found[left[1]] / found["granite"] == pytest.approx(math.log2(32 / 3) / 5)


def test_words_at_distance_31_and_beyond_weigh_nothing() -> None:
    html = f"<p>{LINK} {' '.join(STONES)}"
    found = bag(html, "weight.distance=log", "window.size=40")
    assert set(found) == {"granite", *STONES[:30]}
    assert min(found.values()) > 0
    assert found[STONES[29]] / found["granite"] == pytest.approx(math.log2(32 / 31) / 5, rel=1e-5)
    without_distance = bag(html, "weight.distance=none", "window.size=40")
    assert without_distance == pytest.approx(shares(["granite", *STONES[:40]]))


def test_distance_is_from_the_nearer_end_of_the_link() -> None:
    html = f"<p>mica <a href={TARGET}>granite of marble and basalt</a> quartz"
    expected = shares({"mica": 4, "granite": 5, "marble": 5, "basalt": 5, "quartz": 4})
    assert bag(html, "weight.distance=log") == pytest.approx(expected)


def test_a_link_without_a_word_that_counts_has_a_window_all_the_same() -> None:
    for text in ("click here", "", "<img src=x.png>"):
        html = f"<p>mica <a href={TARGET}>{text}</a> quartz"
        assert bag(html, "weight.distance=log") == pytest.approx(shares({"mica": 4, "quartz": 4})), text


def test_alternative_texts_of_images_are_anchor_text_inside_and_window_words_outside() -> None:
    html = f"<img alt='mica'><a href={TARGET}><img alt='granite'></a><img alt='the quartz'>"
    assert bag(html, "weight.distance=log") == pytest.approx(shares({"mica": 4, "granite": 5, "quartz": 4}))


def test_title_and_meta_keywords_are_in_no_window() -> None:
    html = f"<title>basalt</title><meta name=keywords content=slate><p>{LINK} mica"
    assert bag(html) == pytest.approx(shares(["granite", "mica"]))


def test_other_links_in_the_window_are_words_like_others() -> None:
    html = f"<a href=http://u.example/>mica</a> {LINK}"
    made = bags_of({SOURCE: html}, plainly("weight.distance=log"))
    assert made.bag(TARGET) == pytest.approx(shares({"mica": 4, "granite": 5}))
    assert made.bag("http://u.example/") == pytest.approx(shares({"mica": 5, "granite": 4}))


WINDOW = ["mica", "granite", "slate"]


@pytest.mark.parametrize(
    "html",
    [
        f"<p>quartz<p>mica {LINK} slate<p>basalt",
        f"<div>quartz<div>mica {LINK} slate</div>basalt</div>",
        f"<table><tr><td>quartz<td>mica {LINK} slate<td>basalt</table>",
        f"<table><tr><td>quartz<tr><td>mica {LINK} slate<tr><td>basalt</table>",
        f"<ul><li>quartz<li>mica {LINK} slate<li>basalt</ul>",
        f"<dl><dt>quartz<dd>mica {LINK} slate<dt>basalt</dl>",
        f"<h2>quartz</h2>mica {LINK} slate<h2>basalt</h2>",
        f"<ul>quartz</ul>mica {LINK} slate<ul>basalt</ul>",
        f"<table><td>quartz</table>mica {LINK} slate<table><td>basalt</table>",
        f"<p>quartz.<br>mica {LINK} slate!<br>basalt",
        f"<p>quartz.  <br>mica {LINK} (slate?)<br>basalt",
    ],
)
def test_syntactic_windows_end_at_paragraphs_cells_items_and_at_breaks_after_sentences(html: str) -> None:
    assert bag(html, "window.kind=syntactic") == pytest.approx(shares(WINDOW))
    assert bag(html, "window.kind=basic") == pytest.approx(shares(["quartz", *WINDOW, "basalt"]))


@pytest.mark.parametrize(
    "html",
    [
        f"<p>mica. {LINK} <b>slate</b>",  # the end of a sentence alone
        f"<p>mica<br>{LINK}<br>slate",  # a break alone
        f"<p>mica<br>. {LINK} slate",  # a sentence that ends after the break
        f"<p>mica. and <br>{LINK} <span>slate</span>",  # a break within the next sentence
    ],
)
def test_syntactic_windows_go_on_across_sentences_and_across_breaks_within_one(html: str) -> None:
    assert bag(html, "window.kind=syntactic") == pytest.approx(shares(WINDOW))


@pytest.mark.parametrize(
    "html",
    [
        f"<p>quartz<h2>mica</h2>{LINK} slate<h2>basalt</h2>",
        f"<ul><li>quartz</ul>mica {LINK} slate<h1>basalt</h1>",
        f"<h3>quartz</h3><table><td>basalt</table>mica<p>{LINK}<p>slate<h4>marble",
        f"<ul><li>quartz</ul><table><tr><td>mica<td>{LINK}<tr><td>slate</table>basalt",
        f"<table><td>quartz</table><ul><li>mica<li>{LINK}<li>slate</ul><p>basalt",
        f"<dl><dt>quartz</dl><p>mica.<br><p>{LINK}.<br><div>slate</div><h6>basalt",
    ],
)
def test_topical_windows_end_at_headings_list_ends_and_table_ends_alone(html: str) -> None:
    assert bag(html, "window.kind=topical") == pytest.approx(shares(WINDOW))


def test_a_topical_window_holds_the_words_of_the_heading_that_it_stands_under() -> None:
    html = f"<p>quartz<h2>Marble and basalt</h2><ul><li>mica<li>{LINK}<li>slate</ul><h2>Quartz</h2>"
    found = bag(html, "window.kind=topical", "weight.distance=log")
    away = {1: 4.0, 2: math.log2(32 / 3), 3: 3.0}
    expected = {"marble": away[3], "basalt": away[2], "mica": away[1], "granite": 5.0, "slate": away[1]}
    assert found == pytest.approx(shares(expected))


def test_a_link_in_a_heading_has_the_topic_to_its_right_alone() -> None:
    html = f"<p>quartz<h2>{LINK}</h2><p>mica<p>slate<h2>Basalt</h2>"
    assert bag(html, "window.kind=topical") == pytest.approx(shares(["granite", "mica", "slate"]))
    assert bag(html, "window.kind=syntactic") == {"granite": 1.0}


def test_borders_within_a_link_do_not_divide_its_text() -> None:
    html = f"<p>quartz</p><a href={TARGET}><h3>granite</h3><div>mica</div></a><p>slate"
    for kind in ("syntactic", "topical"):
        made = bag(html, f"window.kind={kind}")
        assert {"granite", "mica"} <= set(made), kind
        assert "quartz" not in made, kind


@pytest.mark.parametrize("kind", ["syntactic", "topical"])
@pytest.mark.parametrize("size", [5, 32, 48])
def test_dynamic_windows_end_at_their_size_and_at_32_words_at_the_latest(kind: str, size: int) -> None:
    html = f"<p>{' '.join(STONES)} {LINK}"
    found = bag(html, f"window.kind={kind}", f"window.size={size}")
    assert set(found) == {"granite", *STONES[-min(size, 32) :]}


def test_borders_are_found_far_into_a_page() -> None:
    filling = "marble " * 700
    html = f"<p>{filling}<p>mica {LINK} slate<p>{filling}"
    assert bag(html, "window.kind=syntactic") == pytest.approx(shares(WINDOW))


def test_the_mean_width_of_windows_is_noted() -> None:
    html = f"<p>mica the quartz {LINK} of slate<p>{LINK}"
    facts = bags_of({SOURCE: html}, plainly("window.kind=syntactic")).facts
    assert facts["window_words"] == {"left": 1.0, "right": 0.5}
