import argparse
import time

import cupy as cp

from gauges import Gauges
from ocean import Ocean


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--height", type=int, default=1536)
    parser.add_argument("--width", type=int, default=2048)
    args = parser.parse_args()

    ocean = Ocean(args.height, args.width)
    gauges = Gauges([(args.height // 2, 400), (200, 900), (args.height - 300, 1300), (args.height // 2, args.width - 60)])
    highest = cp.zeros_like(ocean.level)

    sync = cp.cuda.Device().synchronize
    start = half = None
    half_step = step = 0
    while True:
        ocean.step()
        cp.maximum(highest, ocean.level, out=highest)
        gauges.record(ocean.level)
        step += 1
        now = time.perf_counter()
        if start is None:
            start = now
        elif half is None and now - start > args.seconds / 2:
            sync()
            half, half_step = time.perf_counter(), step
        elif now - start > args.seconds:
            break
    sync()
    took = time.perf_counter() - half
    gauges.save("/tmp/gauges.npy")
    print(f"highest wave {float(highest.max()):.3f} m after {step * ocean.dt:.0f} s")
    print(f"steady step {1000 * took / (step - half_step):.3f} ms over {step - half_step} of {step} steps")


if __name__ == "__main__":
    main()
