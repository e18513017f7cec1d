#!/usr/bin/env python3
"""Call stacks of a program's API calls, from the option to the trace."""
import os
import subprocess
import sys
import unittest

from support import BUILD, ROOT, Case

ZOO = os.path.join(BUILD, "programs", "zoo")
FAIL = os.path.join(BUILD, "programs", "fail")
DEMO = os.path.join(BUILD, "programs", "demo")
JIT = os.path.join(ROOT, "tests", "programs", "jit.py")
DUMP = os.path.join(BUILD, "tests", "stacks", "dump")
MALLOC, FREE, LAUNCH, SYNCHRONIZE, STREAM_SYNCHRONIZE = 20, 22, 211, 165, 131  # cbids of the runtime API


class StacksTest(Case):
    def record(self, *options, program=(ZOO,)):
        """The calls [(api, stack, error)], frames {id: (parent, kind, origin)}, module paths {id: path}."""
        done = self.run_program(list(program), options=("-o", "out", "--chrome", "none", *options))
        self.assertEqual((done.returncode, self.files()), (0, ["out.gpuprof"]), done.stderr)
        calls, frames, paths = [], {}, {}
        out = subprocess.run([DUMP, os.path.join(self.folder, "out.gpuprof")], stdout=subprocess.PIPE, check=True,
                             universal_newlines=True).stdout
        for line in out.splitlines():
            word, *rest = line.split(" ")
            if word == "call":
                calls.append(tuple(map(int, rest)))
            elif word == "frame":
                frames[int(rest[0])] = int(rest[1]), int(rest[2]), int(rest[3])
            elif word == "path":
                paths[int(rest[0])] = os.path.basename(rest[1])
        return calls, frames, paths

    def modules(self, stack, frames, paths):
        """Names of the modules of a stack's frames, innermost first."""
        names = []
        while stack:
            stack, _kind, origin = frames[stack]
            names.append(paths[origin])
        return names

    def test_all_calls(self):
        calls, frames, paths = self.record("--stacks=all")
        self.assertGreater(len(calls), 50)
        for api, stack, _error in calls:
            names = self.modules(stack, frames, paths)
            self.assertIn("zoo", names, api)
            self.assertEqual(names[-1], "zoo", api)  # _start
            self.assertNotIn("libgpuprof.so", names)
            self.assertFalse([name for name in names if name.startswith("libcupti")])
            self.assertFalse(names[0].startswith(("libcudart", "libcuda.so")), names)

    def test_by_class(self):
        for word, taken in (("alloc", (MALLOC, FREE)), ("launch", (LAUNCH,)), ("sync", (SYNCHRONIZE,)),
                            ("none", ()), ("sync,launch", (SYNCHRONIZE, LAUNCH))):
            with self.subTest(word):
                for name in os.listdir(self.folder):
                    os.remove(os.path.join(self.folder, name))
                calls = self.record(f"--stacks={word}")[0]
                for api in (MALLOC, FREE, LAUNCH, SYNCHRONIZE):
                    stacks = [stack != 0 for number, stack, error in calls if number == api and error == 0]
                    self.assertTrue(stacks)
                    self.assertEqual(set(stacks), {api in taken}, api)

    def test_sample(self):
        """Some launches and waits have a stack, the first ones too, and no other call."""
        calls, frames, paths = self.record("--stacks=sample", program=[DEMO, "5000"])
        launches = [stack for api, stack, _error in calls if api == LAUNCH]
        sampled = [stack for stack in launches if stack]
        self.assertTrue(launches[0])
        self.assertTrue(3 <= len(sampled) < len(launches) // 2, len(sampled))
        self.assertTrue(all("demo" in self.modules(stack, frames, paths) for stack in sampled))
        self.assertEqual({stack for api, stack, _error in calls if api in (MALLOC, FREE)}, {0})
        self.assertTrue(next(stack for api, stack, _error in calls if api in (SYNCHRONIZE, STREAM_SYNCHRONIZE)))

    def test_calls_that_fail_have_one(self):
        """Whatever is asked for, unless that is none; those that do not fail have none for that."""
        calls, frames, paths = self.record("--stacks=sync", program=[FAIL])
        launches = [(stack, error) for api, stack, error in calls if api == LAUNCH]
        self.assertEqual([(stack != 0, error != 0) for stack, error in launches], 3 * [(True, True)] + [(False, False)])
        for stack, _error in launches[:3]:
            self.assertIn("fail", self.modules(stack, frames, paths))
        os.remove(os.path.join(self.folder, "out.gpuprof"))
        self.assertEqual({stack for _api, stack, _error in self.record("--stacks=none", program=[FAIL])[0]}, {0})

    def test_one_place_has_one_stack(self):
        calls, _, _ = self.record("--stacks=all")
        self.assertLess(len({stack for _api, stack, _error in calls}), len(calls))

    def allocating_stacks(self, word):
        """Folded stacks of a program that allocates through code made at run time."""
        done = self.run_program([sys.executable, JIT, word], options=("-o", word, "--chrome", "none"))
        self.assertEqual(done.returncode, 0, done.stderr)
        perf_map = next(line for line in done.stdout.splitlines() if line.startswith("/tmp/perf-"))
        if os.path.exists(perf_map):
            os.remove(perf_map)  # the trace has its names
        done = self.run_gpuprof("export", "--format", "folded", "--value", "allocations", "-o", "-",
                                self.path(word + ".gpuprof"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.rsplit(" ", 1)[0].split(";") for line in done.stdout.splitlines()]

    def test_code_made_at_run_time(self):
        for word, name in (("named", "made_at_run_time"), ("unnamed", "(code in no file)")):
            with self.subTest(word):
                stacks = self.allocating_stacks(word)
                self.assertEqual(len(stacks), 1, stacks)
                self.assertIn(name, stacks[0])
                self.assertLess(stacks[0].index("allocate (jit.py)"), stacks[0].index(name))
                self.assertEqual(stacks[0][0], "(callers unknown: code without unwind information)")


if __name__ == "__main__":
    unittest.main()
