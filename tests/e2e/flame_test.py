#!/usr/bin/env python3
"""Call stacks from the program to the formats that show them: folded, speedscope, pprof."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

from support import BUILD, ROOT, SKIPPED, Case, main, own_lines, pythons
from pprof import Profile  # in the folder that support names

PLACES = os.path.join(BUILD, "programs", "places")
CXX_PLACES = os.path.join(BUILD, "programs", "places++")
LIBRARY = os.path.join(BUILD, "programs", "libplaces.so")
PYTHON = [sys.executable, os.path.join(ROOT, "tests", "programs", "places.py"), LIBRARY]

WAYS = [os.path.join(ROOT, "tests", "programs", "ways.py"), os.path.join(ROOT, "tests", "e2e", "gpu.py")]
LAUNCHES = {  # of that program's own functions, and how many
    ("recurse",): 1, ("recurse", "recurse"): 1, ("recurse", "recurse", "recurse"): 1,
    ("delegate", "batches"): 3,
    ("serve", "fetch"): 2, ("fetch",): 4,  # a task of its own has no caller
    ("__init__", "__call__"): 1, ("loss",): 1, ("callbacks", "<lambda>"): 4, ("callbacks", "<module>", "made"): 1,
}

MAIN = ("main", "run_places")
DESCEND = ("descend",) * 101
GPU_TIME = {  # kernels by what launched them, and how many
    (*MAIN, "forward", "launch", "cuLaunchKernel", "step_kernel"): 6,
    (*MAIN, "backward", "launch", "cuLaunchKernel", "step_kernel"): 3,
    (*MAIN, "record_graph", "launch", "cuLaunchKernel", "step_kernel"): 5,
    (*MAIN, *DESCEND, "launch", "cuLaunchKernel", "step_kernel"): 2,
    (*MAIN, "borrow", "cuMemsetD8_v2", "Memset (Device)"): 1,
}


def known(stack):
    """The functions from the program's own on."""
    names = list(stack)
    return tuple(names[names.index("main"):]) if "main" in names else tuple(names)


class FlameTest(Case):
    def record(self, program=(PLACES,), stacks="all", **variables):
        done = self.run_program(list(program), options=("-o", "out", "--chrome", "none", f"--stacks={stacks}"),
                                **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("out.gpuprof")

    def export(self, trace, form, *options):
        done = self.run_gpuprof("export", "--format", form, "-o", self.path("exported"), *options, trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.path("exported"), own_lines(done.stderr)

    def folded(self, trace, *options):
        """{stack: value}; every line is as flamegraph.pl wants it."""
        path, said = self.export(trace, "folded", *options)
        stacks = {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                found = re.match(r"^(\S.*) (\d+)\n$", line)
                self.assertTrue(found, line)
                stack = tuple(found.group(1).split(";"))
                self.assertNotIn(stack, stacks)
                self.assertTrue(all(stack), line)
                stacks[stack] = int(found.group(2))
        return stacks, said

    def by_known(self, stacks):
        return {known(stack): value for stack, value in stacks.items()}

    def test_gpu_operations_by_launching_stack(self):
        stacks, said = self.folded(self.record(), "--value", "operations")
        self.assertEqual(self.by_known(stacks), GPU_TIME)
        self.assertFalse([line for line in said if "/libc.so.6" not in line])  # which may have no symbols

    def test_memory_by_allocating_stack(self):
        trace = self.record(stacks="alloc")
        for value, wanted in (("leaked-bytes", {"leak": 4096}), ("peak-bytes", {"leak": 4096, "borrow": 1 << 20}),
                              ("allocated-bytes", {"leak": 4096, "borrow": 1 << 20}),
                              ("allocations", {"leak": 1, "borrow": 1})):
            stacks = self.by_known(self.folded(trace, "--value", value)[0])
            self.assertEqual(stacks, {(*MAIN, function, "cuMemAlloc_v2"): number
                                      for function, number in wanted.items()}, value)

    def test_each_way_of_pythons_to_call(self):
        """In every interpreter; before 3.11 functions have no classes in their names."""
        for python in pythons() or [sys.executable]:
            with self.subTest(python=python):
                stacks, _ = self.folded(self.record([python, *WAYS]), "--value", "operations")
                found = collections.Counter()
                for stack, count in stacks.items():
                    own = [re.sub(r" \(.*", "", name).split(".")[-1] for name in stack if name.endswith(("(ways.py)", "(<string>)"))]
                    self.assertEqual(own[-1:], ["launch"], f"{stack}, of {stacks}")
                    own.pop()
                    found[tuple(own)] += count
                wanted = {("<module>", "main", *names): count for names, count in LAUNCHES.items()}
                wanted["work",] = 1  # in a thread
                self.assertEqual(found, wanted)

    def test_equal_stacks_of_several_processes_are_one(self):
        traces = [shutil.move(self.record(), self.path(f"rank{i}.gpuprof")) for i in range(2)]
        done = self.run_gpuprof("merge", "--format", "folded", "--value", "operations", "-o", "-", *traces)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        stacks = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
        self.assertEqual({known(stack.split(";")): int(count) for stack, count in stacks.items()},
                         {stack: 2 * count for stack, count in GPU_TIME.items()})
        self.assert_one_line(self.run_gpuprof("merge", "-F", "folded", "-l", "5", "-o", "x", *traces).stderr,
                             "does not support --limit")
        self.assert_one_line(self.run_gpuprof("export", *traces).stderr, "gpuprof merge")

    def test_missing_stacks_are_said(self):
        trace = self.record(stacks="alloc")
        stacks, said = self.folded(trace)
        self.assertTrue(stacks)
        self.assertEqual({stack[0] for stack in stacks}, {"(no call stack)"})
        self.assertEqual(len(said), 1, said)
        self.assertIn("--stacks=all", said[0])

    def test_programs_without_symbols_and_programs_that_are_gone(self):
        for name in ("stripped", "gone"):
            with self.subTest(name):
                program = shutil.copy(PLACES, self.path(name))
                subprocess.run(["strip", program], check=True)
                trace = self.record((program,))
                if name == "gone":
                    os.remove(program)
                stacks, said = self.folded(trace, "--value", "operations")
                self.assertEqual(sorted(stacks.values()), sorted(GPU_TIME.values()))
                for stack in stacks:
                    self.assertTrue(any(re.match(name + r"\+0x[0-9a-f]+$", each) for each in stack), stack)
                # what had no name when the trace was finished is no news where the program is gone
                self.assertEqual(len(said), 1 if name == "stripped" else 0, said)
                self.assertTrue(all(name in line for line in said), said)
                os.remove(trace)

    def test_programs_without_debug_information_have_names(self):
        program = shutil.copy(PLACES, self.path("plain"))
        subprocess.run(["strip", "--strip-debug", program], check=True)
        stacks, said = self.folded(self.record((program,)), "--value", "operations")
        self.assertEqual((self.by_known(stacks), said), (GPU_TIME, []))

    def test_another_build_in_the_programs_place(self):
        program = shutil.copy(PLACES, self.path("places"))
        trace = self.record((program,))
        shutil.copy(CXX_PLACES, program)
        stacks, said = self.folded(trace, "--value", "operations")
        self.assertEqual((self.by_known(stacks), said), (GPU_TIME, []))  # the names went into the trace in time

    def test_python_and_native_functions_in_one_stack(self):
        trace = self.record(PYTHON)
        stacks, _ = self.folded(trace, "--value", "operations")
        python = ("train (places.py)", "batches (places.py)", "Model.step (places.py)")
        for stack in stacks:
            at = stack.index(python[0])
            self.assertEqual(stack[at - 1], "<module> (places.py)")
            self.assertEqual(stack[at:at + 3], python)
            self.assertIn("run_places", stack[at + 3:])
        leaked, _ = self.folded(trace, "--value", "leaked-bytes")
        self.assertEqual({stack[stack.index(python[0]) + 1]: value for stack, value in leaked.items()},
                         {"batches (places.py)": 4096, "Model.allocate (places.py)": 2048})

    def test_functions_of_cxx_are_demangled_and_inlined_ones_are_there(self):
        stacks = self.by_known(self.folded(self.record((CXX_PLACES,)), "--value", "operations")[0])
        step = [stack for stack in stacks if "net::Model::step" in stack]
        fail = [stack for stack in stacks if "net::Model::fail" in stack]
        self.assertEqual((len(step), len(fail), len(stacks)), (1, 1, 2), stacks)
        self.assertEqual((stacks[step[0]], stacks[fail[0]]), (12, 1))
        self.assertEqual(step[0][:3], ("main", "net::Model::step", "net::Layer<double>::forward"))
        self.assertTrue([name for name in step[0] if name.startswith("net::Layer<double>::run<")], step)

    def test_what_the_compiler_makes_to_launch_a_kernel_is_no_caller(self):
        for program, kernels in (("launch", {"k_empty", "k_arguments", "k_shared"}), ("demo", {"add<float>", "scale<float>", "smooth"})):
            stacks, _ = self.folded(self.record((os.path.join(BUILD, "programs", program),), stacks="launch"), "--value", "operations")
            seen = {(stack[-3], stack[-1]) for stack in stacks if stack[-2] == "cudaLaunchKernel"}
            self.assertEqual(seen, {("main", kernel) for kernel in kernels})
            os.unlink(self.path("out.gpuprof"))

    def test_speedscope(self):
        trace = self.record()
        with open(self.export(trace, "speedscope")[0], encoding="utf-8") as file:
            whole = json.load(file)
        self.assertEqual(whole["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames = [frame["name"] for frame in whole["shared"]["frames"]]
        self.assertEqual(len(whole["profiles"]), 8)
        for profile in whole["profiles"]:
            self.assertEqual(profile["type"], "sampled")
            self.assertIn(profile["unit"], ("nanoseconds", "bytes", "none"))
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            self.assertEqual(sum(profile["weights"]), profile["endValue"] - profile["startValue"])
        operations = whole["profiles"][1]
        self.assertEqual({known([frames[i] for i in sample]): weight
                          for sample, weight in zip(operations["samples"], operations["weights"])}, GPU_TIME)
        self.assertEqual(whole["activeProfileIndex"], 0)
        with open(self.export(trace, "speedscope", "--value", "leaked-bytes")[0], encoding="utf-8") as file:
            one = json.load(file)
        self.assertEqual([(profile["unit"], profile["endValue"]) for profile in one["profiles"]], [("bytes", 4096)])
        self.assertEqual(one["activeProfileIndex"], 0)

    def test_speedscope_shows_what_has_stacks(self):
        path, said = self.export(self.record(stacks="alloc"), "speedscope")
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        shown = whole["profiles"][whole["activeProfileIndex"]]
        self.assertEqual(shown["name"], "time in CUDA calls by stack")
        self.assertIn("--stacks=all", said[0])

    def test_pprof(self):
        trace = self.record()
        profile = Profile(self.export(trace, "pprof", "--value", "peak-bytes")[0])
        self.assertEqual(profile.types[:2], [("gpu-time", "nanoseconds"), ("operations", "count")])
        self.assertEqual(profile.default, "peak-bytes")
        self.assertGreater(profile.all["duration_nanos"][0], 0)
        operations = {}
        for places, values in profile.samples:
            stack = known([function for function, _, _ in places])
            operations[stack] = operations.get(stack, 0) + values[1]
        self.assertEqual({stack: count for stack, count in operations.items() if count}, GPU_TIME)
        lines = {(os.path.basename(path), line) for places, _ in profile.samples for function, path, line in places
                 if function == "run_places"}
        with open(os.path.join(ROOT, "tests", "programs", "places.c"), encoding="utf-8") as file:
            source = file.read().splitlines()
        called = {source[line - 1].strip() for path, line in lines if path == "places.c"}
        self.assertLessEqual({"leak(4096);", "forward();", "backward();", "replay(5);"}, called)

    def test_readers_of_others(self):
        trace = self.record()
        go = shutil.which("go")
        if not go:
            self.skipTest("no go")
        path = self.export(trace, "pprof")[0]
        done = subprocess.run([go, "tool", "pprof", "-top", "-sample_index=operations", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ *16 .*step_kernel$")

    def test_chrome_trace(self):
        with open(self.export(self.record(PYTHON), "chrome")[0], encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        kernels = [event["args"] for event in events if event.get("cat") == "kernel"]
        captured = [args["captured stack"] for args in kernels if "captured stack" in args]
        stacks = [event["args"]["stack"] for event in events if event.get("name") == "cuLaunchKernel"]
        self.assertEqual(collections.Counter(args.get("launched by", "").split(" ")[0] for args in kernels),
                         {"launch": 11, "": 5})
        self.assertEqual(len(captured), 5)
        self.assertEqual(collections.Counter(re.match(r"launch \(places.c:\d+\) < (\w+)", stack).group(1)
                                             for stack in stacks + captured),
                         {"forward": 6, "backward": 3, "record_graph": 1 + 5, "descend": 2})
        for stack in captured:
            self.assertRegex(stack, r"run_places \(places.c:\d+\) < Model.step \(places.py:\d+\) < batches .* < train ")

    def test_tree_in_the_terminal(self):
        trace = self.record()
        done = self.run_gpuprof("summary", "--by", "stack,stack-api", trace)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        tree, api = done.stdout.split("\n\n")
        rows = [re.match(r" +(<?[0-9.]+) +\S+ +([0-9,]+)  ( *)(\S.*)$", line).groups() for line in tree.splitlines()[2:]]
        self.assertEqual((rows[0][0], rows[0][1]), ("100.0", "17"))
        below = [(count, text) for _, count, indent, text in rows[1:] if indent == "  "]
        for count, function in ((6, "forward"), (3, "backward"), (5, "record_graph"), (2, "descend"), (1, "borrow")):
            self.assertEqual([text for number, text in below if int(number) == count and f"{function} (places.c:" in text],
                             [text for number, text in below if int(number) == count], tree)
        self.assertEqual(len(below), 5, tree)
        self.assertIn("cuCtxCreate_v2", api)

    def test_tree_of_callers(self):
        done = self.run_gpuprof("summary", "--by", "caller", self.record())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = done.stdout.splitlines()[2:]
        self.assertRegex(rows[0], r" 16  step_kernel < cuLaunchKernel < .*launch \(places.c:\d+\)$")
        self.assertEqual([re.search(r"  (\d+)    (\w+) \(places.c", row).groups() for row in rows[1:5]],
                         [("6", "forward"), ("5", "record_graph"), ("3", "backward"), ("2", "descend")])
        self.assertRegex(rows[5], r" 1  Memset \(Device\) < cuMemsetD8_v2 < borrow ")

    def test_tree_without_stacks(self):
        done = self.run_gpuprof("summary", "--by", "stack", self.record(stacks="none"))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assert_one_line(done.stderr, "--stacks=all")

    def test_wrong_options(self):
        trace = self.record()
        for options, said in ((("--format", "folded", "--limit", "5"), "does not support --limit"),
                              (("--format", "chrome", "--value", "calls"), "does not support --value"),
                              (("--format", "folded", "--value", "time"), "there is no value time")):
            done = self.run_gpuprof("export", *options, trace)
            self.assertEqual(done.returncode, 2)
            self.assert_one_line(done.stderr, said)
        done = self.run_gpuprof("summary", "--by", "stack", "--sort", "Total", trace)
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "leave out --sort")


if __name__ == "__main__":
    if not os.path.exists(PLACES):
        print("skipped: make programs")
        sys.exit(SKIPPED)
    main()
