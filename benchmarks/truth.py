"""The fast lexer against the strict reader: how many words and anchors differ, on which pages, and how.

    PAGEKIN_DATA=... python benchmarks/truth.py

On all HTML pages of WebKB, on 1,000 pages of the school encyclopaedia, and on 400 of both with 8 random byte mutations.
"""

import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.hypertext.compare import Difference, PageReading, read_all
from tests.hypertext.test_truth import school_pages, webkb_pages

from pagekin.hypertext import Attribute, Lexer, StrictLexer
from pagekin.sources import Limits

SHOWN = 5


def mutated(pages: list[bytes], seed: int = 7) -> list[bytes]:
    """Pages with eight bytes changed at random; still UTF-8, bad bytes replaced."""
    chance = random.Random(seed)
    changed = []
    for page in pages:
        raw = bytearray(page)
        for _ in range(8):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        changed.append(raw.decode("utf-8", "replace").encode())
    return changed


def how(ours: PageReading, truth: PageReading) -> str:
    """What differs on one page."""
    wanted, found = truth.attribute_words(), ours.attribute_words()
    missing, extra = wanted - found, found - wanted
    text = []
    for what, counter in (("lacks", missing), ("adds", extra)):
        by_attribute: dict[str, int] = {}
        for (bit, _word), count in counter.items():
            name = (Attribute(bit).name or "").lower()
            by_attribute[name] = by_attribute.get(name, 0) + count
        if by_attribute:
            text.append(f"{what} " + ", ".join(f"{count} {name}" for name, count in sorted(by_attribute.items())))
    return "; ".join(text)


def show(name: str, pages: list[bytes]) -> None:
    """Print one comparison."""
    limits = Limits()
    difference = Difference()
    ours, truth = read_all(Lexer(limits), pages), read_all(StrictLexer(limits), pages)
    for place, (one, other) in enumerate(zip(ours, truth, strict=True)):
        difference.add(place, one, other)
    print(
        f"{name}: {len(pages):,} pages; words {difference.words:,} of {difference.words_of:,} "
        f"({difference.word_share:.4%}); anchors {difference.anchors:,} of {difference.anchors_of:,} "
        f"({difference.anchor_share:.4%}); {len(difference.worst)} pages with other words"
    )
    for count, place in sorted(difference.worst, reverse=True)[:SHOWN]:
        title = " ".join(w for w, a in zip(truth[place].words, truth[place].attributes, strict=True) if a & 1)[:50]
        print(f"  {count:>5} on '{title}': the lexer {how(ours[place], truth[place])}")


def main() -> None:
    """Print all comparisons."""
    data = Path(os.environ.get("PAGEKIN_DATA", ""))
    if not (data / "webkb").is_dir():
        raise SystemExit("Set PAGEKIN_DATA to the folder that holds webkb/ and schoolwiki2007.tar.xz.")
    webkb, school = webkb_pages(data), school_pages(data, 1000)
    show("webkb", webkb)
    show("school encyclopaedia", school)
    show("mutated", mutated(random.Random(1).sample(webkb, 200) + random.Random(1).sample(school, 200)))


if __name__ == "__main__":
    main()
