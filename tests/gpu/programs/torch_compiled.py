"""The training step with torch.compile: Triton kernels, launched through the driver API."""
import torch

STEPS = 10


@torch.compile
def step(x, w):
    return torch.nn.functional.gelu(x @ w).sum()


x = torch.randn(256, 256, device="cuda", requires_grad=True)
w = torch.randn(256, 256, device="cuda", requires_grad=True)
for _ in range(STEPS):
    step(x, w).backward()
    torch.cuda._sleep(1000)
torch.cuda.synchronize()
print("kernel.spin_kernel", STEPS)
