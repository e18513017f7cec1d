"""Traces of every version of the format stay readable: tests/data/traces/ has their values."""
import json
import os
import re
import subprocess
import unittest

import support
from support import BUILD, ROOT, Case

TRACES = os.path.join(ROOT, "tests", "data", "traces")
VALUES = os.path.join(TRACES, "values.json")
# What the records say, without estimates, and without what follows from other columns.
TABLES = "kernel,copy-time,copy-size,api,sync,memory,memory-pool,graph,nvtx-gpu,stall-line,counter,energy-device,hardware-traffic"
LEFT_OUT = {"Time %", "Untimed", "Avg", "Med", "Min", "Max", "StdDev", "Meaning"}


def values(path):
    """The numbers of records of a trace by kind, and the rows of its tables."""
    counts = subprocess.run([os.path.join(BUILD, "tests", "lib", "record_counts"), path], stdout=subprocess.PIPE, universal_newlines=True, check=True)
    tables = subprocess.run([support.GPUPROF, "summary", "--by", TABLES, "--format", "json", path], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, universal_newlines=True, check=True)
    found = {"records": [{name: int(count) for name, count in (line.split() for line in counts.stdout.splitlines())}]}
    for table in json.loads(tables.stdout):
        if table["rows"]:
            found[table["report"]] = [{name: value for name, value in row.items() if name not in LEFT_OUT} for row in table["rows"]]
    return found


def fields():
    """The fields of each record kind, in their order: kind, number, then member, bytes and prediction."""
    with open(os.path.join(ROOT, "include", "gpuprof", "record.h"), encoding="utf-8") as file:
        numbers = {name: int(number) for number, name in re.findall(r"X\(user, (\d+), \w+, (\w+),", file.read())}
    with open(os.path.join(ROOT, "include", "gpuprof", "field.def"), encoding="utf-8") as file:
        rows = re.findall(r"^GP_FIELD\((\w+), (.+), (\d+), (\w+)\)", file.read(), re.MULTILINE)
    found = {}
    for kind, member, size, prediction in rows:
        found.setdefault(f"{numbers[kind]} {kind}", []).append(f"{member} {size} {prediction}")
    return found


class Compatibility(Case):

    def setUp(self):
        super().setUp()
        with open(VALUES, encoding="utf-8") as file:
            self.saved = json.load(file)

    def test_every_trace_has_its_values(self):
        self.assertEqual(sorted(self.saved["traces"]), sorted(name for name in os.listdir(TRACES) if name.endswith(".gpuprof")))
        for name, expected in self.saved["traces"].items():
            found = values(os.path.join(TRACES, name))
            for table, rows in expected.items():
                # a table may have got more columns
                shown = [{column: row.get(column) for column in old} for row, old in zip(found[table], rows)]
                self.assertEqual(shown, rows, f"{name}: {table}")
                self.assertEqual(len(found[table]), len(rows), f"{name}: {table}")

    def test_fields_are_only_added_at_the_end(self):
        """Or else an older trace would be misread: GP_TRACE_VERSION must then grow, and the reader know both."""
        now = fields()
        for kind, rows in self.saved["fields"].items():
            self.assertEqual(now[kind][:len(rows)], rows, kind)


def add():
    """The values of traces that have none yet, and the fields of today."""
    saved = {"traces": {}}
    if os.path.exists(VALUES):
        with open(VALUES, encoding="utf-8") as file:
            saved = json.load(file)
    for name in sorted(os.listdir(TRACES)):
        if name.endswith(".gpuprof") and name not in saved["traces"]:
            saved["traces"][name] = values(os.path.join(TRACES, name))
    with open(VALUES, "w", encoding="utf-8") as file:
        text = json.dumps({"fields": fields(), "traces": saved["traces"]}, indent=0, sort_keys=True)
        # a row or a kind a line
        file.write(re.sub(r"[{[]\n([^{}[\]]*)\n([}\]])", lambda match: match.group()[0] + match[1].replace("\n", " ") + match[2], text) + "\n")


if __name__ == "__main__":
    if os.environ.get("COMPATIBILITY_TEST_ADDS"):
        add()
    support.main()
