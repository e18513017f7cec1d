"""A model with three graph breaks and one recompilation, and one whose CUDA graph is refused, for tests/gpu/compile.

    torch_breaks.py FILE [TEXT]     writes both reports as JSON, and the first one as a text
"""
import json
import sys

import torch

import gpuprof


class Net(torch.nn.Module):
    def __init__(self, width=1024, depth=4):
        super().__init__()
        self.layers = torch.nn.Sequential(*(layer for _ in range(depth) for layer in (
            torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width))))
        self.is_first = True

    def forward(self, x):
        if self.is_first:  # recompiled: an attribute has changed
            self.is_first = False
        y = self.layers(x)
        print("", end="")  # break: print
        scale = y.abs().mean().item()  # break: item
        z = torch.tanh(y) * scale
        if z.sum() > 0:  # break: branch
            z = z + 1
        return {"result": [z.softmax(dim=-1)]}


def mutating(x):
    x.add_(1)
    return torch.cos(x)


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
net, x = Net().to(device), torch.randn(64, 1024, device=device)
before = {name: value.clone() for name, value in net.state_dict().items()}
random, kept = torch.get_rng_state(), x.clone()
with torch.no_grad():
    first = gpuprof.torch_compile(net, x, modes=("default", "reduce-overhead", "nonsense"))
    second = gpuprof.torch_compile(mutating, x, modes="reduce-overhead", iterations=6)
is_unchanged = net.is_first and net.training and torch.equal(kept, x) and torch.equal(random, torch.get_rng_state()) and all(
    torch.equal(value, before[name]) for name, value in net.state_dict().items())
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({"net": first.to_dict(), "mutating": second.to_dict(), "unchanged": is_unchanged}, file)
if sys.argv[2:]:
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(f"{first}\n\n{second}\n")
