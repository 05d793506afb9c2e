"""Labels as S-expressions, shaped like Figure 5 of hypursuit-1996."""

import base64
import re
from collections.abc import Iterator

from pagekin.labels.model import ContentLabel, SubCluster

_BARE = re.compile(r'[^\s()";:\\]+')


def label_to_sexpr(label: ContentLabel, filters: bool = True) -> str:
    """Write a label in the paper's form; without `filters`, which the paper lacks, it is incomplete."""
    lines = [f"((version: {label.version})", f"(name: {_quote(label.name)})"]
    if label.analyser:
        lines.append(f"(analyser: {_quote(label.analyser)})")
    lines.append(f"(size: {label.size}) (num-docs: {label.num_docs}) (num-terms: {label.num_terms})")
    lines.append(f"(num-words: {label.num_words})")
    if label.waiting:
        lines.append(f"(waiting: {label.waiting})")
    lines += (
        f"(leaf: ((identity: {_quote(leaf.identity)}) (num-docs: {leaf.documents}) (hops: {leaf.hops})))"
        for leaf in label.leaves
    )
    lines.append(f"(exact: {'yes' if label.exact else 'no'})")
    lost = label.lost
    lines.append(f"(lost: ((terms: {lost.terms}) (clusters: {lost.clusters}) (filters: {lost.filters})))")
    lines += (f"(heavy: {_atom(word)})" for word in label.heaviest)
    for one in label.added:
        lines.append(f"(added: ({_attribute(one.attribute)}(value: {_atom(one.word)}) (by: {one.by})))")
    lines += _terms_and_filters(label, label, filters)
    for cluster in label.clusters:
        lines += ["", "(cluster:"]
        lines.append(
            f"((cluster-num: {cluster.number}) (size: {cluster.size}) (num-docs: {cluster.num_docs}) "
            f"(num-terms: {cluster.num_terms})"
        )
        lines.append(f"(name: {_quote(cluster.name)})")
        lines += (f"(node: {node})" for node in cluster.nodes)
        lines += (f"(url: {_quote(url)})" for url in cluster.urls)
        lines += (f"(heavy: {_atom(word)})" for word in cluster.heaviest)
        lines += _terms_and_filters(label, cluster, filters)
        lines.append("))")
    return "\n".join([*lines, ")"]) + "\n"


def _terms_and_filters(label: ContentLabel, part: ContentLabel | SubCluster, filters: bool) -> Iterator[str]:
    for term in sorted(label.rows(part.terms)):
        yield (f"(term: ({_attribute(term.attribute)}(value: {_atom(term.word)}) (tf: {term.tf}) (df: {term.df})))")
    for one in part.filters if filters else ():
        yield f'(filter: ((keys: {one.keys}) (bits: "{base64.b64encode(one.bits).decode()}")))'


def _attribute(name: str) -> str:
    return "" if name == "text" else f"(attribute: {name}) "


def _atom(word: str) -> str:
    return word if _BARE.fullmatch(word) else _quote(word)


def _quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
