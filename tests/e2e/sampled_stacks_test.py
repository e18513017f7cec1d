#!/usr/bin/env python3
"""The default --stacks=alloc,sample: estimated places agree with those of --stacks=all, within the stated error."""
import json
import os
import sys

from support import BUILD, ROOT, Case, main

GPU = os.path.join(ROOT, "tests", "e2e", "gpu.py")
HEAT = [os.path.join(BUILD, "examples", "heat"), "2000"]
MARGIN = 0.005  # of all: samples of an error have one themselves

# loop.py GPU [random]: a loop whose lines all launch the same kernel, two of them in random order.
LOOP = '''import importlib.util
import random
import sys

spec = importlib.util.spec_from_file_location("gpu", sys.argv[1])
gpu = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gpu)
device = gpu.Device()


def launch(blocks):
    device.call("cuLaunchKernel", device.kernel, blocks, 1, 1, 32, 1, 1, 0, None, None, None)


def forward():
    launch(1)
    launch(2)
    launch(1)


def backward():
    launch(2)
    launch(2)
    launch(1)


def left():
    launch(3)


def right():
    launch(3)


def step(number, is_random):
    forward()
    backward()
    random.choice((left, right))() if is_random else left()
    if number % 50 == 0:
        right()


for i in range(3000):
    step(i, len(sys.argv) > 2)
device.call("cuCtxSynchronize")
'''


class SampledStacksTest(Case):
    def record(self, program, *options):
        for name in self.files(".gpuprof"):
            os.remove(self.path(name))
        done = self.run_program(program, options=("-q", "-o", "out", "--chrome", "none", *options))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("out.gpuprof")

    def places(self, trace):
        """{stack from the program's own functions on: number of operations}, what is said of it."""
        done = self.run_gpuprof("export", "-F", "folded", "--value", "operations", "-o", "-", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {stack: int(count) for stack, count in (line.rsplit(" ", 1) for line in done.stdout.splitlines())}, done.stderr

    def facts(self, trace):
        done = self.run_gpuprof("summary", "--format", "json", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return next(report["facts"] if "facts" in report else report for report in json.loads(done.stdout)
                    if report["report"] == "summary")

    def check(self, program):
        exact, said = self.places(self.record(program, "--stacks=all"))
        self.assertNotIn("estimated", said)
        trace = self.record(program)
        estimated, said = self.places(trace)
        facts = self.facts(trace)
        self.assertIn("estimated", said)
        self.assertGreater(facts["stacks_estimated"], facts["stacks_sampled"])
        total = sum(exact.values())
        self.assertEqual(sum(estimated.values()), total)
        differing = sum(abs(exact.get(stack, 0) - estimated.get(stack, 0)) for stack in exact.keys() | estimated.keys()) / 2
        self.assertLessEqual(differing / total, facts["stacks_wrong"] + MARGIN, (exact, estimated))
        return facts

    def check_loop(self, *arguments):
        return self.check([sys.executable, self.write("loop.py", LOOP), GPU, *arguments])

    def test_loop_of_lines_that_launch_one_kernel(self):
        self.assertLess(self.check_loop()["stacks_wrong"], 0.02)

    def test_compiled_program(self):
        self.check(HEAT)

    def test_stated_error_of_places_at_random(self):
        """Of lines in random order, half of the estimates are wrong; the sums are right, and the error is known."""
        self.assertGreater(self.check_loop("random")["stacks_wrong"], 0.02)


if __name__ == "__main__":
    main()
