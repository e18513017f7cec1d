#!/usr/bin/env python3
"""Train a small language model on random tokens: a launch-bound PyTorch program to profile.

    gpuprof-run --stacks=all -o before python3 examples/train.py
"""
import argparse

import torch
from torch import nn
from torch.nn import functional

TOKENS, CONTEXT, BATCH, WIDTH = 1000, 64, 16, 128


class Block(nn.Module):
    """Attention and two linear layers, each with a normalization before it."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
        self.linear = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.before_attention, self.before_linear = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x and the result: (BATCH, CONTEXT, WIDTH)."""
        normal = self.before_attention(x)
        x = x + self.attention(normal, normal, normal, need_weights=False)[0]
        return x + self.linear(self.before_linear(x))


class Model(nn.Module):
    """Predicts the next token."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.head = nn.Linear(WIDTH, TOKENS)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (BATCH, CONTEXT); result: (BATCH, CONTEXT, TOKENS)."""
        return self.head(self.blocks(self.embedding(tokens)))


def train(steps: int, layers: int, device: str) -> None:
    model = Model(layers).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(steps):
        tokens = torch.randint(TOKENS, (BATCH, CONTEXT + 1)).to(device)
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.reshape(-1, TOKENS), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    train(arguments.steps, arguments.layers, arguments.device)
