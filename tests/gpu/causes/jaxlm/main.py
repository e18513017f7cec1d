import argparse
import functools

import jax
import optax

import network
from corpus import Corpus
from step_clock import StepClock


def make_step(optimizer, heads):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train_step(parameters, state, ids):
        value, gradients = jax.value_and_grad(network.loss)(parameters, ids, heads)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    return train_step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--longest", type=int, default=512)
    args = parser.parse_args()

    corpus = Corpus(8192, args.longest)
    parameters = network.init(jax.random.PRNGKey(0), 8192, args.width, args.layers, args.longest)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4))
    state = optimizer.init(parameters)
    train_step = make_step(optimizer, heads=8)

    clock = StepClock(args.seconds, lambda: value.block_until_ready())
    while True:
        parameters, state, value = train_step(parameters, state, corpus.batch(args.batch))
        if not clock.goes_on():
            break
    print(f"loss {float(value):.4f}")
    print(clock)


if __name__ == "__main__":
    main()
