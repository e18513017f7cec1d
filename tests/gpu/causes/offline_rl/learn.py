"""PPO-style updates from a buffer of logged trajectories on the GPU."""
import argparse

import torch

from agent import Agent
from returns import Advantage
from step_clock import StepClock

OBSERVATION, ACTION = 64, 12


class Buffer:
    def __init__(self, count, length, device):
        self.observations = torch.randn(length + 1, count, OBSERVATION, device=device)
        self.actions = torch.randn(length, count, ACTION, device=device)
        self.rewards = torch.randn(length, count, device=device)
        self.log_probs = torch.full((length, count), -17.0, device=device)
        self.count = count

    def sample(self, batch):
        pick = torch.randint(self.count, (batch,), device=self.rewards.device)
        return self.observations[:, pick], self.actions[:, pick], self.rewards[:, pick], self.log_probs[:, pick]


def update(agent, optimizer, batch, advantage, epochs=2, clip=0.2):
    observations, actions, rewards, old = batch
    with torch.no_grad():
        values = agent.value(observations)
        advantages, targets = advantage(rewards, values[:-1], values[-1])
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(epochs):
        new, entropy = agent.log_prob(observations[:-1], actions)
        ratio = (new - old).clamp(-10, 10).exp()
        policy_loss = -torch.min(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages).mean()
        value_loss = (agent.value(observations[:-1]) - targets).square().mean()
        loss = policy_loss + 0.5 * value_loss - 0.01 * entropy.mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.5)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--batch", type=int, default=256)
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    sync = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    agent = Agent(OBSERVATION, ACTION).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=3e-4)
    buffer = Buffer(2048 if device.type == "cuda" else 64, args.length, device)
    advantage = Advantage(args.length, device)

    clock = StepClock(args.seconds, sync)
    while True:
        loss = update(agent, optimizer, buffer.sample(args.batch), advantage)
        if not clock.goes_on():
            break
    print(f"loss {loss.item():.4f}")
    print(clock)


if __name__ == "__main__":
    main()
