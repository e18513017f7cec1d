import os
import random

import torch
from torch.utils.data import DataLoader, Dataset

from tokenizer import Tokenizer

SYLLABLES = [a + b for a in "bcdfglmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "is", "on")]


class Reviews(Dataset):
    def __init__(self, count, words=110, seed=3):
        draw = random.Random(seed)
        lexicon = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(20_000)]
        self.texts = [" ".join(draw.choices(lexicon, k=words)).capitalize() + "." for _ in range(count)]
        self.labels = [text.count("ba") % 2 for text in self.texts]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.texts[index], self.labels[index]


class Collate:
    def __init__(self, longest):
        self.tokenizer = Tokenizer(SYLLABLES + list("abcdefghijklmnopqrstuvwxyz.,!?"), longest)

    def __call__(self, items):
        encoded = [self.tokenizer.encode(text) for text, _ in items]
        ids = torch.zeros(len(items), self.tokenizer.longest, dtype=torch.long)
        for row, words in zip(ids, encoded):
            row[:len(words)] = torch.tensor(words)
        return ids, torch.tensor([label for _, label in items])


def make_loader(count, batch, longest, cuda):
    workers = 8 if os.environ.get("V") == "1" else 0
    return DataLoader(Reviews(count), batch_size=batch, shuffle=True, drop_last=True, collate_fn=Collate(longest),
                      num_workers=workers, persistent_workers=workers > 0, pin_memory=cuda)
