"""Names of topics in scripts without spaces between words: whole words, no pieces of them and no grammar around them."""

from collections import Counter

import numpy as np
import pytest

from pagekin.clusters import Tree
from pagekin.clusters.make import describe_trees
from pagekin.clusters.thesaurus import PageThesaurus, PageTopics
from pagekin.clusters.unspaced import (
    has_unspaced,
    is_in_context,
    is_unspaced,
    join_words,
    phrase_in_context,
    unspaced_form,
)
from pagekin.hypertext import Corpus
from tests.bags.webs import read_web


def form_of(places: list[tuple[str, str, str]], language: str) -> str:
    """Return the form of a phrase from the places (what is before it, itself, what is behind it) where it stands."""
    written = Counter(
        phrase_in_context(f"{left}{form}{right}".encode(), len(left.encode()), form, language)
        for left, form, right in places
    )
    return unspaced_form(written)


def test_japanese_phrases_are_completed_to_words_and_lose_particles() -> None:
    assert form_of([("グ", "ラフの", "設定"), ("グ", "ラフの", "種類")], "ja") == "グラフ"
    assert form_of([("文書を", "印刷す", "る")], "ja") == "印刷"
    assert form_of([("", "並べ替", "え")], "ja") == "並べ替え"
    assert form_of([("", "行の高", "さを変える")], "ja") == "行の高さ"
    assert form_of([("", "シートを挿", "入")], "ja") == ""  # a clause
    assert form_of([("のお", "知らせ", "")], "ja") == "お知らせ"
    assert form_of([("再", "計算", "の方法"), ("", "計算", ""), ("", "計算", "式")], "ja") == "計算"
    mixed = [("ス", "ライ", "ド"), ("", "ライ", "ブラリ"), ("ド", "ライ", "バ"), ("", "ライ", "ブラリ")]
    assert form_of(mixed, "ja") == ""  # a piece of several words


def test_chinese_phrases_grow_by_what_stands_beside_them_everywhere() -> None:
    assert form_of([("插入", "单元", "格"), ("合并", "单元", "格")], "zh") == "单元格"
    assert form_of([("插入", "工作", "表"), ("新建", "工作", "簿")], "zh") == "工作"
    assert form_of([("", "表格中", ""), ("", "表格中", "")], "zh") == "表格"
    assert form_of([("", "统计函数第", "一"), ("", "统计函数第", "二")], "zh") == "统计函数"
    assert form_of([("", "的", "")], "zh") == ""
    assert form_of([("", "导出 - 第", "一")], "zh") == ""


def test_only_texts_in_such_scripts_are_treated_so() -> None:
    assert is_unspaced("印刷") and not is_unspaced("PDF印刷") and not is_unspaced("")
    assert has_unspaced("PDF印刷") and not has_unspaced("café")
    assert is_in_context(phrase_in_context("印刷".encode(), 0, "印刷", "ja")) and not is_in_context("Print")


JAPANESE = {
    "グラフ": ("グラフの種類を選びます。グラフの軸と凡例を設定します。", "円 棒 線 軸 系列 凡例 目盛 誤差".split()),
    "印刷": (
        "文書を印刷する前にプリンターを選びます。印刷の範囲を決めます。",
        "用紙 範囲 順序 余白 部数 両面 白黒 名刺".split(),
    ),
}
CHINESE = {
    "单元格": ("选择单元格并输入公式。单元格的内容可以复制。", "合并 删除 插入 保护 格式 引用 填充 移动".split()),
    "幻灯片": ("放映幻灯片之前设置动画。幻灯片的背景可以更改。", "放映 切换 复制 背景 版式 备注 顺序 隐藏".split()),
}


def read_topics(language: str, topics: dict[str, tuple[str, list[str]]]) -> Corpus:
    """Read a page for each kind of each topic, and one about the topic alone."""
    pages = {}
    for number, (topic, (text, kinds)) in enumerate(topics.items()):
        pages[f"http://a.example/{number}/9"] = f"<html lang={language}><title>{topic}</title><h1>{topic}</h1><p>{text}"
        for place, kind in enumerate(kinds):
            title = f"{topic}の{kind}" if language == "ja" else f"{kind}{topic}"
            own = (
                f"{kind}。{kinds[place - 1]}と{kind}。" if language == "ja" else f"{kind}。{kinds[place - 1]}，{kind}。"
            )
            pages[f"http://a.example/{number}/{place}"] = (
                f"<html lang={language}><title>{title}</title><h1>{title}</h1><p>{text}{own * (place + 2)} Options Window"
                "<h2>Options</h2>"
            )
    return read_web(pages)


@pytest.mark.parametrize(("language", "topics"), [("ja", JAPANESE), ("zh", CHINESE)])
def test_topics_in_such_languages_are_named_in_them(language: str, topics: dict[str, tuple[str, list[str]]]) -> None:
    corpus = read_topics(language, topics)
    labels = np.repeat(np.arange(len(topics)), [len(kinds) + 1 for _text, kinds in topics.values()])
    (tree,) = describe_trees(corpus, [Tree.of_levels("clusters", [labels], {"shown": []})], 1)
    assert [tree.descriptions[node].name for node in tree.children[0]] == list(topics)


def test_pairs_are_put_together() -> None:
    assert join_words(["印刷", "刷範", "範囲"]) == "印刷範囲"
    assert join_words(["virtual", "l"]) == "virtual l"
    assert join_words(["PDF", "印刷", "用紙"]) == "PDF 印刷 用紙"
    assert join_words([]) == ""


def test_only_whole_words_of_such_languages_are_suggested() -> None:
    about = PageTopics.of(read_topics("ja", JAPANESE), phrases=True)
    thesaurus = PageThesaurus(about)
    assert about.offered is not None
    offered = {word.decode() for word, may in zip(about.words, about.offered, strict=True) if may}
    assert {"印刷", "グラフ"} <= offered
    assert not offered & {"グラ", "ラフ", "フの", "の軸", "を印", "刷の", "リン"}
    assert thesaurus.find_phrase(["グラ", "ラフ"]) >= 0, "a question has pairs"
    assert len(thesaurus.pages([thesaurus.find_phrase(["グラ", "ラフ"])])) == 9
