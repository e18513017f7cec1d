"""Training steps whose backward passes tests/gpu/backward matches with their lines.

usage: torch_backward.py MODEL [--steps N] [--nvtx] [--truth FILE]

--nvtx: ranges of emit_nvtx(), which have the sequence numbers of operators and nodes.  --truth: one
step, in which PyTorch remembers the line of each node; for each backward(), its nodes as [sequence
number, name, line], in the order of the engine.
"""
import argparse
import contextlib
import json
import os
import re

import torch
import torch.nn.functional as F
from torch import nn

LIBRARY = re.compile(r".*/(site-packages/(?!torchvision/models)|lib/python3[^/]*/(?!site-packages))")
truth: list[list] = []


def line_of(node) -> str:
    """The innermost line of the program that made a node."""
    found = ""
    for text in node.metadata.get("traceback_", []):
        match = re.match(r'\s*File "([^"]+)", line (\d+)', text)
        if match and not LIBRARY.match(match[1]):
            found = f"{os.path.basename(match[1])}:{match[2]}"
    return found


def nodes_of(loss) -> list:
    """All nodes behind a loss but those of parameters."""
    seen, todo, rows = set(), [loss.grad_fn], []
    while todo:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        todo += [follower for follower, _ in node.next_functions]
        if "AccumulateGrad" not in node.name():
            rows.append([node._sequence_nr(), node.name(), line_of(node)])
    return sorted(rows, key=lambda row: -row[0])


def backward(loss, **more) -> None:
    """The engine, and what it is going to do."""
    if torch.is_anomaly_enabled():
        truth.append(nodes_of(loss))
    loss.backward(**more)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.c_attn(x).split(width, dim=2)
        q, k, v = (y.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1 if self.training else 0)
        y = y.transpose(1, 2).contiguous().view(batch, length, width)
        return self.c_proj(y)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.c_fc, self.c_proj, self.drop = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        y = self.c_fc(self.ln_2(x))
        y = F.gelu(y)
        y = self.c_proj(y)
        return x + self.drop(y)


class Gpt(nn.Module):
    def __init__(self, layers=4, width=512, words=8192, length=256):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, 8) for _ in range(layers))
        self.ln_f, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.shape[-1]).float(), targets.view(-1))


def gpt():
    model = Gpt().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    ids = torch.randint(0, 8192, (16, 256), device="cuda")

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(ids, ids)
        optimizer.zero_grad()
        backward(loss)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def resnet():
    import torchvision

    model = torchvision.models.resnet18(num_classes=100).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    x, y = torch.randn(64, 3, 128, 128, device="cuda"), torch.randint(0, 100, (64,), device="cuda")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y)
        backward(scaler.scale(loss))
        scaler.step(optimizer)
        scaler.update()

    return step


class Branches(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.lstm = nn.LSTM(64, width, num_layers=2, batch_first=True)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.one, self.two, self.again = nn.Linear(64, width), nn.Linear(width, width), nn.Linear(width, width)
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(2 * width, 10)

    def forward(self, x, table):
        a, _ = self.lstm(x)
        q = self.q(a)
        k = self.k(a)
        v = self.v(a)
        score = torch.softmax(q @ k.transpose(1, 2) / 22.6, dim=-1)
        a = (score @ v).mean(dim=1)
        b = torch.relu(self.one(table))
        b = self.two(b)
        for _ in range(3):
            b = b + torch.tanh(self.again(b))
        b = self.norm(b)
        gate = torch.sigmoid(a)
        a = a * gate
        b = b * 0.5
        return self.out(torch.cat([a, b], dim=1))


def branches():
    model = Branches().cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False)
    x, table, y = (torch.randn(*shape, device="cuda") for shape in ((64, 50, 64), (64, 64), (64, 10)))

    def step():
        optimizer.zero_grad(set_to_none=False)
        out = model(x, table)
        loss = ((out - y) ** 2).mean()
        loss = loss + 1e-3 * out.abs().sum()
        backward(loss)
        optimizer.step()

    return step


def accumulation():
    model = Gpt(layers=2).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    parts = torch.randint(0, 8192, (4, 4, 256), device="cuda")

    def step():
        optimizer.zero_grad()
        for part in parts:
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = model(part, part)
            backward(loss / 4)
        optimizer.step()

    return step


def two_losses():
    model = Branches().cuda()
    head = nn.Linear(10, 1).cuda()
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=1e-3)
    x, table, y = (torch.randn(*shape, device="cuda") for shape in ((64, 50, 64), (64, 64), (64, 10)))

    def step():
        optimizer.zero_grad()
        out = model(x, table)
        first = F.mse_loss(out, y)
        second = head(out).square().mean()
        backward(first, retain_graph=True)
        backward(second)
        optimizer.step()

    return step


MODELS = {"gpt": gpt, "resnet": resnet, "branches": branches, "accumulation": accumulation,
          "two_losses": two_losses}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--nvtx", action="store_true")
    parser.add_argument("--truth")
    options = parser.parse_args()
    torch.manual_seed(0)
    step = MODELS[options.model]()
    if options.truth:
        with torch.autograd.set_detect_anomaly(True, check_nan=False):
            step()
        with open(options.truth, "w", encoding="utf-8") as file:
            json.dump(truth, file)
        return
    with torch.autograd.profiler.emit_nvtx() if options.nvtx else contextlib.nullcontext():
        for _ in range(options.steps):
            step()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
