#!/usr/bin/env python3
"""Compare samples of the threads of a Python program with what the program can do at all, for each
interpreter on this machine.

    tests/stacks/sampler_test.py [PYTHON...]       O is the build folder

No call in the program has a stack: sampling finds the interpreter.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import traced  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTERS = os.path.join(HERE, "..", "..", "include", "gpuprof", "counter.def")
PROGRAM = os.path.join(HERE, "sampled_program.py")
# function of the program: its possible callers; "" stands for library frames of a thread or event
# loop
CALLERS = {
    "<module>": {""}, "main": {"<module>"}, "shares": {"main"}, "seven": {"shares"}, "three": {"shares"},
    "unit": {"seven", "three", "step"}, "known.<locals>.body": {""}, "known": {"main", "starting", "starting.<locals>.<listcomp>", "run", "run.<locals>.<listcomp>"},
    "deep": {"deep", "recursive", "short"}, "recursive": {"known.<locals>.body"},
    "quick": {"known.<locals>.body"}, "left": {"quick"}, "right": {"quick"}, "left_inside": {"left"}, "right_inside": {"right"},
    "raising": {"raising", "exceptional"}, "unit_of_cleanup": {"raising"}, "exceptional": {"known.<locals>.body"},
    "count_up": {"count_up", "generating"}, "generating": {"known.<locals>.body"},
    "step": {"step", ""}, "asynchronous": {"known.<locals>.body"},
    "made_up": {"known.<locals>.body"}, "short": {"known.<locals>.body"}, "starting": {"known.<locals>.body"},
    "starting.<locals>.<listcomp>": {"starting"}, "run.<locals>.<listcomp>": {"run"},
    "sleeping": {"known.<locals>.body"}, "waiting": {"known.<locals>.body"}, "run": {"main"},
}
PLAIN = {}  # function names before 3.11, which are not qualified
for _name, _callers in CALLERS.items():
    PLAIN.setdefault(_name.rpartition(".")[2], set()).update(_callers)


def counter(name):
    """The number of a counter."""
    with open(COUNTERS, encoding="utf-8") as file:
        rows = [line for line in file if line.startswith("GP_COUNTER(")]
    return next(number for number, row in enumerate(rows) if row.startswith(f"GP_COUNTER({name},"))


LOST_SAMPLES = counter("SAMPLES_LOST")
OUTSIDE_SAMPLES = counter("SAMPLES_OUTSIDE")


class Sampled(traced.Trace):
    """The output of dump, with the samples."""

    def __init__(self, text):
        self.samples, self.lost, self.outside = [], 0, 0
        super().__init__(text)
        for line in text.split("\n"):
            word, _, rest = line.partition(" ")
            if word == "sample":
                self.samples.append(tuple(map(int, rest.split())))
            elif word == "counter" and rest.startswith(f"{LOST_SAMPLES} "):
                self.lost = int(rest.split()[1])
            elif word == "counter" and rest.startswith(f"{OUTSIDE_SAMPLES} "):
                self.outside = int(rest.split()[1])

    def functions(self, number):
        """The frames of a stack, innermost first: (file, name, first line, offset)."""
        for kind, origin, address in self.stack(number):
            if kind == traced.LOST:
                raise AssertionError("a frame is not in the trace")
            if kind == traced.NATIVE:
                raise AssertionError("a native frame")
            if kind == traced.PYTHON:
                file, name, first, _table = self.codes[origin]
                yield file, name, first, address


def wrong_edge(stack):
    """A description of the first impossible caller, or None."""
    for at, (file, name, _, _) in enumerate(stack):
        outside = stack[at + 1] if at + 1 < len(stack) else ("", "", 0, 0)
        if file == "<string>":
            if not name.startswith("made_") and name != "<module>":
                return f"{name} of <string>"
            continue
        if file != PROGRAM:
            continue
        short = name.rpartition(".")[2]
        allowed = PLAIN.get(short)
        if allowed is None:
            return f"no function of the program's: {name}"
        caller = outside[1] if outside[0] == PROGRAM else ""
        if caller.rpartition(".")[2] not in {one.rpartition(".")[2] for one in allowed}:
            return f"{name} called by {outside[:2]}"
    return None


def last_lines(path):
    with open(path, encoding="utf-8") as file:
        return len(file.readlines())


def counts(trace):
    """{function of the program: number of samples with it on the stack}"""
    seen = {}
    for _, number, count, _, _ in trace.samples:
        for name in {name.rpartition(".")[2] for file, name, _, _ in trace.functions(number) if file == PROGRAM}:
            seen[name] = seen.get(name, 0) + count
    return seen


def problems(trace, result, seen):
    lines, edges = last_lines(PROGRAM), []
    runs = {int(thread): set(functions) for thread, functions in result["threads"].items()}
    for thread, number, _, _, _ in trace.samples:
        stack = list(trace.functions(number))
        wrong = wrong_edge(stack)
        edges += [wrong] if wrong else []
        if thread != result["main"] and thread not in runs:
            yield f"thread {thread} is none of the program's"
        names = [name.rpartition(".")[2] for file, name, _, _ in stack if file == PROGRAM]
        if set(names) - set(PLAIN):
            yield f"no functions of the program's: {set(names) - set(PLAIN)}"
        if any(file == PROGRAM and not 0 < first <= lines for file, _, first, _ in stack):
            yield "a line that the program does not have"
        inside = names[names.index("body") - 1] if names.count("body") and names[0] != "body" else None
        if thread == result["main"] and "body" in names or inside is not None and inside not in runs.get(thread, ()):
            yield f"code of another thread on {thread}, which runs {runs.get(thread, 'the rest')}: {[one[1] for one in stack]}"
    # a thread that leaves one function and enters another within a microsecond may very rarely
    # appear in both
    if edges:
        print(f"  {len(edges)} wrong callers: {sorted(set(edges))[:5]}")
    if len(edges) > sum(sample[2] for sample in trace.samples) / 4000:
        yield f"{len(edges)} wrong callers: {sorted(set(edges))[:5]}"
    for name in ("deep", "raising", "quick", "count_up", "step", "sleeping", "seven", "three"):
        if seen.get(name, 0) == 0:
            yield f"{name} was never found"
    # most of hundreds of samples find a function with a share of 70 %
    if seen.get("seven", 0) <= seen.get("three", 0):
        yield f"seven {seen.get('seven')} times, three {seen.get('three')}"
    sleeps = [count for _, number, count, _, _ in trace.samples if next(trace.functions(number), ("", ""))[1] == "sleeping"]
    if not sleeps or max(sleeps) < 2:
        yield "a sleeping thread does not have one record for many samples"
    wrong = wrong_waits(trace)
    if wrong:
        yield wrong


def wrong_waits(trace):
    """A constant stack is emitted after a second, then after two more. Returns what is wrong, or
    None. If the machine was busy, a few samples may have records of their own.
    """
    waits = sorted((start, length, count) for _, number, count, start, length in trace.samples
                   if any(name == "waiting" for _, name, _, _ in trace.functions(number)))
    long = [length for _, length, count in waits if count > 10]
    if len(long) > 1 and long[1] > 1.5 * long[0]:
        return None
    return f"a thread that waits for three seconds has the records {waits}"


def check(python, folder):
    out = os.environ["O"]
    base = os.path.join(folder, python.replace("/", "_"))
    status = subprocess.run([python, PROGRAM, f"{out}/tests/stacks/libprobe.so", base, base + ".json"], check=False).returncode
    if status != 0:
        print(f"{python}: exit status {status}")
        return False
    dump = subprocess.run([f"{out}/tests/stacks/dump", base + ".gpuprof"], check=True, stdout=subprocess.PIPE)
    trace = Sampled(dump.stdout.decode("utf-8"))
    with open(base + ".json", encoding="utf-8") as file:
        result = json.load(file)
    seen = counts(trace)
    wrong = {}
    for problem in problems(trace, result, seen):
        wrong[problem] = wrong.get(problem, 0) + 1
    print(f"{python}: {sum(sample[2] for sample in trace.samples)} looks in {result['passes']} passes, {trace.lost} lost, {trace.outside} outer functions alone; "
          f"{len(trace.samples)} samples of {len({thread for thread, *_ in trace.samples})} threads; "
          f"seven {seen.get('seven')}, three {seen.get('three')}; {len(wrong)} problems")
    for problem, times in list(wrong.items())[:10]:
        print(f"  {times} times: {problem}")
    return not wrong


def check_late(python, folder):
    """A program that is looked at before it loads Python, and calls nothing that has a stack."""
    out, found = os.environ["O"], traced.library_of(python)
    if found is None:
        return True
    minor, home, library = found
    base = os.path.join(folder, f"late{minor}")
    status = subprocess.run([f"{out}/tests/stacks/python_again", library, f"{out}/tests/stacks/libprobe.so", base, "late"],
                            env=dict(os.environ, PYTHONHOME=home), check=False).returncode
    dump = subprocess.run([f"{out}/tests/stacks/dump", base + ".gpuprof"], check=True, stdout=subprocess.PIPE)
    trace = Sampled(dump.stdout.decode("utf-8"))
    looks = {}
    for _, number, count, _, _ in trace.samples:
        names = tuple(name for _, name, _, _ in trace.functions(number))
        looks[names] = looks.get(names, 0) + count
    working = looks.get(("working", "<module>"), 0)
    print(f"{library}, loaded late: {sum(looks.values())} looks, {working} where it works; exit status {status}")
    return status == 0 and working > 20 and not any("working" in names and names != ("working", "<module>") for names in looks)


def main():
    pythons = sys.argv[1:] or [python for minor in traced.VERSIONS for python in traced.candidates(minor)]
    if not pythons:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        right = [check(python, folder) for python in pythons]
        right += [check_late(python, folder) for python in pythons]
    sys.exit(0 if all(right) else 1)


main()
