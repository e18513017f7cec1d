import torch
from torch import nn


class Double(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(
            nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, classes, width=32, depth=4):
        super().__init__()
        sizes = [width * 2 ** i for i in range(depth + 1)]
        self.stem = Double(3, sizes[0])
        self.down = nn.ModuleList(Double(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(sizes[:-1], sizes[1:]))
        self.fuse = nn.ModuleList(Double(2 * a, a) for a in sizes[:-1])
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = [self.stem(x)]
        for block in self.down:
            skips.append(block(self.pool(skips[-1])))
        x = skips.pop()
        for up, fuse in zip(reversed(self.up), reversed(self.fuse)):
            x = fuse(torch.cat([skips.pop(), up(x)], 1))
        return self.head(x)
