"""FT-Transformer: a token for each column of a table."""
import torch
from torch import nn
from torch.nn import functional as F


class Tokenizer(nn.Module):
    def __init__(self, numeric, cardinalities, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(numeric, width) * 0.02)
        self.shift = nn.Parameter(torch.zeros(numeric, width))
        offsets = torch.tensor([0] + cardinalities[:-1]).cumsum(0)
        self.register_buffer("offsets", offsets)
        self.table = nn.Embedding(sum(cardinalities), width)
        self.cls = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, numeric, categories):
        a = numeric.unsqueeze(-1) * self.scale + self.shift
        b = self.table(categories + self.offsets)
        return torch.cat([self.cls.expand(len(a), -1, -1), a, b], 1)


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        a, gate = self.wide(self.norm2(x)).chunk(2, -1)
        return x + self.narrow(a * F.gelu(gate))


class FTTransformer(nn.Module):
    def __init__(self, numeric, cardinalities, width=192, heads=8, layers=8):
        super().__init__()
        self.tokens = Tokenizer(numeric, cardinalities, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.head = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 1))

    def forward(self, numeric, categories):
        x = self.tokens(numeric, categories)
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, 0]).squeeze(-1)
