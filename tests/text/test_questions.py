"""Questions in plain words: what is ignored, what will do where few pages hold all, what is written on links."""

from pathlib import Path

import pytest

from pagekin.text import (
    NearWords,
    Some,
    TextIndex,
    Word,
    analyse,
    describe_match,
    make_snippet,
    parse_query,
    read_question,
)

from .collections import addresses, searchable
from .oracle import Oracle


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("how do birds fly", "birds fly"),
        ("What is the capital of France?", "capital france"),
        ("birds of the sea?", "birds sea"),
        ("capital of france", "capital of france"),
        ("who is who", "who is who"),
        ('"how" do birds fly', "how do birds fly"),
        ("title:how do birds fly", "title:how do birds fly"),
        ("how AND birds", "how birds"),
        ("what about e-mail", '"e mail"'),
        ("is", "is"),
        ("is water wet", "water wet"),
        ("will smith", "will smith"),
        ("can opener", "can opener"),
    ],
)
def test_words_that_say_nothing_are_ignored_in_questions(text: str, meant: str) -> None:
    assert str(read_question(text).query) == meant


@pytest.mark.parametrize(
    "text", ["lock AND key", "lock OR key", '"lock" key', "title:lock key", "lock -key", "(lock key)"]
)
def test_a_query_in_the_language_is_taken_as_it_is_written(text: str) -> None:
    question = read_question(text)
    assert question.query == parse_query(text)
    assert question.parts == ()
    assert question.some is None


def test_some_of_a_question_are_the_words_that_matter_each_form_once() -> None:
    assert read_question("the lock of the locks and the key").some == Some((Word(None, "lock"), Word(None, "key")))
    assert read_question("lock").some is None


def test_an_answer_says_how_the_question_was_understood() -> None:
    question = read_question("quince harbour")
    assert describe_match(question, 0, 7, {}) == "No page has all of: quince, harbour. These have some of them."
    assert describe_match(question, 1, 7, {}).startswith("Only 1 document has all of: quince, harbour.")
    assert describe_match(question, 0, 0, {}) == "No page has any of: quince, harbour."
    assert describe_match(question, 10, 10, {}) == describe_match(question, 3, 3, {}) == ""
    assert describe_match(question, 10, 10, {"quinse": "quince"}) == (
        "No page has \u201cquinse\u201d; searched for \u201cquince\u201d."
    )


def test_short_words_are_no_plurals_and_irregular_plurals_are() -> None:
    assert analyse(["is", "i", "us", "mice", "mouse", "wolves", "wolf"]) == [
        "is", "i", "us", *2 * analyse(["mouse"]), *2 * analyse(["wolf"]),
    ]  # fmt: skip


def test_of_words_as_near_the_one_with_the_same_letters_and_the_commoner_one_is_meant() -> None:
    words = ["the", "ghana", "gandhi", *(f"filler{chr(97 + n)}" for n in range(26)), "ghani"]
    assert NearWords(words).near("ghandi", 1) == ["gandhi"]


TEXT = "<p>Some words about many other things that nobody asked for, in one row."
PAGES = {
    "http://a.test/1-both": f"<title>Ships</title><p>A cheetah, a page of its own words, and then a harbour. {TEXT}",
    "http://a.test/2-row": f"<title>Tides</title><p>The old stone harbour lights. {TEXT}",
    "http://a.test/3-apart": f"<title>Rocks</title><p>The old harbour of stone. {TEXT}",
    "http://a.test/4-named": f"<title>Cheetah</title><p>The cheetah is fast. {TEXT}",
    "http://a.test/5-war": f"<title>World war II</title><p>The second one of the world. A war. {TEXT}",
    "http://a.test/6-war": f"<title>Second fish war</title><p>Second in the world of war, war, war. {TEXT}",
    "http://a.test/7-links": "".join(f"<p><a href=/5-war>Second World War</a> <a href=/{n}>x</a>" for n in range(3)),
    "http://a.test/8-links": "<p>The <a href=/5-war>second world war</a> was long.",
    "http://b.test/9-links": "<p><a href=http://a.test/6-war>The second world war</a>",
    **{f"http://a.test/{n}": f"<p>harbour {n} {TEXT}" for n in range(100, 103)},
}


@pytest.fixture(scope="module", params=["plain", "compiled"])
def web(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> TextIndex:
    index = searchable(tmp_path_factory.mktemp("asked") / "asked.kin", PAGES)
    return TextIndex.at(Path(index.corpus.kin.path), compiled=request.param == "compiled")


@pytest.mark.parametrize(
    "text",
    ["stone harbour", "cheetah harbour", "old cheetah harbour", "absent harbour", "second world harbour", "x quince"],
)
def test_some_words_are_found_and_scored_as_by_hand(web: TextIndex, text: str) -> None:
    query = read_question(text).some
    assert query
    found = web.search(query, 50)
    expected = Oracle(web.corpus).search(query)
    assert found.total == len(expected)
    assert found.pages == [page for page, _score in expected]
    assert found.scores == pytest.approx([score for _page, score in expected])


def test_pages_with_all_words_come_first_then_those_with_words_in_a_row(web: TextIndex) -> None:
    some = read_question("stone harbour lights absent").some
    assert some
    found = addresses(web.corpus, web.search(some, 9).pages)
    assert found[:2] == ["2-row", "3-apart"]
    both = read_question("old harbour").some
    assert both
    hits = web.search(both, 9)
    assert [score >= 1 for score in hits.scores[:3]] == [True, True, False]


def test_the_page_that_is_called_most_of_it_comes_before_one_that_mentions_all(web: TextIndex) -> None:
    some = read_question("cheetah harbour").some
    assert some
    assert addresses(web.corpus, web.search(some, 2).pages) == ["4-named", "1-both"]


def test_what_links_of_the_same_host_say_is_what_a_page_is_called(web: TextIndex) -> None:
    assert addresses(web.corpus, web.search(parse_query("second world war"), 1).pages) == ["5-war"]
    kin = web.corpus.kin
    page = next(page for page in range(len(web)) if web.corpus.page_url(page).endswith("6-war"))
    assert page not in kin["posting.called_page"].tolist()


def test_a_snippet_marks_no_question_words(web: TextIndex) -> None:
    page = next(page for page in range(len(web)) if web.corpus.page_url(page).endswith("4-named"))
    pieces = make_snippet(web.corpus, page, read_question("what is the cheetah").query)
    assert {text.lower() for text, marked in pieces if marked} == {"cheetah"}


def test_questions_in_scripts_without_spaces_are_looked_for_by_telling_pairs() -> None:
    question = read_question("ページ番号を挿入する方法")
    assert str(question.query) == str(parse_query("ページ番号を挿入する方法"))
    assert [str(part) for part in question.parts] == ["ペー", "ージ", "ジ番", "番号", "挿入", "入す"]
    assert [str(part) for part in read_question("怎么合并单元格").parts] == ["合并", "并单", "单元", "元格"]
    assert [str(part) for part in read_question("表をPDFに変換").parts] == ["pdf", "変換"]
    assert [str(part) for part in read_question("印刷 用紙").parts] == ["印刷", "用紙"]
    assert read_question('"ページ番号を挿入"').some is None
    assert (
        describe_match(question, 0, 9, {}) == "No page has all of: ページ番号を挿入する方法. These have some of them."
    )
    assert "表をpdfに変換" in describe_match(read_question("表をPDFに変換"), 0, 9, {})


def test_a_question_without_spaces_finds_pages_that_do_not_have_it_in_a_row(tmp_path: Path) -> None:
    page = "<html lang=ja><title>{0}</title><p>{1}"
    index = searchable(
        tmp_path / "ja.kin",
        {
            "http://a.example/1": page.format("ページ番号", "ページ番号をフッターに挿入します。"),
            "http://a.example/2": page.format("印刷", "用紙を選んで、ページを印刷します。"),
        },
    )
    question = read_question("ページ番号を挿入する方法")
    assert question.some is not None
    assert index.search(question.query, limit=9).total == 0
    found = index.search(question.some, limit=9)
    assert addresses(index.corpus, found.pages) == ["1", "2"]
