"""Running mean IoU over the epoch."""
import os

import numpy as np
import torch


class MeanIoU:
    def __init__(self, classes, device):
        self.classes = classes
        self.on_device = os.environ.get("V") == "1"
        self.matrix = np.zeros((classes, classes), dtype=np.int64)
        self.matrix_gpu = torch.zeros(classes * classes, dtype=torch.int64, device=device)

    def update(self, logits, target):
        if self.on_device:
            index = (target.long() * self.classes + logits.argmax(1)).flatten()
            self.matrix_gpu.scatter_add_(0, index, torch.ones_like(index))
            return
        guess = logits.argmax(1).cpu().numpy()
        truth = target.cpu().numpy().astype(np.int64)
        pairs = truth.ravel() * self.classes + guess.ravel()
        self.matrix += np.bincount(pairs, minlength=self.classes ** 2).reshape(self.classes, self.classes)

    def value(self):
        m = self.matrix + self.matrix_gpu.view(self.classes, self.classes).cpu().numpy()
        union = m.sum(0) + m.sum(1) - np.diag(m)
        return float((np.diag(m) / np.maximum(union, 1)).mean())
