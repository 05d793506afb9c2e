"""The tables of words and addresses: where a string lies is not the page's choice."""

from typing import Any

import numpy as np
import pytest
from benchmarks.hostile import colliding_words, random_words

from pagekin.hypertext import Lexer, tables
from pagekin.hypertext.model import classify
from pagekin.sources import Limits
from pagekin.store import new_key

COUNT = 20_000


def mean_probes(table: Any) -> float:
    """How many entries are looked at, in the mean, until a string that a table holds is found."""
    digests, entries = table.slots[0::2], table.slots[1::2]
    taken = np.flatnonzero(entries)
    homes = digests[taken] >> np.uint64(64 - (len(entries).bit_length() - 1))
    return float(np.mean((taken - homes.astype(np.int64)) % len(entries))) + 1


def variants(count: int) -> list[bytes]:
    """Words of sixteen letters that differ where one step of a weak digest could undo what the step before did."""
    return [b"%s%s" % (word, word[::-1]) for word in colliding_words(count)]


@pytest.mark.parametrize("words", [random_words, colliding_words, variants])
def test_words_that_met_in_one_place_are_spread_as_any(words: Any) -> None:
    lexer = Lexer(Limits())
    lexer.lex([b" ".join(words(COUNT))])
    assert lexer.term_count == COUNT
    # A table that is less than half full takes 1.5 probes in the mean, if strings are spread by chance.
    assert mean_probes(lexer.terms) < 1.6


@pytest.mark.parametrize("words", [random_words, colliding_words, variants])
def test_addresses_that_met_in_one_place_are_spread_as_any(words: Any) -> None:
    lexer = Lexer(Limits())
    lexer.lex([b"".join(b"<a href=%s>x</a> " % word for word in words(COUNT))])
    assert lexer.href_count == COUNT
    assert mean_probes(lexer.hrefs) < 1.6


def test_strings_lie_elsewhere_by_another_key_and_have_the_same_numbers() -> None:
    page = b" ".join(f"<a href=page{i}>word{i} averylongword{i % 100}</a>".encode() for i in range(3_000))
    lexers = [Lexer(Limits(), key=new_key()) for _ in range(2)]
    batches = [lexer.lex([page, page]) for lexer in lexers]
    assert lexers[0].word_strings() == lexers[1].word_strings()
    assert list(lexers[0].href_strings()) == list(lexers[1].href_strings())
    assert np.array_equal(batches[0].words, batches[1].words)
    assert not np.array_equal(lexers[0].terms.slots, lexers[1].terms.slots)


def test_the_key_is_of_the_process_and_not_of_the_compiled_code() -> None:
    import subprocess
    import sys

    child = "from pagekin.store import PROCESS_KEY; print(PROCESS_KEY.tolist())"
    keys = {subprocess.run([sys.executable, "-c", child], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(keys) == 2


def test_every_character_has_the_class_that_the_model_says() -> None:
    index, blocks = tables._character_classes()
    for high in np.flatnonzero(index).tolist():
        block = blocks[256 * int(index[high]) : 256 * int(index[high]) + 256]
        assert block.tolist() == [classify(code) for code in range(high << 8, (high + 1) << 8)]
    empty = [high for high in range(0x300) if not index[high] and not 0xD8 <= high <= 0xF8]
    assert not any(classify(code) for high in empty for code in range(high << 8, (high + 1) << 8))
