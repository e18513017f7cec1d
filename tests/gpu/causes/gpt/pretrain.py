import argparse
import math

import torch

from model import Gpt
from step_clock import StepClock


def rate(step, peak=6e-4, warm=100, total=10_000):
    if step < warm:
        return peak * (step + 1) / warm
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.5)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=1024)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=8)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    sync = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True

    tokens = torch.randint(32_000, (2_000_000,), device=device)
    model = Gpt(32_000, args.width, args.width // 64, args.layers, args.length).to(device)
    more = {"fused": True} if device.type == "cuda" else {}
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1, **more)
    window = torch.arange(args.length + 1, device=device)

    clock = StepClock(args.seconds, sync)
    step = 0
    while True:
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        at = torch.randint(len(tokens) - args.length - 1, (args.batch, 1), device=device)
        rows = tokens[at + window]
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = model(rows[:, :-1], rows[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1
        if not clock.goes_on():
            break
    print(f"loss {loss.item():.4f}")
    print(clock)


if __name__ == "__main__":
    main()
