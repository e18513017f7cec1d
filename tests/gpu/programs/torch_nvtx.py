"""NVTX ranges from PyTorch: nested ranges, marks, a range per step, and emit_nvtx() around
operators.
"""
import torch

STEPS = 6

x = torch.randn(256, 256, device="cuda")
torch.cuda.synchronize()
for step in range(STEPS):
    with torch.cuda.nvtx.range("step"):
        torch.cuda.nvtx.range_push("forward")
        for _ in range(3):
            torch.cuda._sleep(1000)
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.mark("between")
        with torch.cuda.nvtx.range("number %d" % step):
            torch.cuda._sleep(1000)
handle = torch.cuda.nvtx.range_start("whole")
torch.cuda._sleep(1000)
torch.cuda.nvtx.range_end(handle)
with torch.autograd.profiler.emit_nvtx():
    y = x @ x
torch.cuda.synchronize()
print("range.step", STEPS)
print("range.forward", STEPS)
print("mark.between", STEPS)
print("range.whole", 1)
print("range.step.operations", 4)
print("range.forward.operations", 3)
print("range.whole.operations", 1)
print("kernel.spin_kernel", STEPS * 4 + 1)
print("finite", int(torch.isfinite(y).all().item()))
