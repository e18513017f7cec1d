"""PyTorch's expandable segments: the caching allocator reserves addresses and maps physical memory
into them on demand.
"""
import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = os.environ["PYTORCH_ALLOC_CONF"] = "expandable_segments:True"
import torch  # noqa: E402

SEGMENT_BYTES = 20 << 20  # the allocator's unit of physical memory for large blocks

x = torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")
y = torch.zeros(128 << 20, dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
reserved = torch.cuda.memory_reserved()
del y
torch.cuda.empty_cache()
for _ in range(10):
    torch.cuda._sleep(1000)
torch.cuda.synchronize()
print("kernel.spin_kernel", 10)
print("memory.physical.allocated.bytes", reserved)
print("memory.physical.freed.bytes", reserved - torch.cuda.memory_reserved())
print("whole segments", int(reserved % SEGMENT_BYTES == 0))
