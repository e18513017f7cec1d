"""A Triton kernel: launched with cuLaunchKernelEx, no runtime call around it."""
import torch
import triton
import triton.language as tl

LAUNCHES = 300


@triton.jit
def gpuprof_triton(pointer, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(pointer + offsets, tl.load(pointer + offsets) + 1)


x = torch.zeros(256, device="cuda")
for _ in range(LAUNCHES):
    gpuprof_triton[(1,)](x, BLOCK=256)
torch.cuda.synchronize()
print("kernel.gpuprof_triton", LAUNCHES)
print("value", float(x[0]))
