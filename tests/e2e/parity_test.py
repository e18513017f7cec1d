"""tests/gpu/parity: what it takes for a difference, and that the simulated device has none from itself."""
import importlib.machinery
import importlib.util
import os
import re
import subprocess

import support
from support import BUILD, ROOT, Case
import describe  # in the folder that support names

PATH = os.path.join(ROOT, "tests", "gpu", "parity")


def load():
    loader = importlib.machinery.SourceFileLoader("parity", PATH)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("parity", loader))
    loader.exec_module(module)
    return module


class Parity(Case):

    def test_the_simulated_device_is_like_itself(self):
        result = subprocess.run([PATH, "--build", BUILD, "--save", self.folder, "fail", "streams", "zoo --trace=gpu"],
                                env=support.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=support.LIMIT_S,
                                universal_newlines=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(result.stdout.splitlines()[-1], "3 passed, 0 failed")
        self.assertIn("zoo--trace=gpu.real.txt", self.files())

    def test_steps_names_and_order_are_differences(self):
        parity = load()
        allowed = [(re.compile("a.*"), re.compile(r"^[-+]x"))]
        self.assertEqual(parity.compare("all", ["x 1", "y"], ["x 2", "y"], allowed), [])
        self.assertEqual(parity.compare("other", ["x 1", "y"], ["x 2", "y"], allowed), ["-x 1", "+x 2"])
        self.assertEqual(sorted(parity.compare("all", ["y", "z"], ["z", "y"], allowed)), ["+z", "-z"])

    def test_no_trace_on_either_side_is_a_difference(self):
        parity = load()
        nothing = [f"{parity.NO_TRACE}, exit status 1"]
        self.assertEqual(parity.compare("all", nothing, nothing, []), nothing)

    def test_each_rule_has_a_reason_and_is_narrow(self):
        parity = load()
        with open(os.path.join(ROOT, "tests", "gpu", "parity.txt"), encoding="utf-8") as file:
            rules = [line for line in file if not line.startswith("#")]
        self.assertTrue(all(re.search(r"  # \w.{20}", rule) for rule in rules), rules)
        for who, what in parity.read_allowed():
            self.assertTrue(any(who.fullmatch(run) for run in parity.RUNS), who)
            self.assertFalse(what.search("-thread 0: cudaMemcpy id+1") or what.search("+sync: Event Sync, by nobody"), what)

    def test_chance_is_left_out(self):
        lines = ["thread 3: cudaFree id+12 bytes=4", "thread 1: cudaFree id+2 bytes=4", "thread 0: cudaFree id+0 bytes=0", "thread 0: f id+-1"]
        self.assertEqual(describe.without_chance(lines), ["thread: cudaFree id grows bytes=4"] * 2 +
                         ["thread: cudaFree id+0 bytes=0", "thread: f id+-1"])


if __name__ == "__main__":
    support.main()
