"""docs/howto/ci.md does what it says: its commands, one after the other, as somebody pastes them."""
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import support
from support import ROOT, Case

CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
LIMIT_S = 300


def blocks():
    with open(os.path.join(ROOT, "docs", "howto", "ci.md"), encoding="utf-8") as file:
        found = re.findall(r"^```sh\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
    return [block for block in found if "make -C gpuprof" not in block]  # built already


class Ci(Case):

    def paste(self, text, status=0):
        path = os.pathsep.join((support.BUILD, os.path.join(CUDA, "bin"), os.environ["PATH"]))
        done = subprocess.run(["bash", "-e", "-c", text], cwd=self.folder, env=support.environment(PATH=path, GPUPROF_QUIET=None),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, status, text + done.stdout)
        return done.stdout

    def test_each_exit_status_is_told(self):
        usage = self.run_gpuprof("check", "--help").stdout.split("Exit status:")[1]
        with open(os.path.join(ROOT, "docs", "howto", "ci.md"), encoding="utf-8") as file:
            told = re.findall(r"^\| (\d+) \| ", file.read(), re.MULTILINE)
        self.assertEqual(sorted(told), sorted(re.findall(r"(\d+) (?:pass|regression|inconclusive|wrong|if a file)", usage)))

    @unittest.skipUnless(shutil.which("nvcc", path=os.path.join(CUDA, "bin")), "no nvcc")
    def test_what_is_pasted_works(self):
        program, baseline, gate, reports, worse = blocks()
        self.paste(program)
        self.paste(baseline)
        self.assertEqual(len(os.listdir(self.path("baseline-runs"))), 20)
        with open(self.path("gpuprof-baseline.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["metrics"]["launches"], [100] * 20)
        self.assertRegex(self.paste(gate), "gpuprof check: pass: .*; switched off by the thresholds: wall, step_time\n")
        self.paste(reports)
        with open(self.path("check.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["verdict"], "pass")
        self.assertEqual(xml.etree.ElementTree.parse(self.path("check.xml")).getroot().find("testsuite").get("failures"), "0")
        output = self.paste(worse)
        self.assertIn("gpuprof check: regression: ", output)
        self.assertIn("exit status 80", output)
        self.assertRegex(output, r"changed +100 +102 .* scale")


if __name__ == "__main__":
    support.main()
