#!/usr/bin/env python3
"""Change the sources one small thing at a time, and say which changes no unit test notices.

    tests/mutate/mutate.py --build FOLDER [--mutants N] [--seed N] [--jobs N] [--limit SECONDS] [FOLDER | FILE | FILE:LINE...]

Type `make mutate MUTANTS=110 SEED=1 FOLDERS="report collector"`, or name lines, of which all mutants are tried:
`make mutate FOLDERS="collector/thread.c:466 report/main.c:20"`.  A mutant is one random change in one function of a C
file: it is compiled outside the tree and linked into the unit tests that run the function, the most telling ones first,
until one of them fails.  Which test runs which function is measured once and kept in FOLDER/mutate/map.json; remove that
file after large changes.  Survivors are shown as diffs, and the exit status is 1 where there are any.

equivalent.tsv holds changes that no test can notice: file, function, line, text before, text after, reason.
"""
import argparse
import bisect
import collections
import concurrent.futures
import dataclasses
import difflib
import glob
import importlib.machinery
import importlib.util
import json
import os
import queue
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
EQUIVALENT = os.path.join(HERE, "equivalent.tsv")
MAP_CFLAGS = "-O1 -g0 -w -fno-inline -fsanitize-coverage=trace-pc"
HIDDEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|^#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
OTHERS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+", "/": "*",
          "%": "+", "+=": "-=", "-=": "+=", "&&": "||", "||": "&&", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
          "true": "false", "false": "true", "0": "1"}
PATTERNS = {
    "comparison": r"(?<= )(?:[<>=!]=|[<>])(?= )",
    "arithmetic": r"(?<= )(?:[-+*/%]|\+=|-=)(?= )",
    "logic": r"&&|\|\|",
    "bits": r"(?<= )(?:[&|]|<<|>>)(?= )",
    "constant": r"(?<![\w.\[])\d+(?![\w.])",
    "condition": r"(?<=\bif )\([^;{}]*?\)(?=\n| \{)|(?<=\bwhile )\([^;{}]*?\)(?=\n| \{)",
    "return": r"(?<=\breturn )[^;]+(?=;)",
    "statement": r"(?<=\n)\t+(?:break|\*?[\w.>\[\]-]+(?:\(| [-+*/|&]?= |\+\+|--)[^;{}]*);",
}
# No mutants are made within these, nor in functions that free: only the tests under sanitizers notice too little memory
# and leaks. No test notices another order of equal elements, a larger number whose sign alone counts, or another hash.
UNNOTICED = {
    "arithmetic": r"\b(?:[cm]alloc|gp_spill_take\w*)\([^;]*;",
    "bits": r"\b(?:[cm]alloc|gp_spill_take\w*)\([^;]*;|\n.*\bhash\b.*",
    "constant": r"\b(?:[cm]alloc|gp_spill_take\w*)\([^;]*;|\? -?1 : -?1\b",
    "comparison": r"\breturn \([^()\n]* [<>] [^()\n]*\) - \([^()\n]* [<>] [^()\n]*\);"
                  r"|\n.*\? -?1 : -?1\b.*",
    "statement": r"\n\t+\w*free\([^;]*;",
}
UNNOTICED_IN = re.compile(r"_free$|hash|^mix$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A change of one text in one function."""
    kind: str
    path: str
    function: str
    line: int
    start: int
    end: int
    text: str

    def source(self) -> str:
        return read(self.path)

    def changed(self) -> str:
        source = self.source()
        return source[:self.start] + self.text + source[self.end:]

    def identity(self) -> tuple[str, ...]:
        """As in equivalent.tsv."""
        source = self.source()
        line = source[source.rfind("\n", 0, self.start) + 1:].split("\n")[0]
        return self.path, self.function, line.strip(), " ".join(self.before().split()), " ".join(self.text.split())

    def before(self) -> str:
        return self.source()[self.start:self.end]

    def diff(self) -> str:
        lines = difflib.unified_diff(self.source().splitlines(), self.changed().splitlines(), lineterm="", n=2)
        return "".join(f"    {line}\n" for line in list(lines)[2:])


@dataclasses.dataclass
class Test:
    """A unit test: how it is linked, what it runs, which sources it includes."""
    link: list[str]
    includes: frozenset[str] = frozenset()
    seconds: float = 0.0
    functions: frozenset[str] = frozenset()


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def load_run() -> object:
    """tests/run, which knows in what surroundings a test runs."""
    path = os.path.join(os.path.dirname(HERE), "run")
    loader = importlib.machinery.SourceFileLoader("tests_run", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tests_run", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


RUN = load_run()
PREFIX: list[str] = RUN.OWN_SHM if RUN.may_mount() else []


# ---- mutants ----

def functions_of(masked: str) -> Iterator[tuple[str, int, int]]:
    """(name, start, end) of each body; by the layout of .clang-format, its braces stand in column 0."""
    for body in re.finditer(r"^\{\n.*?^\}", masked, re.S | re.M):
        head = masked[:body.start()].rstrip()
        head = head[max(head.rfind(end) for end in ("\n}", ";", "\n\n")) + 1:]
        names = [name for name in re.findall(r"(\w+)\(", head) if not name.startswith("__")]
        if names:
            yield names[0], body.start(), body.end()


def replacement(kind: str, text: str) -> str:
    if kind == "condition":
        return f"(!{text})"
    if kind == "statement":
        return ";"
    if kind == "return":
        return OTHERS.get(text, "0") if text != "1" else "0"
    return OTHERS[text] if text in OTHERS else str(int(text) + 1)


def mutants_of(path: str) -> Iterator[Mutant]:
    source = read(path)
    masked = HIDDEN.sub(lambda hidden: re.sub(r"[^\n]", " ", hidden.group()), source)
    for function, first, last in functions_of(masked):
        if UNNOTICED_IN.search(function):
            continue
        for kind, pattern in PATTERNS.items():
            unnoticed = [span.span() for span in re.compile(UNNOTICED.get(kind, r"(?!)")).finditer(masked, first, last)]
            for found in re.compile(pattern).finditer(masked, first, last):
                start = found.end() - len(found.group().lstrip())
                if any(begin <= start and found.end() <= end for begin, end in unnoticed):
                    continue
                text = source[start:found.end()]
                yield Mutant(kind, path, function, source.count("\n", 0, start) + 1, start, found.end(), replacement(kind, text))


def draw(places: list[str], seed: int) -> Iterator[Mutant]:
    """All mutants of folders and files in a random order, as many of each kind; before them those of single lines."""
    lines = [place.split(":") for place in places if ":" in place]
    folders = [place for place in places if ":" not in place]
    yield from (mutant for path, line in lines for mutant in mutants_of(path) if mutant.line == int(line))
    chance = random.Random(seed)
    kinds: dict[str, list[Mutant]] = collections.defaultdict(list)
    for folder in folders:
        for path in sorted(glob.glob(f"{folder}/**/*.c", recursive=True)) or [folder]:
            for mutant in mutants_of(path):
                kinds[mutant.kind].append(mutant)
    for of_kind in kinds.values():
        chance.shuffle(of_kind)
    while kinds:
        for kind in chance.sample(sorted(kinds), len(kinds)):
            yield kinds[kind].pop()
            if not kinds[kind]:
                del kinds[kind]


def read_equivalents() -> set[tuple[str, ...]]:
    lines = [line for line in read(EQUIVALENT).splitlines() if line and not line.startswith("#")]
    return {tuple(line.split("\t")[:5]) for line in lines}


# ---- building and running ----

def commands_of(build: str) -> tuple[dict[str, list[str]], dict[str, Test]]:
    """How `make` compiles each source, and links each unit test."""
    output = subprocess.run(["make", "-n", "V=1", f"O={build}", "all", "unit-programs"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    compiles: dict[str, list[str]] = {}
    tests: dict[str, Test] = {}
    for line in output.replace("\\\n", " ").splitlines():
        if " -o " not in line or "|" in line or ">" in line:
            continue
        words = shlex.split(line)
        target = words[words.index("-o") + 1]
        words = [word for word in words if word not in ("-MMD", "-MP")]
        if "-c" in words and words[-1].endswith(".c"):
            compiles[words[-1]] = words
        elif target.endswith("_test"):
            source = read(os.path.relpath(target, build) + ".c")
            tests[target] = Test(words, frozenset(re.findall(r'#include "(\w+/.*\.c)"', source)))
    return compiles, tests


def run_test(program: str, build: str, limit: float, seen: str = "") -> bool | None:
    """Whether it passes, or None where it runs longer than the limit."""
    environment = {**RUN.clean_environment(), "O": os.path.abspath(build), "MUTATE_SEEN": seen}
    with subprocess.Popen(PREFIX + [program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          env=environment, start_new_session=True) as process:
        try:
            return process.wait(limit) in (0, RUN.SKIPPED)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)


# ---- which test runs what ----

def symbols_of(program: str) -> tuple[list[int], list[str]]:
    """Addresses and names of the functions; of those of one file alone, with the file's name.  Linkers make hidden
    functions local, too, as HIDDEN or of a file without a name; those have one name in the program."""
    found = []
    file = ""
    for line in subprocess.run(["readelf", "-sW", program], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        words = line.split()
        if len(words) >= 7 and words[3] == "FILE":
            file = words[7] if len(words) > 7 else ""
        elif len(words) >= 8 and words[3] == "FUNC":
            name = words[7].split(".")[0]
            found.append((int(words[1], 16), f"{file}:{name}" if file and words[4:6] == ["LOCAL", "DEFAULT"] else name))
    found.sort()
    return [address for address, _ in found], [name for _, name in found]


def measure(name: str, program: str, seen: str) -> tuple[float, list[str]] | None:
    """Of a test that passes, at least where nothing is instrumented."""
    start = time.monotonic()
    folder = os.path.dirname(seen)
    inner, own = os.path.join(folder, "build"), os.path.dirname(folder)
    passed = run_test(program, inner, 120, seen) or run_test(os.path.abspath(name), own, 120)
    seconds = time.monotonic() - start
    if not passed or not os.path.exists(seen):
        return None
    addresses, names = symbols_of(program)
    with open(seen, "rb") as file:
        ran = [hit.start() for hit in re.finditer(b"\x01", file.read())]
    os.remove(seen)
    return seconds, sorted({names[bisect.bisect_right(addresses, at) - 1] for at in ran})


def measure_all(build: str, names: list[str], jobs: int) -> dict[str, tuple[float, list[str]]]:
    """Seconds and functions of each of these tests, by an instrumented build."""
    folder = os.path.abspath(os.path.join(build, "mutate"))
    inner, helper = os.path.join(folder, "build"), os.path.join(folder, "seen.so")
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", helper, os.path.join(HERE, "seen.c")], check=True)
    programs = [os.path.join(inner, os.path.relpath(name, build)) for name in names]
    subprocess.run(["make", "-s", f"-j{jobs}", f"O={inner}", f"CFLAGS={MAP_CFLAGS}",
                    f"LDFLAGS={os.environ.get('LDFLAGS', '')} -Wl,--no-as-needed {helper}", *programs], check=True)
    notes = [os.path.join(folder, f"seen.{number}") for number in range(len(names))]
    found = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, measured in zip(names, pool.map(measure, names, programs, notes)):
            if measured is None:
                print(f"left out, for it does not pass: {name}")
            found[name] = measured or (0.0, [])
    return found


def take_map(build: str, tests: dict[str, Test], jobs: int) -> None:
    """Of tests that are not in the map yet, it is measured now."""
    path = os.path.join(build, "mutate", "map.json")
    found = json.loads(read(path)) if os.path.exists(path) else {}
    missing = sorted(set(tests) - set(found))
    if missing:
        print(f"measuring which functions {len(missing)} tests run", flush=True)
        found.update(measure_all(build, missing, jobs))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file)
    for name, test in tests.items():
        test.seconds, test.functions = found[name][0], frozenset(found[name][1])


# ---- one mutant ----

class Mutation:
    """Tries mutants, each in a folder of the worker that has it."""

    def __init__(self, build: str, jobs: int, limit: float):
        self.build, self.limit = build, limit
        self.compiles, self.tests = commands_of(build)
        self.equivalents = read_equivalents()
        take_map(build, self.tests, jobs)
        self.folders: queue.Queue[str] = queue.Queue()
        for job in range(jobs):
            folder = os.path.join(build, "mutate", str(job))
            os.makedirs(folder, exist_ok=True)
            self.folders.put(folder)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The test of the module, those of its folder, then short and special ones."""
        module = os.path.splitext(os.path.basename(mutant.path))[0]
        folder = os.path.join(self.build, "tests", os.path.dirname(mutant.path))
        names = {mutant.function, f"{module}.c:{mutant.function}"}

        def order(name: str) -> tuple[bool, bool, float]:
            test = self.tests[name]
            is_namesake = os.path.basename(name) == f"{module}_test" or mutant.path in test.includes
            return not is_namesake, os.path.dirname(name) != folder, (test.seconds + 0.5) * (len(test.functions) + 1)
        return sorted((name for name, test in self.tests.items()
                       if names & test.functions or mutant.path in test.includes), key=order)

    def compile(self, source: str, path: str, folder: str, *flags: str) -> str | None:
        """The object of a changed source, or None where it does not compile."""
        words = self.compiles[path]
        copy, object_file = os.path.join(folder, path), os.path.join(folder, "mutant.o")
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as file:
            file.write(source)
        command = [*words[:words.index("-o")], "-w", "-iquote", os.path.dirname(path), *flags, "-o", object_file, copy]
        result = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return object_file if result.returncode == 0 else None

    def is_same_code(self, mutant: Mutant, folder: str) -> bool:
        objects = []
        for source in (mutant.source(), mutant.changed()):
            with open(self.compile(source, mutant.path, folder, "-g0") or os.devnull, "rb") as file:
                objects.append(file.read())
        return objects[0] == objects[1]

    def fails(self, name: str, mutant: Mutant, object_file: str, folder: str) -> bool:
        program = os.path.join(folder, os.path.basename(name))
        replaced = os.path.join(self.build, os.path.splitext(mutant.path)[0] + ".o")
        words = [object_file if word == replaced else program if word == name else word for word in self.tests[name].link]
        archives = [at for at, word in enumerate(words) if word.endswith(".a")]
        if archives and mutant.path not in self.tests[name].includes:
            words.insert(archives[0], object_file)  # before the archive that has the module
        if subprocess.run([words[0], "-w", "-iquote", folder, *words[1:]], check=False, stderr=subprocess.DEVNULL).returncode:
            return False
        passed = run_test(os.path.abspath(program), self.build, 3 * self.tests[name].seconds + 3)
        os.remove(program)
        return not passed

    def attempt(self, mutant: Mutant, folder: str) -> tuple[str, str]:
        object_file = self.compile(mutant.changed(), mutant.path, folder)
        if mutant.identity() in self.equivalents:
            return "equivalent", "as marked"
        if object_file is None:
            return "invalid", ""
        names = self.tests_of(mutant)
        start, tried = time.monotonic(), 0
        for name in names:
            if time.monotonic() - start > self.limit:
                break
            tried += 1
            if self.fails(name, mutant, object_file, folder):
                return "killed", f"by {os.path.relpath(name, self.build)}, {time.monotonic() - start:.1f} s"
        if self.is_same_code(mutant, folder):
            return "equivalent", "compiled to the same"
        return "survived", f"{tried} of {len(names)} tests that run it" if names else "no unit test runs it"

    def work(self, mutant: Mutant) -> tuple[Mutant, str, str]:
        folder = self.folders.get()
        try:
            return (mutant, *self.attempt(mutant, folder))
        finally:
            os.remove(os.path.join(folder, mutant.path))
            self.folders.put(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--mutants", type=int, default=110)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=60, help="seconds of tests for each mutant")
    parser.add_argument("places", nargs="*", default=["report", "collector", "stacks", "inject"])
    arguments = parser.parse_args()
    mutation = Mutation(arguments.build, arguments.jobs, arguments.limit)
    chosen = (mutant for mutant in draw(arguments.places, arguments.seed) if mutant.path in mutation.compiles)
    counts = collections.Counter[str]()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        while sum(counts.values()) < arguments.mutants:
            wanted = arguments.mutants - sum(counts.values())
            batch = [mutant for mutant, _ in zip(chosen, range(wanted))]
            if not batch:
                break
            for mutant, result, why in pool.map(mutation.work, batch):
                if result == "invalid":
                    continue
                counts[result] += 1
                print(f"{result:10} {mutant.path}:{mutant.line} {mutant.function}() {mutant.kind}: {why}", flush=True)
                if result == "survived":
                    print(mutant.diff(), end="", flush=True)
    meaningful = counts["killed"] + counts["survived"]
    print(f"{counts['killed']} killed, {counts['survived']} survived, {counts['equivalent']} equivalent: "
          f"{100 * counts['killed'] / max(meaningful, 1):.0f} % killed")
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
