"""Terms added to a label beyond those of its documents, by the operator or by the thesaurus."""

from collections.abc import Sequence

from pagekin.clusters import TERM_ATTRIBUTES, PageThesaurus
from pagekin.hypertext import Corpus, fold_case
from pagekin.labels.fitting import in_turn
from pagekin.labels.membership import term_key
from pagekin.labels.model import AddedTerm, ContentLabel, LabelError, is_label_word, is_word


def operator_terms(written: Sequence[str]) -> tuple[AddedTerm, ...]:
    """Parse terms that the operator wrote as WORD or ATTRIBUTE:WORD."""
    terms = set()
    for text in written:
        attribute, colon, word = text.rpartition(":")
        if colon and attribute not in TERM_ATTRIBUTES:
            raise LabelError(f"'{text}': '{attribute}' is not an attribute; there are {', '.join(TERM_ATTRIBUTES)}")
        if not word or not is_label_word(word):
            raise LabelError(f"'{text}' is not a term: write one word, or an attribute, a colon and a word")
        terms.add(AddedTerm(attribute or "text", fold_case(word), "operator"))
    return tuple(sorted(terms))


def broader_terms(corpus: Corpus, label: ContentLabel, most: int, threads: int = 1) -> tuple[AddedTerm, ...]:
    """Find broader terms of the label's heaviest words, except those that are heavy themselves."""
    thesaurus = PageThesaurus.of(corpus, threads)
    known = {term_key(term.word) for term in label.rows(label.terms)}
    lists = []
    for word in label.heaviest:
        number = thesaurus.find(word)
        lists.append(thesaurus.suggest([number]).broader if number >= 0 else ())
    new = [word for word in in_turn(lists) if is_word(word) and term_key(word) not in known]
    return tuple(sorted(AddedTerm("text", word, "thesaurus") for word in new[:most]))
