import argparse

import torch
from torch.nn import functional as F

from model import FTTransformer
from step_clock import StepClock
from tracker import Tracker

CARDINALITIES = [12, 31, 7, 24, 300, 5000, 80, 2, 2, 2, 50, 1000]
NUMERIC = 40


class Table:
    """The whole table fits on the GPU: batches are gathered there."""

    def __init__(self, rows, device):
        g = torch.Generator().manual_seed(1)
        self.numeric = torch.randn(rows, NUMERIC, generator=g).to(device)
        self.categories = torch.stack([torch.randint(c, (rows,), generator=g) for c in CARDINALITIES], 1).to(device)
        self.target = (self.numeric[:, :4].sum(1) > 0).float()
        self.rows, self.device = rows, device

    def batches(self, size):
        while True:
            order = torch.randperm(self.rows, device=self.device)
            for at in range(0, self.rows - size + 1, size):
                rows = order[at:at + size]
                yield self.numeric[rows], self.categories[rows], self.target[rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.5)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--rows", type=int, default=400_000)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    sync = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")

    table = Table(args.rows, device)
    model = FTTransformer(NUMERIC, CARDINALITIES).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-5, fused=True) if device.type == "cuda" \
        else torch.optim.AdamW(model.parameters(), lr=1e-4)
    tracker = Tracker()

    clock = StepClock(args.seconds, sync)
    for step, (numeric, categories, target) in enumerate(table.batches(args.batch), 1):
        with torch.autocast(device.type, dtype=torch.bfloat16):
            logit = model(numeric, categories)
        loss = F.binary_cross_entropy_with_logits(logit.float(), target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        tracker.gradients(step, model)
        optimizer.step()
        tracker.loss(step, loss)
        if not clock.goes_on():
            break
    print(f"loss {loss.item():.4f}, {len(tracker.history)} series")
    print(clock)


if __name__ == "__main__":
    main()
