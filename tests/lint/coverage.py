#!/usr/bin/env python3
"""What part of the readers' lines tests run: of each module that reads what may be any bytes, and of all of them.

    tests/lint/coverage.py BUILD-FOLDER     built with --coverage, its tests were run; type make coverage

Exit status 1 where it is less than 95 % in all.
"""
import glob
import os
import re
import subprocess
import sys

LEAST = 95.0
READERS = """trace_read decode load take take_string recover save orphans ring_files merge utf8 model join memory ranges times
             payload pickle torch_snapshot frames resolve symbols elf_symbols elf_code perf_map python_code unwind_copy
             physical capture recorded lanes own_cost detail frame_names memory_left timeline chunk_order top/tail
             diff/small_file diff/thresholds import/import import/importing import/input import/pull import/texts
             import/kineto import/kineto_event import/kineto_take import/database import/api_class import/spans
             import/nsys import/nsys_facts import/nsys_host import/nsys_operations import/nsys_stacks host_looks gzip demangle
             elf_functions pass/one_pass pass/chunk_index pass/sums diff/baseline""".split()


def covered(folder, name):
    """(lines that ran, lines) of a module."""
    notes = os.path.join(folder, "report", name + ".gcda")
    if not os.path.exists(notes):
        sys.exit(f"{notes} is not there: no test of report/{name}.c ran; type make coverage")
    output = subprocess.run(["gcov", "-n", "-o", os.path.dirname(notes), notes], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, universal_newlines=True, check=True).stdout
    found = re.search(rf"File 'report/{name}\.c'\nLines executed:([\d.]+)% of (\d+)", output)
    lines = int(found.group(2))
    return round(float(found.group(1)) / 100 * lines), lines


def main():
    if len(sys.argv) != 2 or not glob.glob(os.path.join(sys.argv[1], "report", "*.gcda")):
        sys.exit(__doc__)
    modules = [(name, *covered(sys.argv[1], name)) for name in READERS]
    for name, ran, lines in sorted(modules, key=lambda module: module[1] / module[2]):
        print(f"{100 * ran / lines:6.1f} % of {lines:5} lines  report/{name}.c")
    ran, lines = sum(module[1] for module in modules), sum(module[2] for module in modules)
    print(f"{100 * ran / lines:6.1f} % of {lines:5} lines of the readers")
    return 1 if 100 * ran / lines < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
