"""Write docs/examples.md: related pages of twenty articles and twenty pages of documentation, as in the 2002 paper's Figure 13.

pagekin build SCHOOL/site --base-url http://schools.example/ --out school.kin
pagekin build python3.11/html --base-url https://docs.python.org/3.11/ --out python.kin
python scripts/examples.py school.kin python.kin
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from pagekin.similarity import RankingOptions, RelatedIndex

TARGET = Path(__file__).resolve().parent.parent / "docs" / "examples.md"
ARTICLES = (
    "j/Jupiter", "b/Battle_of_Hastings", "j/Johann_Sebastian_Bach", "m/Malaria", "n/Nile", "p/Python_(programming_language)",
    "p/Photosynthesis", "w/William_Shakespeare", "p/Prime_number", "c/Chess", "b/Blue_Whale", "g/Gold", "m/Mount_Everest",
    "j/Japan", "b/Buddhism", "a/Apollo_11", "c/Cricket", "c/Cheese", "s/Steam_engine", "c/Cleopatra_VII",
)  # fmt: skip
MODULES = (
    "library/json", "howto/logging", "library/re", "library/os.path", "library/asyncio-task", "library/datetime",
    "library/unittest", "library/sqlite3", "library/collections", "library/threading", "library/argparse", "library/math",
    "library/email.message", "library/xml.etree.elementtree", "library/tkinter", "tutorial/classes", "reference/expressions",
    "c-api/list", "faq/design", "using/windows",
)  # fmt: skip
INTRODUCTION = """# Forty examples

The related pages of twenty articles of a school encyclopaedia (4,653 pages) and of twenty pages of Python's documentation as it
is published (530 pages, with its indexes and navigation), by the strategy `{strategy}`, as they came out:
`python scripts/examples.py school.kin python.kin` writes this page. Under each title stand the ten heaviest terms of its bag, as
in the 2002 paper's Figure 14 (→ is a page that it links to); then the ten most related pages, as in its Figure 13, with their
similarity. Near-duplicates are folded (*also*).
"""


def related_tables(index: RelatedIndex, urls: list[str]) -> Iterator[str]:
    """Yield a section for each page."""
    for url in urls:
        document = index.document(url)
        answer = index.answer(index.query_of([url]), RankingOptions(k=10, captured_only=True))
        heaviest = [term for term, _weight, _origins in index.heaviest(document, 10)]
        terms = ", ".join(f"→ {index.display_term(term)}" if "://" in term else term for term in heaviest)
        lines = [f"### {index.title(document)}", "", f"*{terms}*", "", "| similarity | page |", "|---|---|"]
        for result in answer.results:
            also = f" (also {', '.join(copy.rpartition('/')[2] for copy in result.copies)})" if result.copies else ""
            lines.append(f"| {result.similarity:.3f} | {result.title}{also} |")
        yield "\n".join(lines) + "\n"


def main() -> None:
    """Write the page for the two collections named on the command line."""
    school, python = map(RelatedIndex.open, sys.argv[1:3])
    parts = [INTRODUCTION.format(strategy=school.strategy.name)]
    for heading, index, folder, names, ending in (
        ("An encyclopaedia", school, "wp/", ARTICLES, ".htm"),
        ("A documentation site", python, "3.11/", MODULES, ".html"),
    ):
        origin = "/".join(index.corpus.page_url(0).split("/")[:3])
        parts.append(f"## {heading}\n")
        parts += related_tables(index, [f"{origin}/{folder}{name}{ending}" for name in names])
    TARGET.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
