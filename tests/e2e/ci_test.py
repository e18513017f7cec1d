"""The commands of docs/howto/ci.md, one after the other as a user pastes them, and those of package/ci/, do what the page says."""
import json
import os
import re
import shutil
import unittest
import xml.etree.ElementTree

import documents
import support
from support import GPU, ROOT

try:
    import yaml
except ImportError:
    yaml = None


class Ci(documents.Pasting):

    def test_each_exit_status_is_told(self):
        usage = self.run_gpuprof("check", "--help").stdout.split("Exit status:")[1]
        with open(os.path.join(ROOT, "docs", "howto", "ci.md"), encoding="utf-8") as file:
            told = re.findall(r"^\| (\d+) \| ", file.read(), re.MULTILINE)
        self.assertEqual(sorted(told), sorted(re.findall(r"(\d+) (?:pass|regression|inconclusive|wrong|if a file)", usage)))

    @unittest.skipUnless(documents.HAS_NVCC, "no nvcc")
    def test_what_is_pasted_works(self):
        _, program, baseline, gate, reports, worse = documents.blocks("howto/ci.md")  # the first one builds gpuprof
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


@unittest.skipUnless(yaml, "no PyYAML")
class Gates(documents.Pasting):
    """The commands of the action and of the template, run as GitHub and GitLab run them."""

    def setUp(self):
        super().setUp()
        self.run_program([*GPU, "launch=5"], options=["--runs", "3", "-o", "base", "-q"])
        result = self.run_gpuprof("check", "--write-baseline", "gpuprof-baseline.json", "base/1", "base/2", "base/3")
        self.assertEqual(result.returncode, 0, result.stderr)

    def definition(self, name):
        with open(os.path.join(ROOT, "package", "ci", name), encoding="utf-8") as file:
            return yaml.safe_load(file)

    def run_gate(self, script, launches, **variables):
        shutil.rmtree(self.path("gpuprof-runs"), ignore_errors=True)
        command = " ".join([*GPU, f"launch={launches}"])
        result = self.shell(script, GATE_COMMAND=command, GATE_RUNS="1", **variables)
        xml.etree.ElementTree.parse(self.path("gpuprof-runs", "check.xml"))
        return result

    def test_action(self):
        definition = self.definition("action.yml")
        (step,) = definition["runs"]["steps"]
        inputs = definition["inputs"]
        self.assertEqual(set(step["env"].values()), {"${{ inputs.%s }}" % name for name in inputs})
        variables = {f"GATE_{name.upper()}": entry.get("default") for name, entry in inputs.items() if name not in ("command", "runs")}
        for launches, status in ((5, 0), (6, 80)):
            found, output = self.run_gate(step["run"], launches, **variables, GITHUB_STEP_SUMMARY=self.path("summary.md"))
            self.assertEqual(found, status, output)
        with open(self.path("summary.md"), encoding="utf-8") as file:
            self.assertIn("regression", file.read())

    def test_template(self):
        job = self.definition("gitlab.yml")[".gpuprof-gate"]
        variables = {name: value for name, value in job["variables"].items() if name != "GATE_RUNS"}
        for launches, status in ((5, 0), (6, 80)):
            found, output = self.run_gate("\n".join(job["script"]), launches, **variables)
            self.assertEqual(found, status, output)


if __name__ == "__main__":
    support.main()
