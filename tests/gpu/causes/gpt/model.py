import torch
from torch import nn
from torch.nn import functional as F

from attention import CausalSelfAttention


class FeedForward(nn.Module):
    def __init__(self, width):
        super().__init__()
        hidden = 8 * width // 3 // 64 * 64
        self.gate, self.up, self.down = (nn.Linear(width, hidden, bias=False), nn.Linear(width, hidden, bias=False),
                                         nn.Linear(hidden, width, bias=False))

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.attention, self.feed = CausalSelfAttention(width, heads, length), FeedForward(width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, vocabulary, width, heads, layers, length):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, length) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.words.weight
        nn.init.normal_(self.words.weight, std=0.02)

    def forward(self, ids, targets):
        x = self.words(ids) + self.places.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())
