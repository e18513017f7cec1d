"""What we log of a training: a ring of the last values, flushed to CSV."""
import collections
import os


class Tracker:
    def __init__(self, every=200):
        self.every = every
        self.history = collections.defaultdict(lambda: collections.deque(maxlen=1000))
        self.sparse = os.environ.get("V") == "1"

    def gradients(self, step, model):
        if self.sparse and step % self.every:
            return
        total = 0.0
        for name, parameter in model.named_parameters():
            if parameter.grad is None:
                continue
            norm = parameter.grad.norm(2).item()
            self.history["grad/" + name].append(norm)
            total += norm ** 2
        self.history["grad/total"].append(total ** 0.5)

    def loss(self, step, loss):
        if step % self.every == 0:
            self.history["loss"].append(loss.item())
