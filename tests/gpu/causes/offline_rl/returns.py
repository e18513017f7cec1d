"""Generalized advantage estimation over trajectories of equal length."""
import os

import torch


def discount_matrix(length, rate, device):
    steps = torch.arange(length, device=device)
    gap = steps[None, :] - steps[:, None]
    return torch.where(gap >= 0, rate ** gap.clamp(min=0).float(), torch.zeros((), device=device))


class Advantage:
    def __init__(self, length, device, gamma=0.99, lam=0.95):
        self.gamma, self.lam = gamma, lam
        self.matrix = discount_matrix(length, gamma * lam, device) if os.environ.get("V") == "1" else None

    def __call__(self, rewards, values, last_value):
        """rewards, values: [time, batch]."""
        following = torch.cat([values[1:], last_value[None]])
        delta = rewards + self.gamma * following - values
        if self.matrix is not None:
            advantage = self.matrix @ delta
        else:
            advantage = torch.zeros_like(delta)
            running = torch.zeros_like(last_value)
            for t in reversed(range(len(delta))):
                running = delta[t] + self.gamma * self.lam * running
                advantage[t] = running
        return advantage, advantage + values
