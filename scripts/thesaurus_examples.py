"""Write docs/thesaurus.md: suggestions for twenty words, unedited.

pagekin cluster school.kin
python scripts/thesaurus_examples.py school.kin
"""

import sys
from pathlib import Path

import pagekin

TARGET = Path(__file__).resolve().parent.parent / "docs" / "thesaurus.md"
WORDS = (
    "whale", "piano", "roman", "planet", "chess", "railway", "tea", "virus", "castle", "dinosaur", "cricket", "bridge",
    "shakespeare", "software", "buddhism", "volcano", "oxygen", "painting", "president", "islam",
)  # fmt: skip
INTRODUCTION = """# Suggested terms

    pagekin refine school.kin whale
    pagekin refine school.kin whale --preset hypursuit1996

`pagekin refine` suggests three lists of terms to refine a query with: collocated, broader and narrower ones.

## How terms are chosen

The default method asks what pages are about. A page is *about* the 60 heaviest words of its bag, and about phrases from
its title, its breadcrumbs and, if they also occur in its text, its links. Let Q be the set of pages about the query,
and W the set of pages about a word.

- A word is **narrower** than the query if at least half of W is in Q and W is smaller than 0.7 times Q, or if it is a
  word of the best hit or of several pages of Q.
- It is **broader** if W contains at least a quarter of Q, W is larger than 1.5 times Q, and pages of Q are about the
  word more than 1.5 times as often as pages in general.
- It is **collocated** if it is neither but stands out: at least three pages of Q are about it (half of them if Q is
  small). These words are ranked by P(word given query) times the logarithm of the lift.

Further rules:

- Of several forms of a word, the most common is shown.
- A query that is a known phrase, such as *black hole*, is treated as one term. A word also matches its singular and
  plural.
- If no page is about all words of the query (without stop words), Q consists of the best matches: the first five, and
  all with at least half of the best score.

In a network, each site returns the 300 words that most of its pages of Q are about, with the number of pages in Q and
in the whole site. The router adds these counts up. Sites with an empty Q do not count.

## Which terms are left out

**Terms that lead nowhere.** A term must be worth a click. Added to the query, it must leave at least five documents
(half of the matches, if there are fewer than ten) and remove at least one. A narrower term must match fewer documents
than the query, at least half of which match the query, too. A broader term must match more than 1.5 times as many
documents as the query; otherwise it is collocated. Words that pages show regardless of their subject (*external*,
*resources*) are left out.

**Template words.** A word of an infobox or another template (*icd*, *phylum*, *anthem*) is heavy on its pages, but
occurs there only once. So a word is suggested only if enough of its pages say it three times or have it in the title:
their share must be at least half of the average over all words. If pages are so short that fewer than a fifth of their
words occur three times, twice is enough; if even that is rare, all words may be suggested. Ordinals, hours, units and
single letters (*12th*, *11am*, *km²*, *δ*) are never suggested.

**Code.** Words that occur almost only in code (*def*, *self*, *args*) are left out. An occurrence is in code if there
are two signs of code within 24 letters: brackets, *=*, *_*, or a dot inside a word. A word is left out if four fifths
of its occurrences are in code and hardly any title contains it. About 5,000 pages are examined. This removes 246 of
1,598 words of SQLAlchemy's documentation, 1,327 of 4,327 of Python's, 75 of 1,573 of Git's, and three of the demo
web's. `refine sqlalchemy.kin session` used to suggest *def, import, engine, integer, objects, id*, and now suggests
*import, engine, integer, objects, key, column*; *import* also occurs in sentences. With 30 queries of
`benchmarks/refinement.py`, the share of queries without narrower terms rises from 7 to 10 % for Python's documentation
and from 4 to 13 % for SQLAlchemy's; nothing else changes by more than .3 terms.

## Measurements

`python benchmarks/refinement.py school.kin webkb.kin python.kin git.kin --queries 30` takes its queries from titles of
central pages; each query matches at least 20 pages. By construction, every suggested term leaves five documents, and
every narrower term is narrower. The table shows the share of queries without narrower terms, and how many of the
documents that `pagekin suggest QUERY` returns are in the topic of the best hit (*inside*) or in the group of topics
around it (*near*).

*Before*, documents that contain the query words were never suggested. For a common word such as *computer*, that left
only pages with little relation to it (*Albert Einstein*, *BBC*). *Now* only the first 30 hits are left out. The rules
were developed on the first three collections; Git's manual was used only for judging.

| collection | queries without narrower terms, before | now | documents inside, before | now | near, before | now |
|---|---:|---:|---:|---:|---:|---:|
| school encyclopaedia | 7 % | 7 % | .67 | .78 | .85 | .93 |
| WebKB | 40 % | 47 % | .48 | .51 | .50 | .53 |
| Python's documentation | 7 % | 7 % | .36 | .44 | .47 | .55 |
| Git's manual | 0 % | 0 % | .29 | .44 | .39 | .57 |

## The method of 1996

`--preset hypursuit1996` follows HyPursuit and uses only the terms of the sub-clusters in the content label.

- **Collocated**: the words that the largest share of pages hold, in the sub-clusters that contain all query words.
- **Broader and narrower**, after Forsyth and Rada: words in only one sub-cluster, or in more than half of them, are
  dropped. The third of the rest that occurs in the most sub-clusters is high, the others are low. The parent of a low
  word is the high word with the most similar distribution.

A label keeps the 500 heaviest terms of each of its 30 sub-clusters. Most of the words below occur in one of them or in
none, so this method describes that sub-cluster and finds little hierarchy. That is why it is not the default.

## Examples

The tables show twenty words of a school encyclopaedia (4,653 pages), unedited.
`python scripts/thesaurus_examples.py school.kin` writes this page. The number is that of pages about the word, or of
sub-clusters that hold it.
"""


def main() -> None:
    """Write the page for the collection named on the command line."""
    kin = pagekin.open(sys.argv[1])
    parts = [INTRODUCTION]
    for title, preset in (("By pages", "default"), ("By sub-clusters", "hypursuit1996")):
        lines = [f"### {title}", "", "| word | | collocated | broader | narrower |", "|---|---:|---|---|---|"]
        for word in WORDS:
            terms = kin.refine(word, preset=preset)
            cells = (", ".join(some) or "-" for some in (terms.collocated, terms.broader, terms.narrower))
            lines.append(f"| {word} | {terms.known} | {' | '.join(cells)} |")
        parts.append("\n".join(lines) + "\n")
    TARGET.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
