#!/usr/bin/env python3
"""The rules of gpuprof advice: each speaks of the program in tests/rules that does what it is about, and names the line; none speaks of
the mended ones, nor of the sample programs."""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import unittest

import support
from support import ROOT, Case

SOURCES = os.path.join(ROOT, "tests", "rules")
RULES = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(SOURCES, "*.cu")))
# Not zoo: it does everything once, and has the driver compile.
SAMPLES = ("allocs", "copies", "demo", "graph", "launch", "leaks", "overlap", "ranges", "streams")

TRIES = 10


def line_to_change(rule):
    with open(os.path.join(SOURCES, rule + ".cu"), encoding="utf-8") as file:
        return [number for number, text in enumerate(file, 1) if text.rstrip().endswith("/* sin */")]


def setUpModule():
    """Advice is about times: what else runs here is not to take the processor from the programs, as far as we may ask for that."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)
    except PermissionError:
        return
    unittest.addModuleCleanup(os.setpriority, os.PRIO_PROCESS, 0, before)


class RulesTest(Case):
    def advice(self, program, *arguments):
        done = self.run_program([program, *arguments], options=("-q", "-o", "out", "--chrome", "none", "--stacks", "all"))
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = self.files(".gpuprof")[-1]
        told = self.run_gpuprof("advice", "--format", "json", trace)
        self.assertEqual(told.returncode, 0, told.stderr)
        os.remove(self.path(trace))
        return json.loads(told.stdout)["findings"]

    def advice_of(self, expected, program, *arguments):
        """What is said of it; where that is not what is expected it is to be so twice: the system may have taken the processor from the
        program, and then its GPU was idle indeed; but what is right once in many times is not right."""
        right = 0
        for tries in range(1, TRIES + 1):
            findings = self.advice(program, *arguments)
            right += {one["rule"] for one in findings} == expected
            if right == min(tries, 2):
                if tries > 1:
                    print(f"{self.id()}: as expected in {right} of {tries} tries", file=sys.stderr)
                return findings
        self.fail(f"expected {sorted(expected)}, was so in {right} of {TRIES} tries, told at last: {findings}")
        return findings

    def check_sin(self, rule):
        findings = self.advice_of({rule}, os.path.join(support.BUILD, "rules", rule), "sin")
        lines = line_to_change(rule)
        sites = [one["call_site"] for one in findings if one["rule"] == rule]
        for line in lines:
            self.assertTrue([site for site in sites if site.endswith(f"({rule}.cu:{line})")], sites)
        for one in findings:
            self.assertTrue(one["found"] and one["change"])
            self.assertLessEqual(one["saves_share"], 1)

    def check_mended(self, rule):
        self.advice_of(set(), os.path.join(support.BUILD, "rules", rule), "mended")

    def check_sample(self, name):
        self.advice_of(set(), os.path.join(support.BUILD, "programs", name))


def add(name, check, *arguments):
    setattr(RulesTest, "test_" + name.replace("-", "_"), lambda self: getattr(self, check)(*arguments))


for _rule in RULES:
    add(_rule + "_sin", "check_sin", _rule)
    add(_rule + "_mended", "check_mended", _rule)
for _name in SAMPLES:
    add("of_" + _name, "check_sample", _name)


class ExampleTest(Case):
    def lines(self, text):
        with open(os.path.join(ROOT, "examples", "heat.cu"), encoding="utf-8") as file:
            return [f"heat.cu:{number}" for number, line in enumerate(file, 1) if text in line]

    def run_example(self, rules):
        """What is printed of it; where a rule is missing it is to speak twice, as in RulesTest.advice_of(): allocations take a smaller share
        of a run that waits for the processor."""
        right = 0
        for tries in range(1, TRIES + 1):
            done = self.run_program([os.path.join(support.BUILD, "examples", "heat")], GPUSIM_KERNEL_NS=15000,
                                    options=("-o", "out", "--chrome", "none", "--stacks=all"))
            self.assertEqual(done.returncode, 0, done.stderr)
            right += all(f" {rule}: " in done.stderr for rule in rules)
            if right == min(tries, 2):
                return done.stderr
        self.fail(f"expected {rules}, was so in {right} of {TRIES} tries, told at last: {done.stderr}")
        return None

    def test_the_summary_names_the_lines(self):
        """What `make demo` shows."""
        sins = {"hidden-wait": "cudaMemcpy(&most", "pageable-async": "cudaMemcpyAsync(picture", "alloc-in-loop": "cudaMalloc(&buffer"}
        said = self.run_example(sins)
        advice = said[said.index("Advice"):]
        for text in sins.values():
            self.assertTrue([line for line in self.lines(text) if line in advice], advice)
        self.assertNotIn("alloc-in-loop (outside", advice)
        self.assertIn(f"main ({self.lines('cudaMalloc(&next')[0]})", said)


    def test_the_demo_says_what_is_invented_and_what_to_type_next(self):
        done = subprocess.run([os.path.join(ROOT, "tests", "demo"), support.BUILD], env=support.environment(LD_LIBRARY_PATH=None, GPUPROF_QUIET=None),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=support.LIMIT_S, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        if "on the simulated device" in done.stdout:
            self.assertIn("that each takes 15 us is invented", done.stdout)
        command = done.stdout.splitlines()[-1].split("type: ")[1]
        name = command.split()[-1].removesuffix(".gpuprof")
        for suffix in (".gpuprof", ".json", ".html"):
            self.addCleanup(os.unlink, name + suffix)
        subprocess.run(["sh", "-c", command], check=True, cwd=self.folder, stderr=subprocess.DEVNULL)
        self.assertTrue(os.path.exists(name + ".html"))


class RanksTest(Case):
    def ranks(self, *kernels_us):
        """What is said of ranks that take the same steps with kernels of unequal length."""
        def run(rank):
            return self.run_program([os.path.join(support.BUILD, "programs", "demo")],
                                    options=("-q", "-o", f"rank{rank}", "--chrome", "none"), RANK=rank, GPUSIM_KERNEL_NS=1000 * kernels_us[rank])

        with concurrent.futures.ThreadPoolExecutor(len(kernels_us)) as pool:
            for done in pool.map(run, range(len(kernels_us))):
                self.assertEqual(done.returncode, 0, done.stderr)
        told = self.run_gpuprof("advice", "--format", "json", *self.files(".gpuprof"))
        return [one for one in json.loads(told.stdout)["findings"] if one["rule"] == "rank-imbalance"]

    def test_ranks_of_equal_work(self):
        self.assertEqual(self.ranks(500, 500, 500), [])

    def test_a_rank_with_more_work(self):
        found = self.ranks(100, 1000, 100)
        self.assertEqual(len(found), 1)
        self.assertIn("rank 1", found[0]["found"])


class ExplainTest(Case):
    def test_every_rule_is_explained_and_has_a_program(self):
        listed = [line.split()[0] for line in self.run_gpuprof("explain", "--list").stdout.splitlines()]
        self.assertEqual(sorted(listed), sorted(set(RULES) | WITHOUT_PROGRAM))
        for rule in listed:
            text = self.run_gpuprof("explain", rule).stdout
            self.assertTrue(text.startswith(rule + ": "), text)
            for part in ("What it means", "What helps", "When to ignore it", "When it is reported"):
                self.assertIn(part, text)
            self.assertNotIn("at least 0B", text)

    def test_every_cause_of_idle_time_is_explained(self):
        rules = {line.split()[0] for line in self.run_gpuprof("explain", "--list").stdout.splitlines()}
        listed = [line.split()[0] for line in self.run_gpuprof("explain", "--causes").stdout.splitlines()]
        self.assertFalse(rules & set(listed), "a rule and a cause of one name")
        for cause in listed:
            text = self.run_gpuprof("explain", cause).stdout
            self.assertTrue(text.startswith(cause + ", a cause of idle time: "), text)
            self.assertIn("What helps", text)
            for named in re.findall(r"[Rr]ules?: ([a-z, \n-]+)\.", text):
                self.assertLessEqual(set(re.findall(r"[a-z-]+", named)), rules)

    def test_a_rule_that_is_none(self):
        done = self.run_gpuprof("explain", "no-such-rule")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "no-such-rule", "--list")

    def test_the_document(self):
        with open(os.path.join(ROOT, "docs", "reference", "advice.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_gpuprof("explain", "--markdown").stdout, "type: gpuprof explain --markdown >docs/reference/advice.md")


# Their programs are in tests/gpu/sins: the simulated device's memory is where it is touched, and its ranks do not wait; ranks are above.
# No program lowers clocks: energy_test.py.
WITHOUT_PROGRAM = {os.path.basename(path)[:-3] for path in glob.glob(os.path.join(ROOT, "tests", "gpu", "sins", "*.cu"))} | {"lowered-clocks"}


if __name__ == "__main__":
    support.main()
