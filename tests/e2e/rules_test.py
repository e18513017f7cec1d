#!/usr/bin/env python3
"""The rules of gpuprof advice: each speaks of the program in tests/rules that does what it is about, and names the line; none speaks of
the mended ones, nor of the sample programs."""
import glob
import json
import os
import unittest

import support
from support import ROOT, Case

SOURCES = os.path.join(ROOT, "tests", "rules")
RULES = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(SOURCES, "*.cu")))
SAMPLES = ("allocs", "copies", "demo", "graph", "launch", "leaks", "overlap", "ranges", "streams", "zoo")

# Rules that have more to say of the sinner, rightly.
TOO = {}


def line_to_change(rule):
    with open(os.path.join(SOURCES, rule + ".cu"), encoding="utf-8") as file:
        return [number for number, text in enumerate(file, 1) if text.rstrip().endswith("/* sin */")]


class RulesTest(Case):
    def advice(self, program, *arguments):
        done = self.run_program([program, *arguments], options=("-q", "-o", "out", "--chrome", "none", "--stacks", "all"))
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = self.files(".gpuprof")[-1]
        told = self.run_gpuprof("advice", "--format", "json", trace)
        self.assertEqual(told.returncode, 0, told.stderr)
        os.remove(self.path(trace))
        return json.loads(told.stdout)["findings"]

    def check_sin(self, rule):
        findings = self.advice(os.path.join(support.BUILD, "rules", rule), "sin")
        self.assertEqual({one["rule"] for one in findings}, {rule} | TOO.get(rule, set()), findings)
        lines = line_to_change(rule)
        sites = [one["call_site"] for one in findings if one["rule"] == rule]
        for line in lines:
            self.assertTrue([site for site in sites if site.endswith(f"({rule}.cu:{line})")], sites)
        for one in findings:
            self.assertTrue(one["found"] and one["change"])
            self.assertLessEqual(one["saves_share"], 1)

    def check_mended(self, rule):
        self.assertEqual(self.advice(os.path.join(support.BUILD, "rules", rule), "mended"), [])

    def check_sample(self, name):
        self.assertEqual(self.advice(os.path.join(support.BUILD, "programs", name)), [])


def add(name, check, *arguments):
    setattr(RulesTest, "test_" + name.replace("-", "_"), lambda self: getattr(self, check)(*arguments))


for _rule in RULES:
    add(_rule + "_sin", "check_sin", _rule)
    add(_rule + "_mended", "check_mended", _rule)
for _name in SAMPLES:
    add("of_" + _name, "check_sample", _name)


class ExplainTest(Case):
    def test_every_rule_is_explained_and_has_a_program(self):
        listed = [line.split()[0] for line in self.run_gpuprof("explain", "--list").stdout.splitlines()]
        self.assertEqual(sorted(listed), sorted(set(RULES) | WITHOUT_PROGRAM))
        for rule in listed:
            text = self.run_gpuprof("explain", rule).stdout
            self.assertTrue(text.startswith(rule + ": "), text)
            for part in ("What it means", "What helps", "When to ignore it", "It speaks from"):
                self.assertIn(part, text)

    def test_a_rule_that_is_none(self):
        done = self.run_gpuprof("explain", "no-such-rule")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "no-such-rule", "--list")

    def test_the_document(self):
        with open(os.path.join(ROOT, "docs", "advice.md"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_gpuprof("explain", "--markdown").stdout, "type: gpuprof explain --markdown >docs/advice.md")


# Rules whose programs are more than one process, below.
WITHOUT_PROGRAM = set()


if __name__ == "__main__":
    support.main()
