#!/usr/bin/env python3
"""Compare the walk with gdb's backtrace in real programs, as far as they are on this machine.

    tests/stacks/gdb_test.py [PROGRAM...]       names from PROGRAMS; O is the build folder
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(os.environ.get("O", "build"), "tests", "stacks", "libeverywhere.so")
SKIPPED = 77

SUM = "print(sum(i * i for i in range(1000)))"
PROGRAMS = {
    "awk": ["awk", "BEGIN { for (i = 0; i < 2000; i++) a[i] = i \"x\"; print length(a) }"],
    "bash": ["bash", "-c", "for i in {1..200}; do x[$i]=$((i * i)); done; echo ${x[*]}"],
    "bc": ["bc", "-l", "FILE:2^300\nscale=50\n4*a(1)\n"],
    "cc1": ["CC1", "-quiet", "-O2", "-o", "/dev/null", "FILE:int f(int x) { return x * x + 1; }\n"],
    "clang": ["clang", "-cc1", "-O2", "-S", "-x", "c", "-o", "/dev/null", "FILE:int f(int x) { return x * x + 1; }\n"],
    "cmake": ["cmake", "--help-command-list"],
    "curl": ["curl", "--version"],
    "dash": ["dash", "-c", "i=0; while [ $i -lt 500 ]; do i=$((i + 1)); done; echo $i"],
    "diff": ["diff", "-r", "/etc/apt", "/etc/dpkg"],
    "file": ["file", "/bin/ls"],
    "find": ["find", "/etc", "-name", "*.conf"],
    "git": ["git", "--no-pager", "log", "--stat", "-20"],
    "ld": ["ld", "--verbose"],
    "ls": ["ls", "-lR", "/etc/apt"],
    "make": ["make", "-n", "-f", "FILE:all: a b\na b:\n\techo $(sort z y x)\n"],
    "objdump": ["objdump", "-d", "/bin/true"],
    "openssl": ["openssl", "genrsa", "512"],
    "node": ["node", "-e", "console.log([...Array(500).keys()].map(x => JSON.stringify({x})).sort().join())"],
    "perl": ["perl", "-e", "my %h; $h{$_} = join ',', sort map { $_ * 7 % 13 } 1..$_ for 1..200; print scalar keys %h"],
    "python3": ["python3", "-c", SUM],
    "sed": ["sed", "-n", "s/a\\(.*\\)b/\\1/p", "/etc/services"],
    "sort": ["sort", "/etc/services"],
    "sqlite3": ["sqlite3", ":memory:", "create table t(a, b); insert into t values (1, 2); select sum(a) from t;"],
    "tar": ["tar", "-cf", "-", "/etc/apt"],
    "xz": ["xz", "-c", "/etc/services"],
}


def add_pythons():
    for minor in range(8, 15):
        found = sorted(glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin/python3.{minor}")))
        for path in found + glob.glob(f"/usr/bin/python3.{minor}"):
            PROGRAMS[path] = [path, "-c", SUM]


def complete(command, folder, name):
    """The command with temporary files for its FILE: words; None if the program is not on this
    machine.
    """
    words = []
    if command[0] == "CC1" and shutil.which("gcc"):
        cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, check=True)
        command = [cc1.stdout.decode().strip(), *command[1:]]
    for word in command:
        if word.startswith("FILE:"):
            path = os.path.join(folder, os.path.basename(name) + ".c")
            with open(path, "w", encoding="utf-8") as file:
                file.write(word[5:])
            word = path
        words.append(word)
    program = shutil.which(words[0])
    return [program, *words[1:]] if program else None


def check(name, folder):
    """(name, stops, wrong, deepest, whole), or (name, what gdb said)"""
    command = complete(PROGRAMS[name], folder, name)
    if command is None:
        return name, None
    environment = dict(os.environ, EVERYWHERE=os.path.abspath(LIBRARY), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(["gdb", "-nx", "-nh", "-q", "-batch", "-x", os.path.join(HERE, "gdb_compare.py"), "--args", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
                          timeout=120, check=False)
    said = done.stdout.decode("utf-8", "replace")
    found = re.search(r"^RESULT (\d+) (\d+) (\d+) (\d+)$", said, re.MULTILINE)
    return (name, *map(int, found.groups()), said) if found else (name, said)


def can_debug():
    if not shutil.which("gdb"):
        print("skipped: gdb is not on this machine")
        return False
    done = subprocess.run(["gdb", "-nx", "-q", "-batch", "-ex", "run", "--args", shutil.which("true")], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if b"exited normally" in done.stdout:
        return True
    print("skipped: gdb cannot run programs on this machine:", done.stdout.decode("utf-8", "replace").strip().splitlines()[-1:])
    return False


def main():
    add_pythons()
    names = sys.argv[1:] or sorted(PROGRAMS)
    if not can_debug():
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda name: check(name, folder), names))
    failed = False
    for name, *result in results:
        if result == [None]:
            print(f"{os.path.basename(name):<12} is not on this machine")
        elif len(result) == 1:
            failed = True
            print(f"{os.path.basename(name):<12} gdb failed:\n{result[0][-1500:]}")
        else:
            stops, wrong, deepest, whole, said = result
            failed |= wrong > 0 or stops == 0
            print(f"{os.path.basename(name):<12} {stops:3d} stacks, {wrong} wrong, {deepest} frames at most, {whole} to the end")
            if wrong or os.environ.get("VERBOSE"):
                print(said[:6000])
    sys.exit(failed)


main()
