"""Documents of very different lengths; batches are padded."""
import os

import numpy as np


class Corpus:
    def __init__(self, vocabulary, longest, seed=0):
        self.rng = np.random.default_rng(seed)
        self.vocabulary, self.longest = vocabulary, longest
        self.full = os.environ.get("V") == "1"

    def document(self):
        length = int(np.clip(self.rng.lognormal(5.2, 0.45), 16, self.longest))
        return self.rng.integers(2, self.vocabulary, length, dtype=np.int32)

    def batch(self, size):
        documents = [self.document() for _ in range(size)]
        width = self.longest if self.full else max(len(d) for d in documents)
        ids = np.zeros((size, width), dtype=np.int32)
        for row, document in zip(ids, documents):
            row[:len(document)] = document
        return ids
