#!/usr/bin/env python3
"""gpuprof summary --memory: known leaks, peaks, temporary blocks and waits, with the very lines that allocated."""
import json
import os
import pickle
import sys
import unittest

import support
from support import HERE, ROOT, Case

LEAKS = os.path.join(support.BUILD, "programs", "leaks")
SOURCE = os.path.join(ROOT, "tests", "programs", "leaks.cu")
SCRIPT = os.path.join(HERE, "leaks.py")
MIB = 1 << 20


def line_of(path, comment):
    with open(path, encoding="utf-8") as file:
        lines = [number for number, text in enumerate(file, 1)
                 if text.rstrip().endswith((f"/* {comment} */", f"# {comment}"))]
    assert len(lines) == 1, (comment, lines)
    return lines[0]


def place(function, comment, path=SOURCE):
    return f"{function} ({os.path.basename(path)}:{line_of(path, comment)})"


class MemoryTest(Case):
    def record(self, arguments, *options, **variables):
        done = self.run_program(arguments, options=("-o", "out", "--chrome", "none", *options), **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def tables(self, *arguments):
        done = self.run_gpuprof("summary", *arguments, "--format", "json", "out.gpuprof")
        self.assertEqual(done.returncode, 0, done.stderr)
        return {table["report"]: table["rows"] for table in json.loads(done.stdout)}

    def row(self, rows, site, *callers, memory="device"):
        """The one row of a call site; callers from the innermost on."""
        found = [row for row in rows if row["Call site"] == site and row["Memory"] == memory
                 and (row["Called by"] or "").split(" < ")[:len(callers)] == list(callers)]
        self.assertEqual(len(found), 1, rows)
        return found[0]

    def test_a_program_in_cpp(self):
        self.record([LEAKS])
        tables = self.tables("--memory")
        allocate = place("allocate", "allocate")

        leaks = tables["memory-leak"]
        self.assertEqual(len(leaks), 2)
        row = self.row(leaks, allocate, place("leak", "leak"))
        self.assertEqual((row["Bytes"], row["Blocks"], row["Device"]), (3 * MIB, 3, 0))
        row = self.row(leaks, place("leak", "host leak"), memory="pinned host")
        self.assertEqual((row["Bytes"], row["Blocks"], row["Device"]), (12288, 1, None))
        self.assertEqual(tables["memory-cache"], [])

        peak = tables["memory-peak"]
        device = [row for row in peak if row["Memory"] == "device"]
        self.assertEqual(sum(row["Bytes"] for row in device), 15 * MIB + 65536)
        for function, comment, size, blocks in (("leak", "leak", 3 * MIB, 3), ("reach_the_peak", "large", 8 * MIB, 1),
                                                ("reach_the_peak", "small", 4 * MIB, 1)):
            row = self.row(peak, allocate, place(function, comment))
            self.assertEqual((row["Bytes"], row["Blocks"]), (size, blocks), comment)
        self.assertEqual(self.row(peak, place("main", "table"))["Bytes"], 65536)
        self.assertAlmostEqual(sum(row["Peak %"] for row in device), 100, places=1)

        churn = tables["memory-churn"]
        self.assertEqual(len(churn), 1)
        row = self.row(churn, allocate, place("work_in_turns", "turn"))
        self.assertEqual((row["Allocs"], row["At once"], row["Temporary"], row["Bytes"]), (20, 1, 20, 5 * MIB))

        waits = tables["memory-wait"]
        self.assertEqual(len(waits), 1)
        self.assertEqual((waits[0]["API"], waits[0]["Waits"], waits[0]["Call site"]),
                         ("cudaFree", 1, place("release", "release")))
        self.assertIn(place("wait_in_a_free", "wait"), waits[0]["Called by"])

    def test_the_page(self):
        self.record([LEAKS])
        done = self.run_gpuprof("summary", "--memory", "out.gpuprof")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in ("Never freed", "At the peak", "Repeated allocations",
                     "by " + place("work_in_turns", "turn"),
                     "leaked       3.012MiB in 4 blocks from 2 call sites", "temporary    21 ",
                     "15.06MiB of GPU 0's device memory", "12.00KiB of pinned host memory"):
            self.assertIn(text, done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 120)

    def test_the_summary(self):
        self.record([LEAKS])
        lines = self.run_gpuprof("summary", "--full", "out.gpuprof").stdout.splitlines()
        at = lines.index("Never freed: 3.012MiB in 4 blocks")
        allocate, leak = place("allocate", "allocate"), place("leak", "leak")
        self.assertTrue(lines[at + 2].split("  3  ")[1].startswith(f"{allocate} < {leak} < main"), lines[at + 2])
        self.assertTrue(lines[at + 3].endswith(place("leak", "host leak") + lines[at + 2].split(leak)[1]), lines[at + 3])
        self.assertIn("gpuprof summary --memory FILE", lines[at + 4])

    def test_what_was_freed_in_a_pause(self):
        self.record([LEAKS], "--launches", "1")
        done = self.run_gpuprof("summary", "out.gpuprof")
        self.assertIn("Not freed while recording was on: 4.074MiB in 6 blocks", done.stdout)  # and what would have been freed after the launch
        self.assertIn("including memory that was freed while recording was paused", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 110)
        page = self.run_gpuprof("summary", "--memory", "out.gpuprof").stdout
        self.assertIn("including memory that was freed while recording was paused", page)
        self.record([LEAKS], "-o", "whole")
        self.assertNotIn("paused", self.run_gpuprof("summary", "--memory", "whole.gpuprof").stdout)

    def test_a_program_that_frees_everything_is_told_nothing(self):
        self.record([sys.executable, support.GPU[1], "copy=3"])
        self.assertNotIn("Never freed", self.run_gpuprof("summary", "out.gpuprof").stdout)
        self.assertIn("every block that was allocated through CUDA while recording was on was freed",
                      self.run_gpuprof("summary", "--by", "memory-leak", "out.gpuprof").stderr)

    def test_the_first_call_of_all(self):
        self.record([sys.executable, support.GPU[1], "leak=2"])
        self.assertEqual([(row["Blocks"], row["Call site"][:6]) for row in self.tables("--memory")["memory-leak"]],
                         [(2, "Device")])

    def test_python(self):
        self.record([sys.executable, SCRIPT])
        tables = self.tables("--memory")
        allocate = place("allocate", "allocate", SCRIPT)
        weights = tables["memory-leak"]
        self.assertEqual(len(weights), 1)
        self.assertEqual((weights[0]["Bytes"], weights[0]["Blocks"], weights[0]["Call site"]), (MIB, 1, allocate))
        self.assertIn(f"(leaks.py:{line_of(SCRIPT, 'weights')})", weights[0]["Called by"])
        row = [row for row in tables["memory-churn"] if f":{line_of(SCRIPT, 'scratch')})" in row["Called by"]]
        self.assertEqual([(r["Allocs"], r["At once"], r["Temporary"], r["Bytes"]) for r in row], [(10, 1, 10, 40960)])
        self.assertIn(f"main (leaks.py:{line_of(SCRIPT, 'step')})", row[0]["Called by"])

    def test_the_cache_of_pytorch_is_no_leak(self):
        """Segments that a library of that name takes, once for each of two steps."""
        self.compile("libc10_cuda.so", "int cudaMalloc(void **, unsigned long);\n"
                     "int take_segment(void) { static void *p; return cudaMalloc(&p, 2 << 20) + (p == 0); }\n",
                     "-shared", "-fPIC", "-L" + os.path.join(support.BUILD, "sim"), "-lcudart")
        script = self.write("train.py", "import ctypes\n"
                            "torch = ctypes.CDLL('./libc10_cuda.so')\n"
                            "def step():\n"
                            "    assert torch.take_segment() == 0\n"
                            "for _ in range(2):\n"
                            "    step()\n")
        self.record([sys.executable, script])
        tables = self.tables("--memory")
        self.assertEqual(tables["memory-leak"], [])
        self.assertEqual([(row["Bytes"], row["Blocks"], row["At peak"], row["Allocator"], row["Call site"])
                          for row in tables["memory-cache"]], [(4 * MIB, 2, 4 * MIB, "PyTorch", "step (train.py:4)")])
        self.assertIn("Never freed: nothing, not counting 4.000MiB kept by PyTorch\n",
                      self.run_gpuprof("summary", "out.gpuprof").stdout)
        self.assertEqual(self.run_gpuprof("summary", "--by", "memory-leak", "out.gpuprof").stderr,
                         "gpuprof: nothing leaked; 4.000MiB is kept by libraries: --by memory-cache\n")

    def test_a_backward_pass_is_named_by_its_operator(self):
        """In a thread of PyTorch's nothing is the user's."""
        self.compile("libtorch_cuda.so", "#include <pthread.h>\n"
                     "int cudaMalloc(void **, unsigned long);\n"
                     "int empty(void) __asm__(\"_ZN2at6detail13empty_genericEv\");\n"
                     "int apply(void) __asm__(\"_ZN5torch8autograd9generated12MulBackward05applyEv\");\n"
                     "void *work(void *) __asm__(\"_ZN5torch8autograd6Engine11thread_mainEv\");\n"
                     "int empty(void) { static void *p; return cudaMalloc(&p, 2 << 20) + (p == 0); }\n"
                     "int apply(void) { return empty() * 2; }\n"
                     "void *work(void *result) { *(int *)result = apply() * 2; return 0; }\n"
                     "int backward(void) { pthread_t t; int r = 1; return pthread_create(&t, 0, work, &r) || pthread_join(t, 0) || r; }\n",
                     "-shared", "-fPIC", "-L" + os.path.join(support.BUILD, "sim"), "-lcudart", "-lpthread")
        script = self.write("train.py", "import ctypes\nassert ctypes.CDLL('./libtorch_cuda.so').backward() == 0\n")
        self.record([sys.executable, script])
        rows = self.tables("--memory")["memory-peak"]
        self.assertEqual([(row["Bytes"], row["Call site"], row["Called by"]) for row in rows],
                         [(2 * MIB, "torch::autograd::generated::MulBackward0::apply", None)])

    def snapshot(self, protocol, address):
        """A file as torch.cuda.memory._dump_snapshot() writes it: two segments, of which the trace knows one."""
        user = [{"filename": "??", "line": 0, "name": "c10::cuda::CUDACachingAllocator::malloc"},
                {"filename": "/x/lib/python3.12/site-packages/torch/nn/modules/linear.py", "line": 125,
                 "name": "forward"},
                {"filename": "/home/me/train.py", "line": 33, "name": "step"},
                {"filename": "/home/me/train.py", "line": 70, "name": "<module>"}]

        def backward(function):
            """Frames of a thread of PyTorch's, in which no Python is."""
            return [{"filename": "??", "line": 0, "name": "at::detail::empty_cuda(c10::ArrayRef<long>)"},
                    {"filename": "Functions.cpp", "line": 0, "name": f"{function}(std::vector<at::Tensor>&&)"},
                    {"filename": "??", "line": 0, "name": "torch::autograd::Engine::evaluate_function(std::shared_ptr<int>&)"}]

        def segment(address, size, blocks):
            return {"device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": "large",
                    "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks,
                    "allocated_size": 0, "active_size": 0, "requested_size": 0}

        def block(size, state, frames):
            return {"address": 0, "size": size, "requested_size": size - 24, "state": state, "frames": frames}

        content = {"segments": [segment(address, MIB, [block(MIB // 2, "active_allocated", user),
                                                       block(MIB // 4, "inactive", []),
                                                       block(MIB // 4, "active_allocated", user)]),
                                segment(0x1334500000, 7 * 512,
                                        [block(4 * 512, "active_allocated", backward("torch::autograd::generated::MulBackward0::apply")),
                                         block(2 * 512, "active_allocated", backward("void torch::autograd::validate_outputs_impl<int>")),
                                         block(512, "active_allocated", backward("other")[:2])]),
                                segment(0x1234500000, 2 * MIB, [block(2 * MIB, "inactive", [])])],
                   "device_traces": [[{"action": "alloc", "addr": address, "size": MIB // 2 - 24, "stream": 0, "time_us": 1 << 50,
                                       "frames": user}] * 10],
                   "allocator_settings": {"garbage_collection_threshold": 0.5, "expandable_segments": False,
                                          "roundup_power2_divisions": {"1": 0}}, "external_annotations": []}
        with open(self.path("snapshot.pickle"), "wb") as file:
            pickle.dump(content, file, protocol=protocol)

    def test_a_snapshot_of_pytorch(self):
        self.record([sys.executable, SCRIPT])
        api = self.run_gpuprof("export", "--format", "chrome", "-o", "out.json", "out.gpuprof")
        self.assertEqual(api.returncode, 0, api.stderr)
        with open(self.path("out.json"), encoding="utf-8") as file:
            weights = [event["args"]["address"] for event in json.load(file)["traceEvents"]
                       if event.get("name") == "cudaMalloc" and event["args"].get("bytes") == MIB]
        for protocol in (2, 3, 4, 5):
            with self.subTest(protocol):
                self.snapshot(protocol, int(str(weights[0]), 0))
                tables = self.tables("--memory", "--torch-snapshot", "snapshot.pickle")
                self.assertEqual([(row["Reserved"], row["Segments"], row["In the trace"], row["Allocated"], row["Free"],
                                   row["Split"], row["Largest free"]) for row in tables["torch-segment"]],
                                 [(3 * MIB + 3584, 3, 1, 3 * MIB // 4 + 3584, 9 * MIB // 4, MIB // 4, 2 * MIB)])
                self.assertEqual({row["Category"]: (row["Bytes"], row["Blocks"], row["At the peak"])
                                  for row in tables["torch-category"]},
                                 {"activations": (3 * MIB // 4, 2, 3 * MIB // 4 - 48), "gradients": (3072, 2, 3024),
                                  "other": (512, 1, 488), "cached": (9 * MIB // 4, 2, 9 * MIB // 4 + 5 * 24)})
                self.assertEqual([(row["Bytes"], row["Requested"], row["Blocks"], row["State"], row["Call site"],
                                   row["Called by"]) for row in tables["torch-block"]],
                                 [(3 * MIB // 4, 3 * MIB // 4 - 48, 2, "allocated", "step (train.py:33)",
                                   "<module> (train.py:70)"),
                                  (2048, 2024, 1, "allocated", "torch::autograd::generated::MulBackward0::apply", None),
                                  (1024, 1000, 1, "allocated", "torch::autograd::validate_outputs_impl<int>", None),
                                  (512, 488, 1, "allocated", "(native code, which no Python had called)", None)])

        page = self.run_gpuprof("summary", "--memory", "--torch-snapshot", "snapshot.pickle", "out.gpuprof")
        self.assertRegex(page.stdout, r"3.003MiB +3 +1 +771.5KiB .* larger blocks\n")
        self.assertIn("by <module> (train.py:70)", page.stdout)
        self.assertLessEqual(max(map(len, page.stdout.splitlines())), 120)

    def test_pools(self):
        self.record([os.path.join(support.BUILD, "programs", "allocs")])
        rows = self.tables("--by", "memory-pool,memory")["memory-pool"]
        self.assertEqual([(row["Allocs"], row["Allocated"], row["Most used"], row["Left"]) for row in rows],
                         [(16, 65536, 65536, 0)])
        self.assertGreater(rows[0]["Reserved"], rows[0]["Most used"])
        self.assertIn("\nMemory pools (Reserved, Unused: the most that there was; Left: at the end)\n", self.run_gpuprof("summary", "--memory", "out.gpuprof").stdout)

    def test_what_is_no_snapshot(self):
        self.record([sys.executable, SCRIPT])

        class Harmful:
            def __reduce__(self):
                return os.mkdir, ("harm",)

        endless = {"segments": [{"blocks": [{"size": 1}] * 100000}] * 100000}
        for content, reason in (({"segments": [Harmful()]}, "it is not a pickle, or it contains code"), ([1, 2], "no segments"),
                                ({}, "no segments"), (endless, "its parts repeat")):
            with open(self.path("snapshot.pickle"), "wb") as file:
                pickle.dump(content, file)
            done = self.run_gpuprof("summary", "--memory", "--torch-snapshot", "snapshot.pickle", "out.gpuprof")
            self.assertEqual(done.returncode, 1)
            self.assert_one_line(done.stderr, "snapshot.pickle cannot be read", reason, "_dump_snapshot")
        self.assertNotIn("harm", self.files())
        done = self.run_gpuprof("summary", "--torch-snapshot", "snapshot.pickle", "out.gpuprof")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "gpuprof summary --memory --torch-snapshot snapshot.pickle FILE")

    def test_without_stacks(self):
        self.record([LEAKS], "--stacks=none")
        rows = self.tables("--memory")["memory-leak"]
        self.assertEqual({(row["Call site"], row["Bytes"]) for row in rows},
                         {("(cudaMalloc, without a call stack)", 3 * MIB),
                          ("(cudaMallocHost, without a call stack)", 12288)})
        self.assertRegex(self.run_gpuprof("summary", "out.gpuprof").stdout, "Never freed: not known; [0-9.]+MiB in 4 blocks were left")
        self.assertNotIn("leaked", self.run_gpuprof("summary", "--memory", "out.gpuprof").stdout)

    def test_wrong_use(self):
        done = self.run_gpuprof("summary", "--memory", "--by", "kernel", "out.gpuprof")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done.stderr, "--memory", "--by memory-leak,kernel")


if __name__ == "__main__":
    unittest.main()
