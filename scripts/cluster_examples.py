"""Writes docs/cluster-examples.md: the clusters of some collections, as they came out.

pagekin cluster school.kin
python scripts/cluster_examples.py "School encyclopaedia=school.kin" "C++ reference=cpp.kin" ...
"""

import sys
from pathlib import Path

from pagekin.clusters import read_trees
from pagekin.hypertext import Corpus, ShortTitles

TARGET = Path(__file__).resolve().parent.parent / "docs" / "cluster-examples.md"
INTRODUCTION = """# Clusters of three collections

What `pagekin cluster` made of them, unedited: `python scripts/cluster_examples.py NAME=COLLECTION.kin...` writes this page.
Each row is a cluster of the level that was asked for (30 at most): its pages, its name, its most central pages.
"""


def main() -> None:
    """Write the page for the collections named on the command line."""
    parts = [INTRODUCTION]
    for argument in sys.argv[1:]:
        name, _equals, path = argument.rpartition("=")
        corpus = Corpus.open(path)
        tree = read_trees(corpus.kin)[0]
        short = ShortTitles(corpus)
        lines = [f"## {name}", "", "| pages | name | central pages |", "|---:|---|---|"]
        for node in sorted(tree.facts["shown"], key=lambda node: (-len(tree.pages_of(node)), node)):
            about = tree.descriptions[node]
            titles = "; ".join(short.text(page).replace("|", "\\|") for page in about.central[:3])
            lines.append(f"| {len(tree.pages_of(node)):,} | {about.name} | {titles} |")
        parts.append("\n".join(lines) + "\n")
    TARGET.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
