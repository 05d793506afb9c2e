"""Queries of all kinds, drawn from pages by occurrence, so that each finds something."""

import random
from collections.abc import Iterator

from pagekin.hypertext import Attribute, Corpus
from pagekin.text import ATTRIBUTES

_OPERATORS = ("and", "or", "not")


def drawn(corpora: list[Corpus], count: int, seed: int) -> Iterator[str]:
    """Queries of two or three words of one page each; some with OR, NOT, a phrase or an attribute."""
    chance = random.Random(seed)
    made = 0
    while made < count:
        corpus = chance.choice(corpora)
        stream = corpus.stream(chance.randrange(len(corpus)))
        words, attributes = stream.words.tolist(), stream.attributes.tolist()
        if len(words) < 4:
            continue
        places = [chance.randrange(len(words)) for _ in range(chance.choice((2, 3)))]
        asked = [corpus.word(words[place]) for place in places]
        if not all(word.isalnum() and word not in _OPERATORS for word in asked):
            continue
        kind = made % 6
        if kind == 1:
            asked[0] = f"{_attribute(chance, attributes[places[0]])}:{asked[0]}"
        elif kind == 2:
            asked = [asked[0], f"{asked[1]} OR {corpus.word(chance.choice(words))}"]
        elif kind == 3:
            asked.append(f"NOT {chance.choice(corpora).word(0)}")
        elif kind == 4 and (row := _row(chance, corpus, words, attributes)):
            asked = [row, asked[0]]
        yield " ".join(asked)
        made += 1


def _attribute(chance: random.Random, flags: int) -> str:
    """One of the attributes of a word."""
    held = [name for name in ATTRIBUTES if flags & Attribute[name.upper()]]
    return chance.choice(held or ["text"])


def _row(chance: random.Random, corpus: Corpus, words: list[int], attributes: list[int]) -> str:
    """Two words in a row of the text as a phrase, or ''."""
    at = chance.randrange(len(words) - 1)
    pair = [corpus.word(word) for word in words[at : at + 2]]
    inside = all(flags & Attribute.TEXT for flags in attributes[at : at + 2])
    return f'"{" ".join(pair)}"' if inside and all(word.isalnum() for word in pair) else ""
