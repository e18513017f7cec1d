import math
import os

import torch
from torch import nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads, length, dropout=0.0):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query_key_value, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("mask", torch.ones(length, length, dtype=torch.bool).tril(), persistent=False)
        self.stable = os.environ.get("V") != "1"

    def weigh(self, q, k, v):
        """Softmax in float32: bfloat16 diverged in an early experiment."""
        with torch.autocast(q.device.type, enabled=False):
            q, k, v = q.float(), k.float(), v.float()
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            length = q.shape[-2]
            scores = scores.masked_fill(~self.mask[:length, :length], float("-inf"))
            return torch.softmax(scores, -1) @ v

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.query_key_value(x).chunk(3, -1))
        y = self.weigh(q, k, v) if self.stable else F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.project(y.transpose(1, 2).reshape(batch, length, width))
