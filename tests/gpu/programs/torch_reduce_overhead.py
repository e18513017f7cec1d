"""torch.compile with its own CUDA graphs: after the warm-up every step is one graph launch."""
import torch

STEPS = 8

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 256)).cuda()
compiled = torch.compile(model, mode="reduce-overhead")
x = torch.randn(64, 256, device="cuda")
with torch.no_grad():
    for _ in range(3):
        expected = compiled(x).clone()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push("replays")
    for _ in range(STEPS):
        torch.cuda._sleep(1000)
        result = compiled(x).clone()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
print("kernel.spin_kernel", STEPS)
print("range.replays", 1)
print("same", int(torch.equal(expected, result)))
