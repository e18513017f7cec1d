"""A kernel that Triton compiles at run time, for tests/gpu/stalls: its lines are those of this file."""
import torch
import triton
import triton.language as tl


@triton.jit
def scale(source, target, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(source + at, mask=at < count)  # mark: load
    for _ in range(50):
        value = value * 0.5 + tl.exp(value)  # mark: work
    tl.store(target + at, value, mask=at < count)


X = torch.rand(1 << 26, device="cuda")
Y = torch.empty_like(X)
for _ in range(200):
    scale[(triton.cdiv(X.numel(), 1024),)](X, Y, X.numel(), BLOCK=1024)
torch.cuda.synchronize()
print("done")
