#!/usr/bin/env python3
"""Compare Python call stacks in the trace with each interpreter's own, for the interpreters on this
machine.

    tests/stacks/python_test.py [PYTHON...]       O is the build folder

tests/pythons provides the versions that the machine lacks.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from traced import CUT, LOST, NATIVE, PYTHON, VERSIONS, Trace, candidates, library_of, spans_as_told, spans_of_python  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
DEPTH = 512


def compare_subinterpreter(trace, stack, outside):
    """What is wrong with a subinterpreter's stack, or None: its functions must be those outside of
    it, or its own.
    """
    names = [trace.codes[origin][1] for kind, origin, _ in stack if kind == PYTHON]
    known = {name for _, name, *_ in outside} | {"inside", "<module>", "in_subinterpreter"}
    if not stack or any(kind == LOST for kind, _, _ in stack):
        return "no stack, or frames are not in the trace"
    return None if set(names) <= known else f"other functions: {names}"


def has_lines(told, want, minor):
    """Whether the recorded line table equals the interpreter's own, or from 3.11 on gives the same
    lines.
    """
    return spans_as_told(told) == spans_of_python(want) if minor >= 11 else told == want


def compare(trace, result, minor):
    """What is wrong with a stack, or None."""
    stack = list(trace.stack(result["id"]))
    if "within" in result:
        return compare_subinterpreter(trace, stack, result["within"])
    got = [(*trace.codes[origin], address) for kind, origin, address in stack if kind == PYTHON]
    want = [(file, name, first, table, lasti) for file, name, lasti, first, table in result["frames"]]
    got = [(*g[:3], w[3] if has_lines(g[3], w[3], minor) else "", g[4]) for g, w in zip(got, want)] + got[len(want):]
    if any(kind == LOST for kind, _, _ in stack):
        return "a frame is not in the trace"
    is_cut = len(want) > DEPTH
    natives = [os.path.basename(trace.paths.get(origin, "")) for kind, origin, _ in stack if kind == NATIVE]
    if len(got) != min(len(want), DEPTH):
        return f"{len(got)} frames, not {len(want)}"
    if any(g[:4] != w[:4] for g, w in zip(got, want)):
        return "other functions"
    if any(g != w for g, w in list(zip(got, want))[1:]):
        return "wrong positions in the functions"
    # before 3.11 one Python frame was up to four native frames, so the native stack may be
    # truncated if the Python stack is not
    if any(kind == CUT for kind, _, _ in stack) not in (is_cut, len(want) > DEPTH // 5):
        return "wrongly truncated, or not truncated"
    if any(name.startswith(("libpython", "python")) for name in natives) and want:
        return "frames of the interpreter itself"
    if result["label"] == "qsort":
        between = [kind for kind, _, _ in stack][1:]
        if "libc.so.6" not in natives or between.index(NATIVE) > 3:
            return "no C frames between Python's"
    return None


def can_compile(python):
    """Whether this Python has a JIT compiler, which is off by default."""
    code = "import sys; sys.exit(not (hasattr(sys, '_jit') and sys._jit.is_available()))"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def check(python, folder, is_compiled=False):
    out = os.environ["O"]
    base = os.path.join(folder, python.replace("/", "_") + "+" * is_compiled)
    environment = dict(os.environ, PYTHON_JIT="1") if is_compiled else None
    program = os.path.join(HERE, "python_program.py")
    status = subprocess.run([python, program, f"{out}/tests/stacks/libprobe.so", base, base + ".json"],
                            env=environment, check=False).returncode
    if status != 0:
        print(f"{python}: exit status {status}")
        return False
    dump = subprocess.run([f"{out}/tests/stacks/dump", base + ".gpuprof"], check=True, stdout=subprocess.PIPE)
    trace = Trace(dump.stdout.decode("utf-8"))
    with open(base + ".json", encoding="utf-8") as file:
        results = json.load(file)
    wrong = {}
    minor = int(subprocess.run([python, "-c", "import sys; print(sys.version_info[1])"], check=True, stdout=subprocess.PIPE).stdout)
    for result in results:
        problem = compare(trace, result, minor)
        if problem:
            wrong.setdefault(f"{result['label']}: {problem}", []).append(result)
    print(f"{python}{', compiling' * is_compiled}: {len(results)} stacks, {sum(len(r['frames']) for r in results)} frames, "
          f"{sum(map(len, wrong.values()))} wrong; {len(trace.codes)} code objects")
    for problem, which in list(wrong.items())[:10]:
        print(f"  {len(which)} times: {problem}")
        if os.environ.get("VERBOSE"):
            print(f"  want {which[0]['frames']}")
            for kind, origin, address in trace.stack(which[0]["id"]):
                print("   ", kind, trace.codes.get(origin) if kind == PYTHON else trace.paths.get(origin), hex(address))
    return not wrong


def check_again(python, folder):
    """A program that starts the interpreter repeatedly: each stack has the right function name, at
    whatever address its code is.
    """
    out, found = os.environ["O"], library_of(python)
    if found is None:
        return True
    minor, home, library = found
    right = True
    for way in ("whole", "beside")[:1 + (minor >= 12)]:  # in earlier versions, a thread has the main interpreter's frames
        base = os.path.join(folder, f"{way}{minor}")
        command = [f"{out}/tests/stacks/python_again", library, f"{out}/tests/stacks/libprobe.so"]
        environment = dict(os.environ, PYTHONHOME=home)
        alone = subprocess.run([*command, "-", way], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if alone.returncode:
            print(f"skipped: {library} cannot be started again in a process ({way})")
            continue
        done = subprocess.run([*command, base, way], env=environment, stdout=subprocess.PIPE, check=False, universal_newlines=True)
        dump = subprocess.run([f"{out}/tests/stacks/dump", base + ".gpuprof"], check=True, stdout=subprocess.PIPE)
        trace = Trace(dump.stdout.decode("utf-8"))
        os.unlink(base + ".gpuprof")
        want = [line.split() for line in done.stdout.splitlines()]
        got = [[trace.codes[origin][1] for kind, origin, _ in trace.stack(int(number)) if kind == PYTHON] for _, number in want]
        wrong = [(name, names) for (name, _), names in zip(want, got) if names != [name, "<module>"]]
        print(f"{library}, started again ({way}): {len(want)} stacks, {len(wrong)} wrong", *wrong[:3])
        right = right and done.returncode == 0 and len(want) == 40 and not wrong
    return right


def main():
    pythons = sys.argv[1:]
    skipped = []
    if not pythons:
        for minor in VERSIONS:
            found = candidates(minor)
            pythons += found
            if not found:
                skipped.append(f"3.{minor}")
    if skipped:
        print(f"skipped: Python {', '.join(skipped)} is not on this machine; what its next release has: tests/pythons {os.environ['O']}/pythons {' '.join(skipped)}")
    if not pythons:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        right = [check(python, folder) for python in pythons]
        right += [check(python, folder, True) for python in pythons if can_compile(python)]
        right += [check_again(python, folder) for python in pythons]
    sys.exit(0 if all(right) else 1)


main()
