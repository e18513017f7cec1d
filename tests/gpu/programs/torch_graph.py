"""A CUDA graph captured by PyTorch and replayed: many kernels for one launch."""
import torch

REPLAYS = 20
NODES = 8

x = torch.zeros(1024, device="cuda")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    x.add_(1)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(NODES):
        torch.cuda._sleep(100)
for _ in range(REPLAYS):
    graph.replay()
torch.cuda.synchronize()
print("kernel.spin_kernel", REPLAYS * NODES)
print("call.cudaGraphLaunch", REPLAYS)
