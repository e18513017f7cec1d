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
READERS = """
    trace/trace_read trace/decode load/load_model model/build/take model/build/take_string trace/recover
    trace/ring_salvage trace/orphans trace/ring_files base/kway_merge base/text/utf8 model/model
    model/build/join model/build/alloc_pairing model/build/ranges model/build/times model/payload
    codec/pickle analysis/memory/torch_snapshot model/build/frames model/build/resolve
    symbols/symbols symbols/elf_symbols symbols/elf_code symbols/perf_map symbols/python_code
    model/build/unwind_copy model/build/vmm model/build/capture model/recorded base/lanes
    analysis/host/overhead model/build/op_detail symbols/frame_names base/memory_limit
    trace/clock_sync trace/chunk_order trace/tail codec/small_file diff/thresholds import/import
    import/importing codec/input codec/json_reader codec/interner import/kineto import/kineto_event
    import/kineto_records codec/sqlite_reader import/api_class import/spans import/nsys
    import/nsys_facts import/nsys_host import/nsys_operations import/nsys_stacks
    analysis/host/python_samples codec/gzip symbols/demangle symbols/elf_functions stream/one_pass
    model/chunk_index model/sums/sums diff/baseline
""".split()


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
    if len(sys.argv) != 2 or not glob.glob(os.path.join(sys.argv[1], "report", "**", "*.gcda"), recursive=True):
        sys.exit(__doc__)
    modules = [(name, *covered(sys.argv[1], name)) for name in READERS]
    for name, ran, lines in sorted(modules, key=lambda module: module[1] / module[2]):
        print(f"{100 * ran / lines:6.1f} % of {lines:5} lines  report/{name}.c")
    ran, lines = sum(module[1] for module in modules), sum(module[2] for module in modules)
    print(f"{100 * ran / lines:6.1f} % of {lines:5} lines of the readers")
    return 1 if 100 * ran / lines < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
