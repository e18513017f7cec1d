#!/usr/bin/env python3
"""`gpuprof summary --one-pass`, and what is made of large traces: the same sums, and a word on what is not there."""
import os
import re
import unittest

import support
from support import GPU, Case

LARGE_BYTES = 512 << 20
MEASURED = re.compile(r"(?<![\w.])\d+\.\d+")
TOLERANCE = 0.002
STEPS = ("launch=2000", "copy=50", "leak=2")


class OnePass(Case):

    def record(self, *steps, name="app", **variables):
        result = self.run_program([*GPU, *steps], GPUPROF_OUTPUT=name, GPUPROF_CHROME="none", **variables)
        self.assertIn(name + ".gpuprof", self.files(), result.stderr)
        return self.path(name + ".gpuprof")

    def summary(self, *arguments):
        result = self.run_gpuprof("summary", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def lines(self, text, pattern):
        found = re.findall(pattern, text, re.MULTILINE)
        self.assertTrue(found, f"{pattern}: {text}")
        return found

    def assert_alike(self, left, right):
        """Counts are the same; what is measured nearly so: lengths are the device's in one pass, else they are brought to the host's clock."""
        self.assertEqual(MEASURED.sub("N", left), MEASURED.sub("N", right))
        for one, other in zip(MEASURED.findall(left), MEASURED.findall(right)):
            self.assertAlmostEqual(float(one), float(other), delta=0.1 + TOLERANCE * float(other), msg=f"{left}\n{right}")

    def assert_same(self, traces, *patterns):
        whole, one_pass = self.summary(*traces), self.summary("--one-pass", *traces)
        for pattern in patterns:
            self.assert_alike("\n".join(self.lines(one_pass, pattern)), "\n".join(self.lines(whole, pattern)))
        return one_pass

    def test_sums_are_those_of_the_whole(self):
        text = self.assert_same(
            [self.record(*STEPS)], r"^gpuprof: .*$", r"^  GPU 0 .*$", r"^GPU activities: .*$", r"^API calls: .*$",
            r"^  copies: .*$", r"^ .* (?:GPU 0|pinned host)$", r"^  all .* launches have their kernel record; .*$")
        self.assertIn("Read in one pass", text)
        self.assertIn("gpuprof summary --full FILE", text)
        self.assertNotIn("Advice", text)

    def test_signs_in_place_of_advice(self):
        text = self.summary("--one-pass", self.record("copy=2000"))
        self.assertRegex(text, r"\nSigns in the totals, of \S+: where time may go")
        self.assertRegex(text, r"\n +\S+ +\S+ %  in [0-9,]+ calls that copy, most of it in cuMemcpyHtoD_v2: hidden-wait, ")

    def test_several_processes(self):
        traces = [self.record(*STEPS, name="first"), self.record("launch=30", name="second")]
        self.assert_same(traces, r"^gpuprof: .*$", r"^  GPU 0 .*$", r"^GPU activities: .*$", r"^ *\d+ +\+.*gpu$")

    def test_memory_without_allocations(self):
        """What the driver reports of the device is told all the same."""
        text = self.assert_same([self.record("launch=1")], r"^ .* GPU 0$")
        self.assertRegex(text, r"\n  +0B +- +0 +0 +0B +0 +\S+iB +\S+iB  GPU 0\n")

    def test_a_killed_program(self):
        self.run_program([*GPU, "launch=500", "raise=9"], GPUPROF_OUTPUT="app", GPUSIM_FAULT="late-buffers")
        self.assert_same([self.path("app.gpuprof")], r"^INCOMPLETE: .*$", r"^  it ends .*$", r"^API calls: .*$",
                         r"^  500 launches, .* without kernel record; .*$")

    def test_tables_need_all(self):
        trace = self.record("launch=1")
        for option in ("--full", "--memory", "--by=kernel"):
            result = self.run_gpuprof("summary", "--one-pass", option, trace)
            self.assertEqual(result.returncode, 2)
            self.assert_one_line(result.stderr, "--one-pass")

    def enlarge(self, trace):
        """With a hole, which is damage."""
        os.truncate(trace, LARGE_BYTES)
        return trace

    def test_a_large_trace(self):
        trace = self.enlarge(self.record(*STEPS))
        text = self.summary(trace)
        self.assertIn("Read in one pass: 512.0MiB", text)
        self.assertRegex(text, r"damaged bytes")
        self.assertIn("2,000 kernels", text)

    def test_the_end_of_a_large_trace(self):
        trace = self.enlarge(self.record(*STEPS))
        result = self.run_gpuprof("finish", trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Read in one pass", result.stderr)
        self.assertRegex(result.stderr, r"no Chrome trace was written, .*gpuprof export --limit 300000 \S*app.gpuprof")
        self.assertEqual(self.files(".json"), [])
        result = self.run_gpuprof("finish", "--html", "--chrome=none", trace)
        self.assertRegex(result.stderr, r"\Agpuprof: the traces are large, and the HTML page takes minutes")
        self.assertEqual(len(self.files(".html")), 1)


if __name__ == "__main__":
    support.main()
