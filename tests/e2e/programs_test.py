#!/usr/bin/env python3
"""The sample programs on the simulated device: output and exit status as without gpuprof, and a trace that says what they did."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "lib"))
import facts  # noqa: E402
import support  # noqa: E402

PROGRAMS = os.path.join(support.BUILD, "programs")


class Programs(support.Case):
    def check(self, name):
        command = [os.path.join(PROGRAMS, name)]
        if name.endswith(".py"):
            command = [sys.executable, os.path.join(support.ROOT, "tests", "programs", name)]
        plain = self.run_program(command, way=support.PLAIN)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        for way in (support.BARE, support.LAUNCHED):
            with self.subTest(way=way):
                profiled = self.run_program(command, way=way)
                self.assertEqual((profiled.returncode, profiled.stdout), (0, plain.stdout), profiled.stderr)
                chrome_trace = self.path(self.files(".json")[-1])
                self.assertEqual(facts.differences(facts.Facts(chrome_trace), plain.stdout), [])

    def test_launch(self):
        self.check("launch")

    def test_copies(self):
        self.check("copies")

    def test_allocs(self):
        self.check("allocs")

    def test_streams(self):
        self.check("streams")

    def test_overlap(self):
        self.check("overlap")

    def test_graph(self):
        self.check("graph")

    def test_driver(self):
        self.check("driver")

    def test_fail(self):
        self.check("fail")

    def test_python(self):
        self.check("sim.py")


if __name__ == "__main__":
    support.main()
