import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import CLASSES, Tiles
from metrics import MeanIoU
from step_clock import StepClock
from unet import UNet


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--width", type=int, default=32)
    args = parser.parse_args()

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    sync = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True

    tiles = Tiles(512 if device.type == "cuda" else 32, args.size)
    loader = DataLoader(tiles, batch_size=args.batch, shuffle=True, num_workers=4, pin_memory=device.type == "cuda",
                        persistent_workers=True, drop_last=True)
    model = UNet(CLASSES, args.width).to(device, memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    criterion = nn.CrossEntropyLoss()
    metric = MeanIoU(CLASSES, device)

    clock = StepClock(args.seconds, sync)
    running = True
    while running:
        for images, labels in loader:
            images = images.to(device, non_blocking=True).to(memory_format=torch.channels_last)
            labels = labels.to(device, non_blocking=True)
            with torch.autocast(device.type, dtype=torch.bfloat16):
                logits = model(images.float() / 255)
                loss = criterion(logits, labels.long())
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            metric.update(logits.detach(), labels)
            if not clock.goes_on():
                running = False
                break
    print(f"mIoU {metric.value():.3f} loss {loss.item():.3f}")
    print(clock)


if __name__ == "__main__":
    main()
