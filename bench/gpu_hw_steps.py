"""For bench/gpu_hw: training steps of PyTorch whose results do not depend on chance.  A step that
waits for launches, and one that waits for the GPU.

Prints JSON: for each step its median and mean in ms, and a hash of the parameters at
the end.
"""
import hashlib
import json
import os
import statistics
import time

import torch
from torch import nn

WARMUP = 20
# name: layers, width, batch, steps
STEPS = {"launch-bound": (40, 64, 16, 80), "GPU-bound": (6, 8192, 4096, 40)}


def measure(layers, width, batch, steps):
    torch.manual_seed(0)
    model = nn.Sequential(*(layer for _ in range(layers) for layer in (nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, foreach=False)
    x = torch.randn(batch, width, device="cuda")
    times = []
    for i in range(WARMUP + steps):
        start = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        if i >= WARMUP:
            times.append(1000 * (time.perf_counter() - start))
    bits = [parameter.detach().view(torch.int32).sum(dtype=torch.int64).item() for parameter in model.parameters()]
    return {"median": statistics.median(times), "mean": statistics.mean(times), "hash": hashlib.sha256(repr(bits).encode()).hexdigest()}


os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # else the results of products may differ
torch.use_deterministic_algorithms(True)
print(json.dumps({name: measure(*shape) for name, shape in STEPS.items()}))
