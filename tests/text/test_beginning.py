"""Where running text begins: below what stands above it on every page of a site."""

from pathlib import Path

import pytest

from pagekin.hypertext import Corpus
from pagekin.text import running_text
from tests.bags.webs import record

from .collections import read

PROSE = "A needle is drawn as a line that is long and thin. It has a colour."
NOTICE = "JavaScript is disabled on your browser."
MENU = "<ul><li>Overview<li>Package<li>Class</ul>"


def text_of(path: Path, html: str, width: int = 200) -> str:
    return running_text(Corpus.open(read(path / "a.kin", [record("http://a.test/", html)])), 0, width)


@pytest.mark.parametrize(
    "above",
    [
        "<p>Home | Table of contents | Index | Modules and All Other Things Of This Site",
        "<p>The Guide of Needles: an in-depth exploration of the art of drawing needles<p>Prev<p>Next<h1>Chapter 2. Needles</h1>",
        f"<noscript>{NOTICE}</noscript><div>{NOTICE}</div>{MENU}",
        "<p>Please answer the following short survey about our users: https://survey.test/abc.def/x",
        "<p>9. layers of thread that the needle has left in the cloth<p>10. a small hole for the finger to rest in",
        "<p>One. Two. Three Four Five Six. Seven Eight Nine Ten Eleven. Twelve.",
    ],
)
def test_what_stands_above_the_text_is_left_out(tmp_path: Path, above: str) -> None:
    title = "<title>All there is to know about a long needle. The whole of it.</title>"
    assert text_of(tmp_path, f"{title}{above}<p>{PROSE}") == PROSE


@pytest.mark.parametrize(
    "prose", ["針は細くて長い線として描かれる。色もある。", "سوزن خطی است که باریک و بلند است. رنگ هم دارد."]
)
def test_scripts_without_capitals_have_running_text_too(tmp_path: Path, prose: str) -> None:
    assert text_of(tmp_path, f"{MENU}<p>{prose}") == prose


def test_a_page_without_sentences_gives_its_stored_beginning(tmp_path: Path) -> None:
    assert text_of(tmp_path, f"<title>Tree</title>{MENU}<p>no usage of the long needle in any of the packages") == (
        "Overview Package Class no usage of the long needle in any of the packages"
    )
    assert text_of(tmp_path / "empty", "<title>Tree</title>") == "Tree"


def test_it_goes_on_over_lines_and_is_cut_between_words(tmp_path: Path) -> None:
    html = f"{MENU}<p>{PROSE}</p><p>More   of it\nfollows here.</p>"
    assert text_of(tmp_path, html) == f"{PROSE} More of it follows here."
    assert text_of(tmp_path / "short", html, width=20) == "A needle is drawn …"
