"""How often words go together with a query on the pages below a router: asked of its children, and summed."""

import asyncio
from collections.abc import Iterable, Mapping

import numpy as np

from pagekin.clusters.thesaurus import Together
from pagekin.labels.model import plain
from pagekin.routers.children import Child, ChildError
from pagekin.routers.client import Client
from pagekin.routers.messages import MOST_TOGETHER, Counts, TogetherRequest


def counts_of(found: Together, partial: Iterable[str] = ()) -> Counts:
    """Counts as they travel."""
    some = found.first(MOST_TOGETHER)
    both, df = (tuple(int(one) for one in column.tolist()) for column in (some.both, some.df))
    return Counts(
        pages=some.pages, documents=some.documents, words=some.words, both=both, df=df, partial=tuple(partial)
    )


def together_of(counts: Counts, most: int) -> Together:
    """Counts that came from elsewhere, of at most so many documents; nobody's can outweigh what they hold."""
    length = min(len(counts.words), len(counts.both), len(counts.df))
    documents = min(counts.documents, most)
    pages = min(counts.pages, documents)
    df = np.minimum(np.array(counts.df[:length], np.float64), documents)
    both = np.minimum(np.minimum(np.array(counts.both[:length], np.float64), df), pages)
    return Together(pages, documents, tuple(plain(word) for word in counts.words[:length]), both, df)


async def together_below(
    children: Mapping[str, Child], names: Iterable[str], client: Client, request: TogetherRequest, deadline: float
) -> tuple[Together, tuple[str, ...]]:
    """(the counts of some children together, which of them gave none and why)."""

    async def one(child: Child) -> Counts | str:
        try:
            return (await child.call(client, "together", request, Counts, deadline))[0]
        except ChildError as error:
            return f"{child.name}: {error}"[:2000]

    asked = [children[name] for name in names]
    told, partial = [], []
    for child, answer in zip(asked, await asyncio.gather(*map(one, asked)), strict=True):
        if isinstance(answer, str):
            partial.append(answer)
            continue
        told.append(together_of(answer, child.label.num_docs if child.label else answer.documents))
        partial += (f"{child.name}/{plain(reason)}"[:2000] for reason in answer.partial[:1000])
    return Together.summed(told), tuple(partial[:10_000])
