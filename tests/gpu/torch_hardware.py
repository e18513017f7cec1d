"""Work with a known use of the hardware, for tests/gpu/hardware."""
import time

import torch

MATRIX = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
X = torch.randn(1 << 26, device="cuda")
Y = torch.randn(1 << 26, device="cuda")
HOST = torch.empty(1 << 28, dtype=torch.uint8, pin_memory=True)
BYTES = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
SMALL = torch.randn(1 << 16, device="cuda")


def repeat(count, work):
    for _ in range(count):
        work()
    torch.cuda.synchronize()
    time.sleep(0.05)


torch.cuda.synchronize()
time.sleep(1)  # until the sampling is set up
for _ in range(2):
    repeat(200, lambda: torch.mm(MATRIX, MATRIX))
    repeat(500, lambda: torch.add(Y, X, alpha=2.0, out=Y))
    repeat(20, lambda: BYTES.copy_(HOST, non_blocking=True))
    repeat(10000, lambda: SMALL.add_(1))
print("done")
