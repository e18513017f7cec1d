"""gpuprof diff and gpuprof check: runs compared with each other and with a baseline, as a CI does it.

Three runs of each program: so few can show no change of a time, whatever the machine does meanwhile."""
import glob
import json
import os
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import support
from support import Case

RUNS = 3
REGRESSION, INCONCLUSIVE, USAGE = 80, 81, 64


class Compare(Case):

    def record(self, name, steps, *options):
        """A run of demo, which copies in, launches and copies out in each step."""
        path = os.path.join(support.BUILD, "programs", "demo")
        result = self.run_program([path, str(steps)], options=("--chrome", "none", "-q", *options), GPUPROF_OUTPUT=name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(name + ".gpuprof", self.files())
        return name + ".gpuprof"

    def runs(self, name, steps, count=RUNS):
        return [self.record(f"{name}{i}", steps) for i in range(count)]

    def baseline(self, steps=20):
        result = self.run_gpuprof("check", "--write-baseline", "base.json", *self.runs("base", steps))
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertIn(f"gpuprof: check: wrote base.json from {RUNS} runs; next: gpuprof-run --runs 7 --check base.json -- PROGRAM\n", result.stderr)
        return "base.json"

    def check(self, status, *arguments):
        result = self.run_gpuprof("check", "--baseline", "base.json", *arguments)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def findings(self, status, *arguments):
        """The report as JSON, and its findings by their metrics, but for those of kernels."""
        report = json.loads(self.check(status, "--json", "-", *arguments).stdout)
        return report, {finding["metric"]: finding for finding in report["findings"] if finding["metric"] != "kernel"}


class Check(Compare):

    def test_the_same_again_passes_and_more_fails(self):
        self.baseline()
        report, findings = self.findings(0, *self.runs("same", 20))
        self.assertIn(report["verdict"], ("pass", "inconclusive"))
        for name, finding in findings.items():
            if finding["exact"]:
                self.assertEqual((name, finding["verdict"]), (name, "pass"))
        more = self.runs("more", 21)
        report, findings = self.findings(REGRESSION, *more)
        self.assertEqual(report["verdict"], "regression")
        self.assertEqual(report["runs"], RUNS)
        worse = {name for name, finding in findings.items() if finding["verdict"] == "regression"}
        self.assertEqual(worse, {"launches", "kernels", "copies", "bytes_htod", "bytes_dtoh"})
        self.assertEqual((findings["launches"]["baseline"], findings["launches"]["now"]), (60, 63))
        # one run is enough for counts
        self.check(REGRESSION, more[0])
        self.write("thresholds", "launches 3\nkernels 5%\ncopies 10%\nbytes_htod 5%\nbytes_dtoh 1% 2MiB\nkernel /smooth/ 9%\nkernel /smoot$/ 9%\n")
        result = self.check(0, "--thresholds", "thresholds", *more)
        self.assertIn("  thresholds: no kernel of the baseline matches /smoot$/\n", result.stdout)
        self.assertNotIn("/smooth/", result.stdout)

    def test_less_never_fails(self):
        self.baseline()
        report, findings = self.findings(0, *self.runs("less", 19))
        self.assertNotEqual(report["verdict"], "regression")
        self.assertTrue(findings["launches"]["improved"])

    def test_partial_runs_are_never_compared_silently(self):
        self.baseline()
        runs = self.runs("same", 20)
        with open(self.path(runs[1]), "r+b") as trace:
            trace.truncate(os.path.getsize(self.path(runs[1])) - 40)
        result = self.check(0, *runs)
        self.assertIn("inconclusive", result.stdout.splitlines()[0])
        self.assertIn("same1.gpuprof is incomplete: ", result.stdout)
        self.check(INCONCLUSIVE, "--strict", *runs)
        result = self.check(1, runs[1])  # where nothing is compared, nobody is to take that for a pass
        self.assert_one_line(result.stderr, "all runs are incomplete")
        result = self.run_gpuprof("check", "--write-baseline", "new.json", *runs)
        self.assertEqual(result.returncode, 1)
        self.assert_one_line(result.stderr, "same1.gpuprof is incomplete", "no baseline is written")
        self.assertNotIn("new.json", self.files())

    def test_every_format_at_once(self):
        self.baseline()
        more = self.runs("more", 21)
        result = self.check(REGRESSION, "--markdown", "check.md", "--junit", "check.xml", "--json", "check.json", *more)
        self.assertTrue(result.stdout.startswith("gpuprof check: regression: 5 of "), result.stdout)
        self.assertEqual(result.stderr, "")
        os.makedirs(self.path("baseline-runs", "1"))  # kept, as the how-to says
        self.assertTrue(self.check(REGRESSION, *more).stderr.endswith(f": gpuprof diff baseline-runs/* -- {' '.join(more)}\n"))
        with open(self.path("check.md"), encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("## gpuprof check: regression\n"))
        suite = xml.etree.ElementTree.parse(self.path("check.xml")).getroot().find("testsuite")
        self.assertEqual(int(suite.get("failures")), 5)
        self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
        failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
        self.assertIn("launches", failed)
        with open(self.path("check.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["gpuprof_check"], 1)

    def test_other_devices_and_options_are_refused(self):
        with open(self.path(self.baseline()), encoding="utf-8") as file:
            baseline = json.load(file)
        run = self.record("same", 20)
        baseline["machine"]["gpus"] = "Another GPU"
        self.write("base.json", json.dumps(baseline))
        result = self.check(USAGE, run)
        self.assert_one_line(result.stderr, "another device (Another GPU; now: ", "--any-device")
        result = self.check(0, "--any-device", run)
        self.assertIn("; baseline: Another GPU", result.stdout)
        result = self.check(USAGE, "--any-device", self.record("graphs", 20, "--graphs", "graph"))
        self.assert_one_line(result.stderr, "other options", "GRAPHS=graph")
        baseline["machine"]["driver"] = "9.9"
        self.write("base.json", json.dumps(baseline))
        self.assertIn("driver for CUDA: ", self.check(0, "--any-device", run).stdout)

    def test_runs_of_several_processes_are_folders(self):
        for name, count in (("one", 1), ("two", 2)):
            for i in range(count):
                os.makedirs(self.path(name), exist_ok=True)
                shutil.move(self.path(self.record("run", 20)), self.path(name, f"{i}.gpuprof"))
        result = self.run_gpuprof("check", "-w", "base.json", "one")
        self.assertEqual(result.returncode, 0, result.stderr)
        _, findings = self.findings(REGRESSION, "two")
        self.assertEqual((findings["launches"]["baseline"], findings["launches"]["now"]), (60, 120))
        os.mkdir(self.path("none"))
        result = self.check(1, "none")
        self.assert_one_line(result.stderr, "none has no trace", "gpuprof doctor")

    def test_what_is_wrong_is_said_in_a_line(self):
        self.baseline()
        run = self.record("same", 20)
        self.write("wrong", "wall 5% 1ms\nwalls 5%\n")
        self.write("other.json", "{}")
        os.mkfifo(self.path("pipe"))
        for status, arguments, parts in (
                (USAGE, ["-b", "base.json"], ["name trace files"]),
                (USAGE, [run], ["(-b BASE)"]),
                (USAGE, ["-b", "base.json", "-w", "new.json", run], ["exclude each other"]),
                (USAGE, ["-b", "base.json", "-t", "wrong", run], ["wrong, line 2", "walls"]),
                (USAGE, ["-b", "other.json", run], ["other.json is not a baseline"]),
                (USAGE, ["-b", "missing.json", run], ["cannot read missing.json", "--write-baseline writes one"]),
                (USAGE, ["-b", "pipe", run], ["no program writes to this pipe", "--write-baseline writes one"]),
                (USAGE, ["-b", "/dev/null", run], ["/dev/null is not a baseline: it is empty"]),
                (USAGE, ["-c", "-", run], ["at least 5 runs"]),
                (1, ["-b", "base.json", "missing.gpuprof"], ["missing.gpuprof"]),
                (1, ["-b", "base.json", "--json", "folder/check.json", run], ["folder/check.json"])):
            with self.subTest(arguments=arguments):
                result = self.run_gpuprof("check", *arguments)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assert_one_line(result.stderr, *parts)

    def test_calibrated_thresholds_can_be_used(self):
        runs = self.runs("same", 20, 5)
        result = self.run_gpuprof("check", "--calibrate", "thresholds", *runs)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.run_gpuprof("check", "-w", "base.json", *runs)
        self.check(0, "-t", "thresholds", *runs)

    def type_in(self, line, *statuses):
        """What a message says to type, with the program in its place: its output."""
        command = line.split("type: ")[-1].split("next: ")[-1].replace("PROGRAM", os.path.join(support.BUILD, "programs", "demo") + " 3")
        environment = support.environment(PATH=support.BUILD + ":" + os.environ["PATH"])
        result = subprocess.run(["sh", "-c", command], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        self.assertIn(result.returncode, statuses or (0,), command + "\n" + result.stderr)
        return result.stdout + result.stderr

    def test_few_runs_for_a_baseline_are_said_with_what_makes_enough(self):
        run = self.record("one", 20)
        result = self.run_gpuprof("check", "--write-baseline", "x y.json", run)
        self.assertEqual(result.returncode, 0, result.stderr)
        wrote, few = result.stderr.splitlines()
        self.assertIn("wrote 'x y.json' from 1 run; next: ", wrote)
        self.assertIn("1 run is enough for counts and bytes, but too few to judge times: 20 are enough; type: ", few)
        self.assertIn("wrote 'x y.json' from 20 runs; next: ", self.type_in(few))
        result = self.run_gpuprof("check", "--write-baseline", "base.json", *sorted(glob.glob(self.path("baseline-runs", "*")))[:7])
        self.assert_one_line(result.stderr, "wrote base.json from 7 runs; next: ")

    def test_what_calibrating_says_to_type_can_be_typed(self):
        run = self.record("one", 20)
        result = self.run_gpuprof("check", "--calibrate", "noise.txt", run)
        self.assertEqual(result.returncode, USAGE)
        self.assert_one_line(result.stderr, "noise needs at least 5 runs; type: ")
        said = [line for line in self.type_in(result.stderr).splitlines() if "wrote noise.txt from 20 runs; next: " in line]
        self.assertIn("gpuprof check --write-baseline gpuprof-baseline.json baseline-runs/* && ", said[0])
        self.assertIn("7 runs, compared with 20 of the baseline", self.type_in(said[0], 0, REGRESSION))
        result = self.run_gpuprof("check", "--calibrate", "noise.txt", *(f"baseline-runs/{i}" for i in range(1, 6)))
        self.assertIn("wrote noise.txt from 5 runs; next: gpuprof-run --runs 7 --check gpuprof-baseline.json --thresholds noise.txt -- PROGRAM\n", result.stderr)

    def test_the_metrics_are_listed(self):
        result = self.run_gpuprof("check", "--list")
        self.assertEqual(result.returncode, 0)
        self.assertIn("\npageable_async_copies      count  ", result.stdout)
        self.assertIn("\nkernel ", result.stdout)


class Launcher(Compare):
    """gpuprof-run --runs N --check BASE -- PROGRAM"""

    def repeat(self, status, options, *arguments):
        result = self.run_program(arguments or [self.demo, "20"], options=options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def setUp(self):
        super().setUp()
        self.demo = os.path.join(support.BUILD, "programs", "demo")

    def test_runs_have_folders_of_their_own(self):
        result = self.repeat(0, ["--runs", "2"])
        self.assertEqual(result.stdout.count("launches 60\n"), 2)
        self.assertEqual(self.files(), ["gpuprof-runs"])
        self.assertEqual(result.stderr, "gpuprof: 2 runs: gpuprof-runs/1 to gpuprof-runs/2\n")
        result = self.repeat(0, ["--runs=2", "-o", self.path("gpuprof-runs"), "--chrome", "json"])
        self.assertEqual(sorted(os.listdir(self.path("gpuprof-runs"))), ["1", "2", "3", "4"])
        here = self.path("gpuprof-runs")
        self.assertEqual(result.stderr, f"gpuprof: {here} has 2 earlier runs: {here}/* includes them; the new runs begin at "
                         f"{here}/3\ngpuprof: 2 runs: {here}/3 to {here}/4\n")
        self.repeat(0, ["--runs", "1", "-o", "one"])
        self.assertEqual(os.listdir(self.path("one")), ["1"])
        for run, count in (("1", 1), ("4", 2)):
            self.assertEqual(len(os.listdir(self.path("gpuprof-runs", run))), count)

    def test_a_check_in_one_go(self):
        self.baseline()
        result = self.repeat(0, ["--runs", "3", "--check", "base.json"])
        self.assertNotIn("regression", result.stderr)
        self.assertNotIn("gpuprof", result.stdout)
        result = self.repeat(REGRESSION, ["--check", "base.json"], self.demo, "21")
        self.assertIn("gpuprof check: regression: 5 of ", result.stderr)
        self.write("thresholds", "launches 5%\nkernels 5%\ncopies 5%\nbytes_htod 5%\nbytes_dtoh 5%\n")
        self.repeat(0, ["--check", "base.json", "--thresholds", "thresholds"], self.demo, "21")
        # of one run there is no telling about times
        self.repeat(INCONCLUSIVE, ["--check", "base.json", "--strict"])
        result = self.repeat(REGRESSION, ["--check", "base.json", "-q"], self.demo, "21")
        self.assertEqual(result.stderr, "")

    def test_a_failing_program_comes_first(self):
        self.baseline()
        script = self.write("program", f'#!/bin/sh\n{self.demo} 21\nexit "$1"\n', 0o755)
        result = self.repeat(3, ["--runs", "3", "--check", "base.json"], script, "3")
        self.assertEqual(result.stderr, "gpuprof: 1 run: gpuprof-runs/1\ngpuprof: run 1 ended with exit status 3: no more runs were made, and nothing was compared\n")
        self.assertEqual(os.listdir(self.path("gpuprof-runs")), ["1"])
        result = self.repeat(-signal.SIGKILL, ["--runs", "3", "--check", "base.json"], "sh", "-c", "kill -9 $$")
        self.assertIn("run 1 was ended by signal 9: no more runs were made", result.stderr)
        self.repeat(127, ["--check", "base.json"], "no-such-program")

    def test_an_interrupted_series_ends(self):
        """Also where the program makes the best of Ctrl-C and succeeds."""
        script = self.write("program", "#!/bin/sh\ntrap 'exit 0' INT\necho ready\nwhile :; do read -r line; done <ready\n", 0o755)
        os.mkfifo(self.path("ready"))
        with subprocess.Popen([support.LAUNCHER, "--runs", "3", "--", script], cwd=self.folder, env=support.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, start_new_session=True) as launcher:
            with open(self.path("ready"), "w", encoding="utf-8"):
                self.assertEqual(launcher.stdout.readline(), "ready\n")
                os.killpg(launcher.pid, signal.SIGINT)
                _, errors = launcher.communicate(timeout=support.LIMIT_S)
        self.assertEqual(launcher.returncode, 125, errors)
        self.assertIn("gpuprof: interrupted in run 1; no more runs were made\n", errors)
        self.assertEqual(os.listdir(self.path("gpuprof-runs")), ["1"])

    def test_what_cannot_be_compared_is_said_before_it_runs(self):
        self.baseline()
        self.write("wrong", "walls 5%")
        for options in (["--check", "missing.json"], ["--check", "base.json", "--thresholds", "wrong"]):
            result = self.repeat(USAGE, options)
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(result.stderr.splitlines()), 1)
        self.repeat(125, ["--runs", "2", "-o", "%p"])
        self.repeat(125, ["--runs", "0"])
        self.repeat(125, ["--runs", "65"])
        self.assertNotIn("gpuprof-runs", self.files())

    def test_a_program_without_cuda_cannot_be_compared(self):
        self.baseline()
        result = self.repeat(125, ["--runs", "2", "--check", "base.json"], "true")
        self.assertIn("gpuprof-runs/1 has no trace", result.stderr)

    def test_a_program_that_runs_the_launcher_runs_it_once(self):
        result = self.repeat(0, ["--runs", "2"], support.LAUNCHER, "-o", "inner-%p", self.demo, "20")
        self.assertEqual(result.stdout.count("launches 60\n"), 2)
        self.assertEqual(len(self.files(".gpuprof")), 2)
        self.assertEqual(sorted(os.listdir(self.path("gpuprof-runs"))), ["1", "2"])


class Diff(Compare):

    def tables(self, *arguments):
        result = self.run_gpuprof("diff", "--format", "json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {table["report"]: table["rows"] for table in json.loads(result.stdout)}

    def test_two_runs(self):
        tables = self.tables(self.record("a", 20), self.record("b", 25))
        counts = {row["Metric"]: row for row in tables["diff-counts"]}
        self.assertEqual((counts["launches"]["A"], counts["launches"]["B"], counts["launches"]["Change"]), (60, 75, 15))
        self.assertEqual(counts["launches"]["Change %"], 25)
        kernels = tables["diff-kernels"]
        self.assertEqual([row["Is"] for row in kernels], ["changed"] * 3)
        self.assertEqual([(row["Count A"], row["Count B"]) for row in kernels], [(20, 25)] * 3)
        self.assertNotIn("launches", {row["Metric"] for row in self.tables("b.gpuprof", "b.gpuprof").get("diff-counts", [])})
        text = self.run_gpuprof("diff", "a.gpuprof", "b.gpuprof")
        self.assertTrue(text.stdout.startswith("A: a.gpuprof\nB: b.gpuprof\n\n"), text.stdout)
        self.assertRegex(text.stdout, r"(?s)\n\nOne run each: .* --runs 7 ")
        self.assertLessEqual(max(map(len, text.stdout.splitlines())), 160)
        self.assert_one_line(self.run_gpuprof("diff", "-F", "csv", "a.gpuprof", "b.gpuprof").stderr, "one run each", "--runs")
        same = self.run_gpuprof("diff", "a.gpuprof", "a.gpuprof")
        self.assertEqual(same.stderr, "")
        self.assertRegex(same.stdout, r"(?s)^A: a.gpuprof\nB: a.gpuprof\n\n.*: no change\n\nNothing differs\n$")
        self.assert_one_line(self.run_gpuprof("diff", "-F", "csv", "a.gpuprof", "a.gpuprof").stderr, "Nothing differs")

    def test_two_sets_of_runs(self):
        tables = self.tables(*self.runs("a", 20), "--", *self.runs("b", 18))
        counts = {row["Metric"]: row for row in tables["diff-counts"]}
        self.assertEqual((counts["kernels"]["Change"], counts["kernels"]["Differs"]), (-6, "yes"))
        result = self.run_gpuprof("diff", "--top", "1", "-F", "markdown", "a0.gpuprof", "--", "b0.gpuprof", "b1.gpuprof")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("### Kernels\n", result.stdout)
        self.assertIn("tests each row by itself", result.stdout)
        self.assertNotIn("One run each", result.stdout)
        self.assertIn("more rows differ less", result.stderr)

    def test_what_is_wrong_is_said_in_a_line(self):
        run = self.record("a", 2)
        for status, arguments, parts in (
                (2, [run], ["two runs"]),
                (2, [run, "--"], ["two runs"]),
                (2, [run, run, run], ["two runs"]),
                (2, ["-F", "xml", run, "--", run], ["no format xml"]),
                (2, ["-o", run, run, "--", run], ["is one of the traces"]),
                (1, [run, "missing.gpuprof"], ["missing.gpuprof"])):
            with self.subTest(arguments=arguments):
                result = self.run_gpuprof("diff", *arguments)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assert_one_line(result.stderr, *parts)


if __name__ == "__main__":
    support.main()
