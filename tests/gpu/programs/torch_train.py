"""A training loop in PyTorch, eager: a small transformer, pinned input, one marker kernel a step."""
import torch

STEPS = 12

torch.manual_seed(0)
model = torch.nn.TransformerEncoder(
    torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True), 2).cuda()
optimizer = torch.optim.AdamW(model.parameters())
batch = torch.randn(16, 32, 128).pin_memory()
for _ in range(STEPS):
    inputs = batch.to("cuda", non_blocking=True)
    loss = model(inputs).square().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    torch.cuda._sleep(1000)  # exactly one launch of spin_kernel
torch.cuda.synchronize()
print("kernel.spin_kernel", STEPS)
print("copy.htod.bytes.%d" % (batch.numel() * 4), STEPS)
print("loss finite", int(torch.isfinite(loss).item()))
