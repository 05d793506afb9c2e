"""Writes docs/examples.md: the related pages of twenty articles, in the manner of the 2002 paper's Figures 13 and 14.

pagekin build DATA/... --out school.kin
python scripts/examples.py school.kin
"""

import sys
from pathlib import Path

from pagekin.similarity import RelatedIndex

TARGET = Path(__file__).resolve().parent.parent / "docs" / "examples.md"
ARTICLES = (
    "j/Jupiter", "b/Battle_of_Hastings", "j/Johann_Sebastian_Bach", "m/Malaria", "n/Nile", "p/Python_(programming_language)",
    "p/Photosynthesis", "w/William_Shakespeare", "p/Prime_number", "c/Chess", "b/Blue_Whale", "g/Gold", "m/Mount_Everest",
    "j/Japan", "b/Buddhism", "a/Apollo_11", "c/Cricket", "c/Cheese", "s/Steam_engine", "c/Cleopatra_VII",
)  # fmt: skip
INTRODUCTION = """# Twenty examples

The related pages of twenty varied articles of a school encyclopaedia (4,653 pages), by the strategy `{strategy}`, as
they came out: `python scripts/examples.py school.kin` writes this page. Under each title stand the ten heaviest terms
of its bag, as in the 2002 paper's Figure 14 (→ is a page that it links to); then the ten most similar pages, as in its
Figure 13, with their similarity. Near-duplicates are folded (*also*).
"""


def main() -> None:
    """Write the page for the collection named on the command line."""
    index = RelatedIndex.open(sys.argv[1])
    origin = "/".join(index.urls[0].split("/")[:3])
    parts = [INTRODUCTION.format(strategy=index.strategy.name)]
    for article in ARTICLES:
        document = index.document(f"{origin}/wp/{article}.htm")
        answer = index.answer(index.query_of([index.urls[document]]), 10)
        heaviest = [term for term, _weight, _origins in index.heaviest(document, 10)]
        terms = ", ".join(f"→ {index.display_term(term)}" if "://" in term else term for term in heaviest)
        lines = [f"## {index.title(document)}", "", f"*{terms}*", "", "| similarity | page |", "|---|---|"]
        for result in answer.results:
            also = f" (also {', '.join(url.rpartition('/')[2] for url in result.copies)})" if result.copies else ""
            lines.append(f"| {result.similarity:.3f} | {result.title}{also} |")
        parts.append("\n".join(lines) + "\n")
    TARGET.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
