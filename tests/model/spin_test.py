#!/usr/bin/env python3
"""The protocols of rings, lanes and the eventcount, searched through by Spin: each model of this folder has no error, and each
fault that can be put into it (-DBUG_...) is found."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SKIPPED = 77
DEPTH = 100000
VARIANTS = {  # a model and what else it is built with: the faults that it can have
    ("ring", ""): ("PUBLISHES_BEFORE_WRITING", "ONE_SLOT_TOO_MANY", "LOADS_HEAD_BEFORE_BUSY", "HANDLER_IGNORES_BUSY",
                   "FREES_BEFORE_COPYING", "FREES_BEFORE_APPENDING", "READS_THE_FILE_FIRST", "LOADS_TAIL_BEFORE_HEAD",
                   "LOADS_TAIL_ONCE"),
    ("ring", "SHARED"): ("TAKES_NO_LOCK", "LOADS_HEAD_BEFORE_THE_LOCK", "UNLOCKS_BEFORE_PUBLISHING"),
    ("eventcount", ""): ("WAKES_BEFORE_RAISING", "FORGETS_AN_EARLY_RING", "SLEEPS_WITHOUT_LOOKING", "HEARS_ONLY_AFTER_THE_PASS",
                   "RINGS_BEFORE_STOPPING"),
    ("lanes", ""): ("LOOKS_THEN_TAKES", "FREES_WHAT_IS_NOT_DRAINED", "FREES_BEFORE_COUNTING",
                    "READER_IGNORES_A_NEW_OWNER"),
}


def run(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, check=True).stdout


def search(model, defines):
    """What the search through all orders of steps says at its end."""
    with tempfile.TemporaryDirectory(prefix="gpuprof-spin-") as folder:
        run(["spin", "-a", *(f"-D{name}" for name in defines if name), os.path.join(HERE, model + ".pml")], folder)
        run(["gcc", "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DCOLLAPSE", "-o", "search", "pan.c"], folder)
        return run(["./search", "-E", f"-m{DEPTH}"], folder)


def errors(output):
    if "max search depth too small" in output:
        raise AssertionError(output)
    return int(re.search(r"errors: (\d+)", output).group(1))


class Models(unittest.TestCase):
    def test_each_fault_of_the_models_is_tried(self):
        for model in sorted({model for model, _ in VARIANTS}):
            with open(os.path.join(HERE, model + ".pml"), encoding="utf-8") as file:
                written = set(re.findall(r"^#ifn?def BUG_(\w+)", file.read(), re.MULTILINE))
            tried = {bug for (name, _), bugs in VARIANTS.items() if name == model for bug in bugs}
            self.assertEqual(written, tried, model)

    def test_no_order_of_steps_breaks_the_promises(self):
        for (model, define) in VARIANTS:
            with self.subTest(model=model, define=define):
                output = search(model, (define,))
                self.assertEqual(errors(output), 0, output)
                self.assertGreater(int(re.search(r"(\d+) states, stored", output).group(1)), 1000)

    def test_faults_are_found(self):
        cases = [(model, define, bug) for (model, define), bugs in VARIANTS.items() for bug in bugs]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outputs = pool.map(lambda case: search(case[0], (case[1], "BUG_" + case[2])), cases)
            for case, output in zip(cases, outputs):
                with self.subTest(case=case):
                    self.assertGreater(errors(output), 0, output)


if __name__ == "__main__":
    for program in ("spin", "gcc"):
        if not shutil.which(program):
            print(f"skipped: no {program} here: apt-get install {program}")
            sys.exit(SKIPPED)
    unittest.main()
