"""torch_gpt [SECONDS]: training steps of a small GPT.  Prints the number of steps, and the median and mean time of a step in ms."""
import statistics
import sys
import time

import torch
from torch import nn

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 10
LAYERS, WIDTH, HEADS, WORDS, LENGTH, BATCH, WARMUP = 6, 768, 12, 8192, 512, 8, 20


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.mix, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        query, key, value = (part.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2) for part in self.mix(self.first(x)).chunk(3, 2))
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.feed(self.second(x))


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
words = torch.randint(WORDS, (BATCH, LENGTH + 1), device="cuda")


def step():
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


for _ in range(WARMUP):
    step()
torch.cuda.synchronize()
times, end = [], time.monotonic() + SECONDS
while time.monotonic() < end:
    start = time.monotonic()
    last = step()
    torch.cuda.synchronize()
    times.append(1000 * (time.monotonic() - start))
print(f"steps {len(times)} median {statistics.median(times):.3f} mean {statistics.mean(times):.3f} loss {last.item():.4f}")
