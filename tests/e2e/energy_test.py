"""--energy: samples of the simulated device's power, which is known, and the messages if there are none."""
import csv
import json
import os
import subprocess
import sys
import time
import unittest

import support
from page import Page
from support import BARE, Case

CUBIN = os.path.join(support.BUILD, "programs", "waits.cubin")
WATTS = 300
POWER_CAP, POWER_BRAKE = 0x4, 0x80
STEPS = 40
# Steps of a copy and two kernels.
WORK = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, module, chase, roots, memory = (ctypes.c_void_p() for _ in range(5))
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), open(sys.argv[1], "rb").read())
cuda.cuModuleGetFunction(ctypes.byref(chase), module, b"_Z5chasePKjPji")
cuda.cuModuleGetFunction(ctypes.byref(roots), module, b"_Z5rootsPdi")
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))
for i in range(int(sys.argv[2])):
    cuda.cuMemcpyHtoD_v2(memory, bytes(4096), ctypes.c_size_t(4096))
    for kernel in (chase, roots):
        cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None)
    cuda.cuCtxSynchronize()
print("end")
"""
SLOW = {"GPUSIM_KERNEL_NS": "10000000"}


class Energy(Case):
    def record(self, *options, way=support.LAUNCHED, steps=STEPS, name="t", **variables):
        result = self.run_program([sys.executable, "-c", WORK, CUBIN, str(steps)], way=way,
                                  options=("-o", self.path(name), *options), **{"GPUPROF_OUTPUT": self.path(name), **SLOW, **variables})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "end\n")
        return result

    def sections(self, name="t"):
        reports = json.loads(self.run_gpuprof("summary", "-F", "json", self.path(name + ".gpuprof")).stdout)
        return next(report for report in reports if report["report"] == "summary")

    def tables(self):
        found = self.run_gpuprof("summary", "--by", "energy", "-F", "json", self.path("t.gpuprof")).stdout
        return {table["report"]: table["rows"] for table in json.loads(found)}

    def assert_energy(self, gpu):
        """The power does not change, so all is known."""
        self.assertAlmostEqual(gpu["watts"], WATTS, delta=0.05 * WATTS)
        self.assertEqual(gpu["highest_watts"], WATTS)
        self.assertAlmostEqual(gpu["joules"], WATTS * gpu["covered_ns"] / 1e9, delta=0.05 * gpu["joules"])

    def test_energy_of_steps_and_lowered_clocks(self):
        self.record("--energy", "--html", GPUSIM_CLOCK_REASONS=POWER_CAP | POWER_BRAKE | 1)
        summary = self.sections()
        gpu, = summary["energy"]
        self.assert_energy(gpu)
        self.assertFalse(gpu["is_from_power"])
        self.assertEqual(gpu["clock_mhz"], 1500)
        self.assertEqual(gpu["lowered_ns"], gpu["covered_ns"])
        self.assertEqual({row["id"]: row["time_ns"] for row in summary["clock_reasons"]},
                         dict.fromkeys(("power-cap", "power-brake"), gpu["covered_ns"]))
        step_s = summary["steps"][0]["mean_ns"] / 1e9
        self.assertGreaterEqual(gpu["steps"], STEPS - 5)
        self.assertAlmostEqual(gpu["step_joules"], WATTS * step_s, delta=0.1 * WATTS * step_s)
        tables = self.tables()
        self.assertAlmostEqual(tables["energy-device"][0]["Per step"], gpu["step_joules"], places=2)
        self.assertEqual({row["Reason"] for row in tables["energy-clock"]}, {"power cap", "power brake of the system"})
        self.assertEqual({row["Name"] for row in tables["energy-kernel"]}, {"chase", "roots", "[memcpy HtoD pageable]"})
        with open(self.path("t.json"), encoding="utf-8") as file:
            counters = [event for event in json.load(file)["traceEvents"] if event["ph"] == "C"]
        self.assertEqual({event["args"]["W"] for event in counters if event["name"] == "GPU 0 power"}, {WATTS})
        energies = [event["args"]["J"] for event in counters if event["name"] == "GPU 0 energy"]
        self.assertEqual(energies, sorted(energies))
        self.assertAlmostEqual(energies[-1], gpu["joules"], places=2)
        told = json.loads(self.run_gpuprof("advice", "-F", "json", self.path("t.gpuprof")).stdout)
        self.assertIn("lowered-clocks", [finding["rule"] for finding in told["findings"]])
        curves = {curve["name"]: curve["unit"] for curve in Page(self.path("t.html")).json("courses")["curves"]}
        self.assertEqual(curves, {"power": "W", "energy": "J", "SM clock": "MHz", "clocks lowered": "%"})

    def test_exports_have_the_samples(self):
        self.record("--energy=20ms", GPUSIM_CLOCK_REASONS=POWER_CAP | POWER_BRAKE)
        gpu, = self.sections()["energy"]
        self.run_gpuprof("export", "-F", "csv", "-o", self.path("t.csv"), self.path("t.gpuprof"))
        with open(self.path("t.csv"), encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "energy sample"]
        self.assertEqual({(row["name"], row["power_mw"], row["clock_mhz"], row["device"]) for row in rows},
                         {("power-cap power-brake", str(1000 * WATTS), "1500", "0")})
        energies = [int(row["energy_mj"]) for row in rows]
        self.assertAlmostEqual((energies[-1] - energies[0]) / 1e3, gpu["joules"], places=2)
        metrics = self.run_gpuprof("export", "-F", "openmetrics", "-o", "-", self.path("t.gpuprof")).stdout
        values = {line.split("{")[0]: float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("gpuprof_")}
        self.assertAlmostEqual(values["gpuprof_energy_joules_total"], gpu["joules"], places=2)
        self.assertAlmostEqual(values["gpuprof_step_energy_joules"], gpu["step_joules"], places=2)
        self.assertAlmostEqual(values["gpuprof_clocks_lowered_seconds_total"], gpu["covered_ns"] / 1e9, places=6)

    def test_runs_are_compared_by_their_energy(self):
        steps = []
        for name, variables in (("a", {}), ("b", {"GPUSIM_POWER_MW": 2000 * WATTS, "GPUSIM_CLOCK_REASONS": POWER_CAP})):
            self.record("--energy=20ms", name=name, **variables)
            steps.append(self.sections(name)["energy"][0])
        a, b = self.path("a.gpuprof"), self.path("b.gpuprof")
        done = self.run_gpuprof("diff", "-F", "json", a, b)
        tables = {table["report"]: {row["Metric"]: row for row in table["rows"]}
                  for table in json.loads(done.stdout) if table["report"] in ("diff-energy", "diff-clocks")}
        step = tables["diff-energy"]["step_energy"]
        for side, gpu in zip("AB", steps):
            self.assertAlmostEqual(step[side], gpu["step_joules"], places=2)
            self.assertAlmostEqual(tables["diff-energy"]["step_energy_error"][side], gpu["step_error_joules"], places=2)
        self.assertEqual((tables["diff-clocks"]["clocks_lowered"]["A"], tables["diff-clocks"]["clocks_lowered"]["B"]), (0, 100))
        self.assertIn("clocks lowered: A: 0.0 % of the time; B: 100.0 %", done.stderr)
        self.assertEqual(self.run_gpuprof("check", "-w", self.path("base.json"), a).returncode, 0)
        found = json.loads(self.run_gpuprof("check", "-b", self.path("base.json"), "--json", "-", b).stdout)
        finding, = (finding for finding in found["findings"] if finding["metric"] == "step_energy")
        self.assertEqual(finding["unit"], "J")
        self.assertAlmostEqual(finding["now"], steps[1]["step_joules"], places=2)
        self.assertAlmostEqual(finding["baseline"], steps[0]["step_joules"], places=2)
        self.assertGreaterEqual(finding["tolerated"], 0.999 * sum(gpu["step_error_joules"] for gpu in steps))
        self.assertTrue(any(note.startswith("clocks lowered: 100.0 % of the time; baseline: 0.0 %") for note in found["notes"]))

    def test_a_gpu_that_does_not_count_its_energy(self):
        self.record("--energy=20ms", GPUSIM_FAULT="no-energy")
        gpu, = self.sections()["energy"]
        self.assert_energy(gpu)
        self.assertTrue(gpu["is_from_power"])
        self.assertEqual(gpu["lowered_ns"], 0)

    def test_a_process_that_outlives_the_program(self):
        """The launcher waits for it, and not for its own process."""
        child = f"{sys.executable} -c '{WORK}' {CUBIN} {STEPS}"
        result = self.run_program(["sh", "-c", child + " & sleep 0.2"], options=("-o", self.path("t"), "--energy", "--wait=all"), **SLOW)
        self.assertEqual((result.returncode, result.stdout), (0, "end\n"), result.stderr)
        gpu, = self.sections()["energy"]
        self.assert_energy(gpu)
        self.assertGreater(gpu["covered_ns"], 2e8)

    def test_a_program_that_ends_before_the_second_sample(self):
        result = self.record("--energy=10000ms", steps=1)
        self.assertIn("\nEnergy: unknown", result.stderr)
        self.assertNotIn("energy", self.sections())

    def test_nothing_without_the_option(self):
        self.record(steps=2)
        self.assertNotIn("energy", self.sections())

    def test_why_there_is_none(self):
        for fault, reason in (("nvml-missing", "NVML cannot be initialized"), ("nvml-hangs", "does not answer")):
            with self.subTest(fault):
                result = self.record("--energy", "-s", "none", GPUSIM_FAULT=fault, steps=30)
                lines = [line for line in result.stderr.splitlines() if "--energy" in line]
                self.assert_one_line("\n".join(lines), reason)
                self.assertNotIn("energy", self.sections())

    def test_the_launcher_is_needed(self):
        result = self.record(way=BARE, GPUPROF_ENERGY="on", GPUPROF_SUMMARY="none", steps=10)
        lines = [line for line in result.stderr.splitlines() if "--energy" in line]
        self.assert_one_line("\n".join(lines), "gpuprof-run")

    def test_a_program_without_gpu(self):
        result = self.run_program(["true"], options=("--energy",), GPUSIM_FAULT="nvml-hangs")
        self.assertEqual(result.returncode, 0)
        self.assertNotIn("--energy", result.stderr)

    def test_a_killed_launcher_leaves_no_process(self):
        variables = support.environment(GPUSIM_FAULT="nvml-hangs", **SLOW)
        run = subprocess.Popen([support.LAUNCHER, "--energy", sys.executable, "-c", WORK, CUBIN, "1000"], env=variables, cwd=self.folder,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while "energy" not in self.names_of_children(run.pid):
            time.sleep(0.01)
        sampler = self.names_of_children(run.pid)["energy"]
        run.kill()
        run.wait()
        while os.path.exists(f"/proc/{sampler}/exe"):
            time.sleep(0.01)

    def names_of_children(self, pid):
        found = {}
        for folder in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{folder}/stat", encoding="utf-8") as file:
                    _, name, _, parent = file.read().split()[:4]
            except (OSError, ValueError):
                continue
            if parent == str(pid):
                found[name.strip("()")] = folder
        return found

    def test_an_interval_out_of_bounds(self):
        result = self.run_program(["true"], options=("--energy=5ms",))
        self.assertEqual(result.returncode, 125)
        self.assert_one_line(result.stderr, "--energy", "10000us to 10000ms, such as 100ms", "5ms")


if __name__ == "__main__":
    unittest.main()
