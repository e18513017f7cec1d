import argparse

import torch
from torch.nn import functional as F

from classifier import Classifier
from reviews import make_loader
from step_clock import StepClock


class Trainer:
    def __init__(self, args, device):
        self.args, self.device = args, device
        self.loader = make_loader(args.count, args.batch, 128, device.type == "cuda")
        self.model = Classifier(layers=args.layers).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-5)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: min(1.0, (step + 1) / 100))
        self.clock = StepClock(args.seconds, torch.cuda.synchronize)

    def train_step(self, ids, labels):
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            loss = F.cross_entropy(self.model(ids), labels)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss

    def train(self):
        while True:
            for ids, labels in self.loader:
                loss = self.train_step(ids.to(self.device, non_blocking=True), labels.to(self.device, non_blocking=True))
                if not self.clock.goes_on():
                    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--count", type=int, default=32_000)
    parser.add_argument("--layers", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    trainer = Trainer(args, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    print(f"loss {trainer.train():.4f}")
    print(trainer.clock)


if __name__ == "__main__":
    main()
