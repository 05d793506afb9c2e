"""Writes docs/thesaurus.md: suggestions for twenty words, as they came out.

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

`pagekin refine` gives three lists to refine a question with.

**By pages**, the default. A page is *about* the 60 heaviest words of its bag, and about phrases of its title, its
breadcrumbs and, where they are in its text as well, its links. A word is **narrower** than the question if at least half of
the pages about it are about the question too, and they are fewer than 0.7 of the question's; or if it is a word of the best
hit or of several pages about the question. It is **broader** if a quarter of the question's pages are about it, more often
than elsewhere by half, and its pages are more than 1.5 times the question's. **Collocated** is what else stands out: P(word
| question) times the logarithm of the lift, of the words that three of the question's pages are about, or half of few. Of the
forms of one word the commonest is given. A question that is a known phrase, such as *black hole*, is taken as one, and a word
stands for its singular and its plural. If no page is about all words of the question but stop words, those that match it
best stand for it: the first five, and those with half of the best score.

**Words that pages talk about.** A word of an infobox or another template (*icd*, *phylum*, *anthem*) is heavy on the pages that
show it, but these say it once. Only words that their pages repeat are given: those of which the share of pages that say it
three times, or in their title, among the pages about it, is at least half as large as for all words. Where pages are so
short that they say less than a fifth of their words three times, twice is enough; where even that is rare, every word is
given. Ordinals, hours, units and single letters (*12th*, *11am*, *km²*, *δ*) are never given.

**No words of code.** A word that stands nearly only in code (*def*, *self*, *args*) is not given: one of whose places four in
five have two signs of code within 24 letters (brackets, *=*, *_*, a dot inside a word), and that stands in no title, or in
hardly any. Up to 5,000 pages are looked at. On SQLAlchemy's documentation 246 of 1,598 words are such, on Python's 1,327 of
4,327, on Git's 75 of 1,573, on the demo web three. Before, `refine sqlalchemy.kin session` gave *def, import, engine,
integer, objects, id*, and now *import, engine, integer, objects, key, column*: *import* stands in sentences, too. By
`benchmarks/refinement.py` with 30 queries, the share of queries without narrower terms rises from 7 to 10 % on Python's
and from 4 to 13 % on SQLAlchemy's; nothing else changes by more than .3 terms.

A term is given only if it is worth a click: with it added, five documents match the question, or all if there are fewer, and
not the same as before; a narrower term matches fewer documents than the question, and half of them match the question, too. A
broader term matches 1.5 times as many documents as the question; one that does not is collocated. Words that pages show
whatever they are about (*external*, *resources*) are not given.

Queries of the table are titles of central pages that 20 pages or more match, as `python benchmarks/refinement.py school.kin
webkb.kin python.kin git.kin --queries 30` takes them. All terms leave five documents, and all narrower ones are narrower:
the rules see to both. Documents are those that `pagekin suggest QUERY` gives: the share in the topic of the best hit, and in
the group of topics around it. *Before*, no document was suggested that held the question's words, so that for a common word,
such as *computer*, only pages with little to do with it were left (*Albert Einstein*, *BBC*); *now* the first 30 hits are
left out. The rules were made while looking at the first three collections; Git's manual was only judged.

| collection | queries without narrower terms, before | now | documents inside, before | now | near, before | now |
|---|---:|---:|---:|---:|---:|---:|
| school encyclopaedia | 7 % | 7 % | .67 | .78 | .85 | .93 |
| WebKB | 40 % | 47 % | .48 | .51 | .50 | .53 |
| Python's documentation | 7 % | 7 % | .36 | .44 | .47 | .55 |
| Git's manual | 0 % | 0 % | .29 | .44 | .39 | .57 |

A router adds up the counts of the sites below: each tells, of the 300 words that most of its pages about the question are
about, on how many of these and on how many of all its pages that is so. Sites without a page about the question do not count.

**By sub-clusters**, as HyPursuit has it (`--preset hypursuit1996`): from the terms of the sub-clusters in the content
label. Collocated: the share of pages that hold the word, over the sub-clusters that hold all of the question. Broader and
narrower after Forsyth and Rada: words in one sub-cluster or in more than half are dropped; the third in
most sub-clusters is high, the rest low, and a low word's parent is the high one whose frequencies are distributed most alike.

Twenty words of a school encyclopaedia (4,653 pages), unedited: `python scripts/thesaurus_examples.py school.kin` writes
this page. The number is that of pages, or of sub-clusters. A label keeps the 500
heaviest terms of each of its 30 sub-clusters. Most of these words stand in one of them or in none, so the second way tells what
that sub-cluster is about and finds little hierarchy: that is why it is not the default.
"""


def main() -> None:
    """Write the page for the collection named on the command line."""
    kin = pagekin.open(sys.argv[1])
    parts = [INTRODUCTION]
    for title, preset in (("By pages", "default"), ("By sub-clusters", "hypursuit1996")):
        lines = [f"## {title}", "", "| word | | collocated | broader | narrower |", "|---|---:|---|---|---|"]
        for word in WORDS:
            terms = kin.refine(word, preset=preset)
            cells = (", ".join(some) or "-" for some in (terms.collocated, terms.broader, terms.narrower))
            lines.append(f"| {word} | {terms.known} | {' | '.join(cells)} |")
        parts.append("\n".join(lines) + "\n")
    TARGET.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
