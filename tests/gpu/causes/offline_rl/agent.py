import torch
from torch import nn
from torch.distributions import Normal


def mlp(cin, width, cout, layers=3):
    parts = [nn.Linear(cin, width), nn.SiLU()]
    for _ in range(layers - 1):
        parts += [nn.Linear(width, width), nn.SiLU()]
    return nn.Sequential(*parts, nn.Linear(width, cout))


class Agent(nn.Module):
    def __init__(self, observation, action, width=256):
        super().__init__()
        self.actor, self.critic = mlp(observation, width, action), mlp(observation, width, 1)
        self.log_std = nn.Parameter(torch.zeros(action))

    def value(self, observation):
        return self.critic(observation).squeeze(-1)

    def log_prob(self, observation, action):
        policy = Normal(self.actor(observation), self.log_std.exp(), validate_args=False)
        return policy.log_prob(action).sum(-1), policy.entropy().sum(-1)
