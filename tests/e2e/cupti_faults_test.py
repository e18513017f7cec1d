"""What the preloaded library asks of CUPTI is refused, function by function, in whole runs of programs: once, or from then on.

The program ends as without us; what the GPU did is in the trace, or that it is not is said in a line or in the summary; a trace that
is left can be read.  tests/lib/cupti_faults.c refuses.  Which calls are in it is not
compared: CUPTI refuses the callbacks of those that its version does not know, too, as an invalid parameter."""
import concurrent.futures
import itertools
import os
import re
import unittest

import support
from faults_test import FOR_GOOD, FULL, MAGIC_BYTES, Run
from support import BUILD, LIBRARY, Case

CUPTI = os.path.join(BUILD, "tests", "lib", "libcupti_faults.so")
PROGRAMS = ([os.path.join(BUILD, "programs", "copies")], [os.path.join(BUILD, "programs", "graph")],
            [*support.GPU, "leak=2", "copy=5", "launch=20", "fork", "launch=3"])
ERRORS = (999, 15, 27, 35, 1)  # unknown, not initialized, not supported, not permitted, invalid parameter
ONCE, FROM = range(1000) if FULL else (0, 1, 2, 7, 40), (0, 1, 3, 60)
NOTHING_LOST = "nothing was dropped"
DRIVER, RUNTIME = 1, 2  # domains of callbacks


class Refused(Run):

    def __init__(self, program, function="", first=FOR_GOOD, last=FOR_GOOD, error=ERRORS[0]):
        self.program = program
        self.name = f"{function}: call {first} to {last} is error {error} in {program}"
        self.run(LD_PRELOAD=LIBRARY, GPUPROF_CUPTI=CUPTI, FAULTS_ONLY=function, FAULTS_FIRST=first, FAULTS_LAST=last, FAULTS_ERROR=error)

    def problem(self, whole):
        """What is wrong with it, or None."""
        if self.result != whole.result:
            return f"the program ended with {self.result}"
        if not all(line.startswith("gpuprof: ") for line in self.lines):
            return "lines that are not ours"
        if self.size_bytes > MAGIC_BYTES and self.summary is None:
            return "a trace that cannot be read"
        if self.lines or self.operations() == whole.operations():
            return None
        return None if self.summary.count(NOTHING_LOST) < whole.summary.count(NOTHING_LOST) else f"what was lost was not said: {self.counts}"


class Switched(Run):
    """Which callbacks were ever on, with these words of --trace."""

    def __init__(self, words):
        self.program = PROGRAMS[0]
        self.run(LD_PRELOAD=LIBRARY, GPUPROF_CUPTI=CUPTI, GPUPROF_TRACE=words)
        switches = [line.split() for line in self.switched.splitlines()]
        self.domains = {int(domain) for name, on, domain, _ in switches if name == "cuptiEnableDomain" and on == "1"}
        self.calls = {(int(domain), int(cbid)) for name, on, domain, cbid in switches
                      if name == "cuptiEnableCallback" and on == "1" and int(domain) in (DRIVER, RUNTIME)}

    def run_in(self, folder, **variables):
        super().run_in(folder, FAULTS_SWITCHED=os.path.join(folder, "switched"), **variables)
        self.switched = self.read(folder, "switched")


class Callbacks(Case):

    @staticmethod
    def calls_of_words():
        """{word of --trace: {(domain, number) of the calls that it records}}"""
        calls = {word: set() for word in ("gpu", "memory", "sync", "event", "module")}
        words = {"ALLOC": "memory", "FREE": "memory", "SYNC": "sync", "EVENT": "event", "MODULE": "module"}
        with open(os.path.join(support.ROOT, "inject", "api.def"), encoding="utf-8") as file:
            for line in file:
                call = re.match(r"GP_API\((\w+), (\d+), \w+, (\w+), \w+, (\w+)\)", line)
                if call:
                    domain, number, kind, memory = call.groups()
                    word = words.get(kind, "gpu") if memory == "NONE" else "memory"
                    calls[word].add((DRIVER if domain == "DRIVER" else RUNTIME, int(number)))
        return calls

    def test_what_no_option_needs_is_not_called_back_for(self):
        calls = self.calls_of_words()
        default = calls["gpu"] | calls["memory"] | calls["sync"] | calls["module"]
        expected = {word: calls[word] for word in calls}
        expected.update({"default": default, "default,event": default | calls["event"], "gpu,module": calls["gpu"] | calls["module"]})
        self.assertTrue(all(expected.values()))
        for words, found in expected.items():
            run = Switched(words)
            self.assertEqual(run.result[0], 0)
            self.assertEqual(run.calls, found, words)
            self.assertEqual(run.domains, set(), words)

    def test_a_whole_domain_is_called_back_for_where_every_call_is_asked_for_alone(self):
        self.assertEqual(Switched("api-all").domains, {DRIVER, RUNTIME})


class CuptiFaults(Case):

    @staticmethod
    def functions():
        with open(os.path.join(support.ROOT, "inject", "cupti_versions.h"), encoding="utf-8") as file:
            return re.findall(r"X\((cupti\w+)\)", file.read())

    @staticmethod
    def sweep(whole, function):
        """What was wrong, and how often it was refused."""
        problems, refused = [], 0
        for places in ([(first, first) for first in ONCE], [(first, FOR_GOOD) for first in FROM]):
            for (first, last), error in zip(places, itertools.cycle(ERRORS)):
                run = Refused(whole.program, function, first, last, error)
                if run.problem(whole):
                    problems.append(f"{run.name}: {run.problem(whole)}: {run.lines}")
                if not run.seen:
                    break
                refused += 1
        return problems, refused

    def test_each_function_refuses_once_and_for_good(self):
        wholes, functions = [Refused(program) for program in PROGRAMS], self.functions()
        for whole in wholes:
            self.assertEqual((whole.result[0], whole.lines, whole.seen), (0, [], ""))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for function, results in zip(functions, pool.map(lambda name: [self.sweep(whole, name) for whole in wholes], functions)):
                self.assertEqual([problem for problems, _ in results for problem in problems], [])
                if function in ("cuptiSubscribe", "cuptiActivityEnable", "cuptiActivityFlushAll", "cuptiActivityGetNextRecord"):
                    self.assertTrue(all(refused for _, refused in results), function)

    def test_a_call_that_cupti_does_not_report_is_told(self):
        for error, words in ((27, "calls are missing in the trace: CUPTI does not report cu"), (1, None)):
            lines = [line for line in Refused(PROGRAMS[0], "cuptiEnableCallback", 40, FOR_GOOD, error).lines if "missing" in line]
            self.assertEqual(len(lines), 1 if words else 0, lines)
            self.assertTrue(not words or words in lines[0], lines)

    def test_a_library_without_a_version_is_told(self):
        run = Refused(PROGRAMS[0], "cuptiGetVersion", 0)
        self.assertTrue(any("does not report its version" in line for line in run.lines), run.lines)


if __name__ == "__main__":
    if support.ON_GPU:
        raise unittest.SkipTest("it is the simulated CUPTI that refuses")
    support.main()
