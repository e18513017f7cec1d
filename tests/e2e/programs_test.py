"""The sample programs on the simulated device: they behave as without us, and what is traced is what they print."""
import glob
import os
import sys
import unittest

import chrome_lint
import support
from support import BARE, LAUNCHED, PLAIN, ROOT, Case
from facts import Facts, NODES_OF_COVER, differences

# cuptiGetVersion() of the versions whose records the simulated device can write
CUPTI_VERSIONS = {"11.8": 18, "12.6": 24, "12.9": 28, "13.0": 130001}


def commands():
    """name: command line"""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "programs", "*"))):
        name, suffix = os.path.splitext(os.path.basename(path))
        if suffix == ".cu":
            found[name] = [os.path.join(support.BUILD, "programs", name)]
        elif suffix == ".py" and name not in ("places", "ways"):  # flame_test.py's
            found[name] = [sys.executable, path]
    return found


class Programs(Case):

    def check(self, name, way, *arguments, but=(), **variables):
        command = [*commands()[name], *arguments]
        plain = self.run_program(command, PLAIN, **variables)
        result = self.run_program(command, way, GPUPROF_OUTPUT=name, **variables)
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout), result.stderr)
        facts = Facts(self.path(name + ".json"))
        self.assertEqual(differences(facts, result.stdout, but), [], result.stderr)
        self.assertEqual({rule: cases for rule, cases in chrome_lint.lint(self.path(name + ".json")).items() if cases}, {})
        for file in self.files():
            os.unlink(self.path(file))

    def test_there_are_programs(self):
        self.assertGreater(len(commands()), 5)

    def test_under_the_launcher(self):
        for name in commands():
            with self.subTest(name):
                self.check(name, LAUNCHED)

    def test_under_a_bare_preload(self):
        for name in commands():
            with self.subTest(name):
                self.check(name, BARE)

    def test_with_every_version_of_cupti(self):
        for version, number in CUPTI_VERSIONS.items():
            for name in ("launch", "copies", "graph"):
                with self.subTest(name, cupti=version):
                    self.check(name, LAUNCHED, GPUSIM_CUPTI_VERSION=number)
            with self.subTest("cover", cupti=version):  # no version before 13.0 knows the batches of the runtime of 13.0
                self.check("cover", LAUNCHED, "-batches", GPUSIM_CUPTI_VERSION=number, GPUPROF_TRACE="default,sync,event")

    def test_with_whole_graphs(self):
        self.check("cover", LAUNCHED, "graphs", but=NODES_OF_COVER, GPUPROF_GRAPHS="graph")

    def test_on_two_devices(self):
        self.check("cover", LAUNCHED, GPUSIM_DEVICES=2, GPUPROF_TRACE="default,sync,event")


if __name__ == "__main__":
    support.main()
