"""Training steps of a small GPT, for tests/gpu/stalls.  Prints the median of a step in ms, and the number of steps."""
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
WIDTH, LAYERS, HEADS, LENGTH, BATCH, WORDS = 1024, 8, 16, 512, 16, 16384


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (part.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2) for part in self.qkv(self.first(x)).chunk(3, dim=-1))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(functional.gelu(self.up(self.second(x))))


def main():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *[Block() for _ in range(LAYERS)], nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    words = torch.randint(0, WORDS, (BATCH, LENGTH + 1), device="cuda")
    times = []
    for step in range(20 + STEPS):
        start = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
        if step >= 20:
            times.append(1e3 * (time.perf_counter() - start))
    print(f"{statistics.median(times):.3f} {len(times)}")


main()
