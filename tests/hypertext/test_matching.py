"""Two states of a collection are compared by their addresses, however many captures and shards they have."""

import random
from itertools import pairwise

from pagekin.hypertext import Corpus, compare_pages, match_pages
from tests.bags.webs import read_records, record


def corpus(pages: dict[str, list[int]]) -> Corpus:
    """A corpus with every capture of some addresses, the HTML of each given by a number; later ones are newer."""
    return read_records(
        (
            record(f"http://{address}/", f"<p>version {version}", f"2020-01-{day:02}T00:00:00Z")
            for address, versions in pages.items()
            for day, version in enumerate(versions, 1)
        ),
        all_captures=True,
    )


def test_pages_are_matched_as_by_a_dictionary_of_their_addresses() -> None:
    chance = random.Random(7)
    names = [f"{one}{two}.example" for one in "abcd" for two in "xyz"]
    states = [
        {name: [chance.randrange(3) for _ in range(chance.randint(1, 3))] for name in chance.sample(names, 7)}
        for _ in range(4)
    ]
    for old, new in pairwise(states):
        before, after = corpus(old), corpus(new)
        newest = {before.page_url(page): page for page in reversed(range(len(before)))}
        wanted = [newest.get(after.page_url(page), -1) for page in range(len(after))]
        assert match_pages([before], [after]).tolist() == wanted
        common = old.keys() & new.keys()
        assert compare_pages([before], [after]) == (
            len(new.keys() - common), sum(old[name][-1] != new[name][-1] for name in common), len(old.keys() - common)
        )  # fmt: skip


def test_shards_follow_each_other() -> None:
    whole = {"a.example": [1], "b.example": [2], "c.example": [3]}
    first, last = corpus({"a.example": [1]}), corpus({"b.example": [2], "c.example": [3]})
    assert match_pages([first, last], [corpus(whole)]).tolist() == [0, 1, 2]
    assert compare_pages([corpus(whole)], [first, last]) == (0, 0, 0)
    assert compare_pages([first], [first, last]) == (2, 0, 0)
