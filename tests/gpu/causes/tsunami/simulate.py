import argparse

import cupy as cp

from gauges import Gauges
from ocean import Ocean
from step_clock import StepClock


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--height", type=int, default=1536)
    parser.add_argument("--width", type=int, default=2048)
    args = parser.parse_args()

    ocean = Ocean(args.height, args.width)
    gauges = Gauges([(args.height // 2, 400), (200, 900), (args.height - 300, 1300), (args.height // 2, args.width - 60)])
    highest = cp.zeros_like(ocean.level)

    clock = StepClock(args.seconds, cp.cuda.Device().synchronize)
    while True:
        ocean.step()
        cp.maximum(highest, ocean.level, out=highest)
        gauges.record(ocean.level)
        if not clock.goes_on():
            break
    gauges.save("/tmp/gauges.npy")
    print(f"highest wave {float(highest.max()):.3f} m after {clock.count * ocean.dt:.0f} s")
    print(clock)


if __name__ == "__main__":
    main()
