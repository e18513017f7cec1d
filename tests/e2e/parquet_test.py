"""The folder of Parquet tables, compared with the CSV export and the tables of `gpuprof summary`."""
import csv
import json
import os

import support
from support import Case
import parquet  # in the folder that support names

KINDS = {"ops": ("kernel", "copy", "memset", "graph"), "calls": ("call",), "ranges": ("range", "start/end range", "mark"),
         "memory": ("allocation", "free"), "samples": ("host sample",), "syncs": ("sync",),
         "energy": ("energy sample",), "missing": ("missing",)}
TABLES = [*KINDS, "others", "ranks", "collectives", "iterations", "idle"]


class Parquet(Case):

    def record(self, program, name, options=(), **variables):
        done = self.run_program([os.path.join(support.BUILD, "programs", program)], support.LAUNCHED, ["--chrome", "none", "-o", self.path(name), *options], **variables)
        self.assertEqual(done.returncode, 0, done.stderr)

    def export(self, source, *options):
        done = self.run_gpuprof("export", "-F", "parquet", *options, source)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def tables(self, folder):
        """{table: rows of all its files, as {column: value}}"""
        self.assertEqual(sorted(os.listdir(folder)), sorted(TABLES))
        found = {}
        for table in TABLES:
            files = [parquet.read(os.path.join(folder, table, name)) for name in sorted(os.listdir(os.path.join(folder, table)))]
            found[table] = [dict(zip(columns, row)) for columns in files for row in zip(*columns.values())]
        return found

    def csv_rows(self, trace):
        self.run_gpuprof("export", "-F", "csv", "-o", self.path("t.csv"), trace)
        with open(self.path("t.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_events_are_those_of_csv(self):
        for program in ("zoo", "ranges"):
            self.record(program, program)
            trace = self.path(program + ".gpuprof")
            self.export(trace)
            found, rows = self.tables(self.path(program + ".parquet")), self.csv_rows(trace)
            base_ns = next(int(row["unix_ns"]) - int(row["start_ns"]) for row in rows if row["kind"] == "process")
            for table, kinds in KINDS.items():
                expected = [row for row in rows if row["kind"] in kinds]
                self.assertEqual(len(found[table]), len(expected), table)
                for row, wanted in zip(found[table], expected):
                    for column in set(row) & set(wanted):
                        value = row[column]
                        if column == "start_ns" and value is not None:
                            value -= base_ns
                        if column in ("address", "pool") and value is not None:
                            value = f"0x{value:x}"
                        self.assertEqual("" if value is None else str(value), wanted[column], (table, column))
            self.assertEqual(len(found["others"]), sum(row["kind"] not in sum(KINDS.values(), ()) for row in rows))

    def test_iterations_and_gaps_are_those_of_the_tables(self):
        self.record("demo", "demo")
        trace = self.path("demo.gpuprof")
        self.export(trace, "-o", self.path("out"))
        found = self.tables(self.path("out"))
        tables = {table["report"]: table["rows"] for table in json.loads(
            self.run_gpuprof("summary", "--by", "iteration,gap,kind", "--format", "json", trace).stdout)}
        self.assertEqual([(row["number"], row["part"], row["duration_ns"]) for row in found["iterations"]],
                         [(row["Number"], row["Part"], row["Wall"]) for row in tables["iteration"]])
        gaps = sorted((row["duration_ns"], row["cause"]) for row in found["idle"])[-5:]
        self.assertEqual(gaps, sorted((row["Duration"], row["Cause"]) for row in tables["gap"])[-5:])
        kinds = {row["Kind"]: row["Count"] for row in tables["kind"]}
        purposes = [row["purpose"] for row in found["ops"] if row["kind"] == "kernel"]
        self.assertEqual({purpose: purposes.count(purpose) for purpose in set(purposes)},
                         {kind: count for kind, count in kinds.items() if kind in purposes})

    def test_a_job_has_files_by_host_and_groups_by_rank(self):
        os.mkdir(self.path("job"))
        for rank in range(3):
            self.record("launch", f"job/{rank}", RANK=rank, WORLD_SIZE=4, LOCAL_RANK=rank % 2)
        self.export(self.path("job"), "-o", self.path("out"))
        ranks = self.tables(self.path("out"))["ranks"]
        self.assertEqual([(row["rank"], row["world_size"], row["local_rank"], row["ended"], row["is_complete"]) for row in ranks],
                         [(0, 4, 0, "exit 0", 1), (1, 4, 1, "exit 0", 1), (2, 4, 0, "exit 0", 1)])
        (name,) = os.listdir(self.path("out", "ops"))
        self.assertEqual(name, os.uname().nodename + ".parquet")
        groups = parquet.read_groups(self.path("out", "ops", name))
        self.assertEqual([(set(group["rank"]), len(group["rank"])) for group in groups], [({0}, 500), ({1}, 500), ({2}, 500)])

    def test_files_of_an_earlier_export_are_not_mixed_in(self):
        self.record("launch", "t")
        os.mkdir(self.path("out"))
        self.export(self.path("t.gpuprof"), "-o", self.path("out"))
        done = self.run_gpuprof("export", "-F", "parquet", "-o", self.path("out"), self.path("t.gpuprof"))
        self.assertEqual(done.returncode, 1)
        self.assert_one_line(done.stderr, self.path("out"), "-o")

    def test_a_part_of_a_trace_has_what_runs_in_it(self):
        self.record("demo", "demo")
        self.export(self.path("demo.gpuprof"), "-o", self.path("all"))
        found = self.tables(self.path("all"))
        steps = found["iterations"]
        first, last, (rank,) = steps[len(steps) // 3], steps[len(steps) // 2], found["ranks"]
        start_ns, end_ns = (ns - rank["start_ns"] for ns in (first["start_ns"] + 1, last["start_ns"] + last["duration_ns"] - 1))
        self.export(self.path("demo.gpuprof"), "--start", f"{start_ns}ns", "--end", f"{end_ns}ns", "-o", self.path("part"))
        part = self.tables(self.path("part"))
        for table in ("ops", "calls", "iterations", "idle"):
            wanted = [row for row in found[table] if row["start_ns"] is not None and row["start_ns"] < rank["start_ns"] + end_ns
                      and row["start_ns"] + row["duration_ns"] > rank["start_ns"] + start_ns]
            least = 0 if table == "idle" else 1  # the device may be busy all the time
            self.assertTrue(least <= len(wanted) < len(found[table]), table)
            self.assertEqual(part[table], wanted, table)
        self.assertEqual(part["ranks"], found["ranks"])

    def test_a_trace_in_parts_says_what_it_leaves_out(self):
        self.record("demo", "demo")
        done = self.export(self.path("demo.gpuprof"), "--at-once", "500", "-o", self.path("out"))
        self.assertIn("iterations", done.stderr)
        whole = self.csv_rows(self.path("demo.gpuprof"))
        found = self.tables(self.path("out"))
        self.assertEqual(len(found["ops"]), sum(row["kind"] in KINDS["ops"] for row in whole))
        self.assertEqual((found["iterations"], found["idle"], found["collectives"]), ([], [], []))


if __name__ == "__main__":
    support.main()
