#!/usr/bin/env python3
"""A trace is read where the files of its program are not: the names of its functions are in it."""
import os
import shutil
import subprocess

import support
from support import BARE, LAUNCHED, PLAIN, BUILD, Case

KILLED = """
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
static void take_memory(int (*allocate)(void **, size_t)) { void *memory; allocate(&memory, 4096); }
int main(void)
{
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    take_memory((int (*)(void **, size_t))dlsym(runtime, "cudaMalloc"));
    return raise(SIGKILL);
}
"""
LEAKS = os.path.join(BUILD, "programs", "leaks")


class Elsewhere(Case):
    def setUp(self):
        super().setUp()
        self.program = shutil.copy(LEAKS, self.path("app"))

    def tables(self, trace):
        found = [self.run_gpuprof("summary", *words, trace) for words in (("--memory",), ("--by", "stack"))]
        self.assertEqual([done.returncode for done in found], [0, 0], found)
        return [done.stdout for done in found]

    def assert_named_without_files(self, trace):
        here = self.tables(trace)
        os.rename(self.program, self.path("gone"))
        self.assertEqual(self.tables(trace), here)
        os.rename(self.path("gone"), self.program)
        self.assertIn("work_in_turns", here[0])
        self.assertNotIn("app+0x", here[0] + here[1])

    def test_names_are_in_the_trace(self):
        for way in (LAUNCHED, BARE):
            self.run_program([self.program], way, GPUPROF_OUTPUT=way, GPUPROF_STACKS="all")
            self.assert_named_without_files(way + ".gpuprof")

    def test_names_are_added_once(self):
        self.run_program([self.program], options=("-o", "out"))
        size = os.path.getsize(self.path("out.gpuprof"))
        self.assertEqual(self.run_gpuprof("finish", "out.gpuprof").returncode, 0)
        self.assertEqual(os.path.getsize(self.path("out.gpuprof")), size)

    def test_names_of_a_program_that_was_killed(self):
        self.program = self.compile("app", KILLED, "-g", "-O0", "-ldl")
        self.run_program([self.program], options=("-o", "out", "--stacks=all"))
        memory, _ = self.tables("out.gpuprof")
        self.assertIn("take_memory", memory)
        os.rename(self.program, self.path("gone"))
        self.assertEqual(self.tables("out.gpuprof")[0], memory)
        summary = self.run_gpuprof("summary", "out.gpuprof").stdout
        self.assertIn("killed", summary)
        self.assertNotIn("damaged", summary)

    def test_names_of_a_bundle_that_removes_its_files(self):
        """As PyInstaller's: the files are gone when gpuprof-run finishes the trace."""
        bundle = self.write("bundle", f'#!/bin/sh\nmkdir _MEI123 && cp {LEAKS} _MEI123/app && _MEI123/app\nstatus=$?\n'
                                      "rm -r _MEI123\nexit $status\n", 0o755)
        plain = self.run_program([bundle], PLAIN)
        result = self.run_program([bundle], options=("-o", "out"), GPUPROF_STACKS="all", GPUPROF_HTML="1")
        self.assertEqual((result.returncode, result.stdout), (plain.returncode, plain.stdout))
        self.assertEqual(result.stderr.count("trace " + self.path("out.gpuprof")), 1)
        memory, stacks = self.tables("out.gpuprof")
        self.assertIn("work_in_turns", memory)
        self.assertNotIn("app+0x", memory + stacks)

    def test_advice_says_how_places_get_names(self):
        self.program = shutil.copy(os.path.join(BUILD, "rules", "alloc-in-loop"), self.path("app"))
        subprocess.run(["strip", self.program], check=True)
        self.run_program([self.program, "sin"], BARE, GPUPROF_OUTPUT="out", GPUPROF_SUMMARY="none", GPUPROF_CHROME="none",
                         GPUPROF_STACKS="all")
        self.assertIn("no symbols in app: build it with -g", self.run_gpuprof("advice", "out.gpuprof").stdout)
        os.rename(self.program, self.path("gone"))
        gone = self.run_gpuprof("advice", "out.gpuprof").stdout
        self.assertIn("no names for app: the file is missing here", gone)
        self.assertNotIn("no symbols", gone)
        os.rename(self.path("gone"), self.program)
        self.assertEqual(self.run_gpuprof("finish", "out.gpuprof").returncode, 0)
        os.rename(self.program, self.path("gone"))
        self.assertIn("no symbols in app", self.run_gpuprof("advice", "out.gpuprof").stdout)

    def test_a_trace_that_cannot_be_written_to_is_read_all_the_same(self):
        self.run_program([self.program], BARE, GPUPROF_OUTPUT="out", GPUPROF_SUMMARY="none", GPUPROF_CHROME="none")
        with open(self.path("out.gpuprof"), "ab") as file:
            file.write(b"what nobody understands")
        damaged = os.path.getsize(self.path("out.gpuprof"))
        done = self.run_gpuprof("finish", "out.gpuprof")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.path.getsize(self.path("out.gpuprof")), damaged)
        self.assertIn("work_in_turns", self.tables("out.gpuprof")[0])


if __name__ == "__main__":
    support.main()
