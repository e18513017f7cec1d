"""Questions about all ranks of a job: both engines answer as the reports of gpuprof do."""
import csv
import glob
import importlib.util
import io
import json
import os
import signal
import subprocess
import time

import ranks_test
import support
from support import Case

LIBRARY = os.path.join(support.BUILD, "duckdb", "libduckdb.so")
DEBIAN_PYTHON = "/usr/bin/python3"  # for which Debian has Dask
RECIPES = os.path.join(support.ROOT, "recipes")
HAS_DUCKDB = os.path.exists(LIBRARY) or importlib.util.find_spec("duckdb") is not None
REDUCTIONS = 30


def has_dask():
    return subprocess.run([DEBIAN_PYTHON, "-c", "import distributed"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


class Job(Case):
    """A job that is made once, and its tables."""

    job = None

    @classmethod
    def make(cls, recording):
        raise NotImplementedError

    @classmethod
    def setUpClass(cls):
        recording = ranks_test.Ranks("run_hosts")
        recording.setUp()
        cls.addClassCleanup(recording.doCleanups)
        cls.make(recording)
        cls.job, cls.out = recording.path("job"), recording.path("out")
        done = recording.run_gpuprof("export", "-F", "parquet", "-o", cls.out, cls.job)
        recording.assertEqual(done.returncode, 0, done.stderr)

    def wait_until(self, happens):
        deadline = time.monotonic() + support.LIMIT_S
        while not happens():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def recipe(self, *arguments, status=0, path=None):
        variables = {"LIBDUCKDB": LIBRARY if os.path.exists(LIBRARY) else None, "DASK_TEMPORARY_DIRECTORY": self.folder}
        if path:
            variables["PATH"] = path + ":" + os.environ["PATH"]
        done = subprocess.run([support.GPUPROF, "recipe", *arguments], env=support.environment(**variables), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, timeout=support.LIMIT_S, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def rows(self, name, *options):
        return json.loads(self.recipe("--format", "json", *options, name, self.out).stdout)

    def table(self, words):
        done = self.run_gpuprof("summary", "--by", words, "--format", "json", "--full-names", self.job)
        return json.loads(done.stdout)["rows"]

    def skip_without_duckdb(self):
        if not HAS_DUCKDB:
            self.skipTest("needs DuckDB: tests/duckdb build/duckdb")

    @staticmethod
    def end(servers):
        for server in servers:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()

    def start_dask(self, workers):
        """The path of the scheduler's file, and the processes of the workers."""
        scheduler = self.path("scheduler.json")
        environment = support.environment(LIBDUCKDB=LIBRARY if os.path.exists(LIBRARY) else None, DASK_TEMPORARY_DIRECTORY=self.folder)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "start_new_session": True}
        servers = [subprocess.Popen([DEBIAN_PYTHON, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard",
                                     "--scheduler-file", scheduler], **quiet)]
        self.addCleanup(self.end, servers)
        self.wait_until(lambda: os.path.exists(scheduler) and os.path.getsize(scheduler) > 0)
        worker = [DEBIAN_PYTHON, "-m", "distributed.cli.dask_worker", "--scheduler-file", scheduler, "--no-dashboard", "--nthreads", "1", "--no-nanny"]
        servers += [subprocess.Popen(worker, **quiet) for _ in range(workers)]
        return scheduler, servers[1:]


class Recipes(Job):
    """Three hosts with two ranks each."""

    @classmethod
    def make(cls, recording):
        recording.run_hosts((0, 0, 0), REDUCTIONS)

    def test_late_ranks_are_those_of_the_table(self):
        self.skip_without_duckdb()
        expected = {int(row["Rank"]): (row["Count"], row["Last"], row["Held up"], row["Waited"], row["Total"])
                    for row in self.table("collective-rank")}
        found = {row["rank"]: (row["operations"], row["last"], row["held_up_ns"], row["waited_ns"], row["total_ns"])
                 for row in self.rows("collective-rank")}
        self.assertEqual(found, expected)
        self.assertEqual([row[0] for row in found.values()], [REDUCTIONS] * 6)
        expected = {row["Rank"]: (row["Held up"], row["Waited"]) for row in self.table("rank")}
        self.assertEqual({row["rank"]: (row["held_up_ns"], row["waited_ns"]) for row in self.rows("straggler")}, expected)

    def test_sums_are_those_of_the_tables(self):
        self.skip_without_duckdb()
        self.assertEqual({row["purpose"]: (row["total_ns"], row["operations"]) for row in self.rows("breakdown")},
                         {row["Kind"]: (row["Total"], row["Count"]) for row in self.table("kind")})
        communicating = {row["Rank"]: row["Communicating"] for row in self.table("rank")}
        for row in self.rows("exposed"):
            self.assertEqual((row["communicating_ns"], row["exposed_ns"]), (communicating[row["rank"]],) * 2)
            self.assertAlmostEqual(row["busy_ns"] - row["communicating_ns"], 5 * 2000, delta=10)  # five kernels of 2 us
        kernels = {}
        for row in self.rows("hist"):
            count, total_ns = kernels.get(row["name"], (0, 0))
            kernels[row["name"]] = (count + row["operations"], total_ns + row["total_ns"])
            self.assertTrue(row["from_ns"] <= row["total_ns"] / row["operations"] < 2 * row["from_ns"], row)
        self.assertEqual(kernels, {row["Name"]: (row["Count"], row["Total"]) for row in self.table("kernel")})

    def test_aligned_clocks_have_no_distance_left(self):
        self.skip_without_duckdb()
        clocks = self.rows("clock")
        self.assertEqual([(row["host"], row["reference"], row["operations"]) for row in sorted(clocks, key=lambda row: row["host"])],
                         [("node1", "node0", REDUCTIONS), ("node2", "node0", REDUCTIONS)])
        for row in clocks:
            self.assertLess(abs(row["ahead_ns"]), 10_000, row)

    def test_lost_ranks(self):
        self.skip_without_duckdb()
        self.assertEqual(self.rows("lost"), [])
        trace = self.path("job", "1.gpuprof")
        os.mkdir(self.path("job"))
        for rank, ending in ((0, "exit=0"), (1, "exit=3")):
            self.run_program([*support.GPU, "launch=5", ending], options=("--chrome", "none", "-o", self.path("job", str(rank))), RANK=rank, WORLD_SIZE=4)
        # only gpuprof-run knows how a process ended
        self.run_program([*support.GPU, "launch=5"], support.BARE, RANK=2, WORLD_SIZE=4, GPUPROF_OUTPUT=self.path("job", "2"),
                         GPUPROF_CHROME="none", GPUPROF_SUMMARY="none")
        self.assertTrue(os.path.exists(trace))
        self.run_gpuprof("export", "-F", "parquet", "-o", self.path("few"), self.path("job"))
        rows = json.loads(self.recipe("--format", "json", "lost", self.path("few")).stdout)
        self.assertEqual([(row["rank"], row["ended"], row["missing"]) for row in rows], [(1, "exit 3", 0), (3, "no trace", 1)])

    def test_ranks_that_were_left_out_are_not_lost(self):
        self.skip_without_duckdb()
        os.mkdir(self.path("job"))
        for rank in (0, 2):
            self.run_program([*support.GPU, "launch=5"], options=("--chrome", "none", "--ranks", "0,2-3", "-o", self.path("job", str(rank))), RANK=rank, WORLD_SIZE=5)
        self.run_gpuprof("export", "-F", "parquet", "-o", self.path("some"), self.path("job"))
        rows = json.loads(self.recipe("--format", "json", "lost", self.path("some")).stdout)
        self.assertEqual([(row["rank"], row["missing"]) for row in rows], [(3, 1)])

    def test_busy_slices_are_those_without_gaps(self):
        """By rank: the sum of its busy time over all slices."""
        self.skip_without_duckdb()
        busy_ns = {row["rank"]: row["busy_ns"] for row in self.rows("exposed")}
        own = self.write("span.sql", "-- map\nSELECT rank, start_ns, duration_ns FROM ranks\n-- reduce\nSELECT * FROM mapped\n")
        spans = {row["rank"]: (row["start_ns"], row["start_ns"] + row["duration_ns"]) for row in json.loads(self.recipe("--format", "json", self.path(own), self.out).stdout)}
        first_ns, last_ns = min(start for start, _ in spans.values()), max(end for _, end in spans.values())
        slice_ns, found_ns = (last_ns - first_ns) // 60, dict.fromkeys(spans, 0)
        for row in self.rows("util-map"):
            begins_ns = first_ns + row["slice"] * slice_ns
            covered_ns = min(begins_ns + slice_ns, spans[row["rank"]][1]) - max(begins_ns, spans[row["rank"]][0])
            found_ns[row["rank"]] += covered_ns * row["busy_percent"] / 100
        for rank, ns in busy_ns.items():
            self.assertAlmostEqual(found_ns[rank] / ns, 1, delta=0.02)

    def test_dask_starts_its_own_workers(self):
        self.skip_without_duckdb()
        if not has_dask():
            self.skipTest("needs Dask: python3-distributed")
        for name in ("breakdown", "busbw"):  # without a combine step; without any row
            one = self.recipe("--format", "csv", name, self.out).stdout
            many = self.recipe("--format", "csv", "--engine", "dask", name, self.out, path=os.path.dirname(DEBIAN_PYTHON)).stdout
            self.assertEqual(many, one)
        self.assertEqual([name for name in os.listdir(self.out) if name.startswith(".")], [])

    def test_a_worker_that_is_killed_changes_nothing(self):
        self.skip_without_duckdb()
        if not has_dask():
            self.skipTest("needs Dask: python3-distributed")
        recipe = self.write("kill.sql", "-- map\nSELECT rank, host, count(*) AS n FROM ops GROUP BY ALL\n-- reduce\nSELECT * FROM mapped ORDER BY rank\n")
        scheduler, workers = self.start_dask(2)
        environment = support.environment(LIBDUCKDB=LIBRARY if os.path.exists(LIBRARY) else None, DASK_TEMPORARY_DIRECTORY=self.folder)
        running = subprocess.Popen([support.GPUPROF, "recipe", "--format", "csv", "--scheduler", scheduler, recipe, self.out],
                                   env=dict(environment, PATH="/usr/bin:" + os.environ["PATH"]), stdout=subprocess.PIPE, universal_newlines=True)
        self.wait_until(lambda: glob.glob(os.path.join(self.out, ".recipe-*", "map-*")) or running.poll() is not None)
        os.killpg(workers[0].pid, signal.SIGKILL)
        rows = list(csv.DictReader(io.StringIO(running.communicate(timeout=support.LIMIT_S)[0])))
        self.assertEqual([(row["rank"], row["n"]) for row in rows], [(str(rank), str(5 + REDUCTIONS)) for rank in range(6)])

    def test_people_see_no_pids(self):
        self.skip_without_duckdb()
        head = self.recipe("pace", self.out).stdout.splitlines()[0].split()
        self.assertEqual((head[:2], "pid" in head), (["rank", "host"], False))

    def test_errors_say_what_to_type(self):
        self.assert_one_line(self.recipe("nothing", self.out, status=1).stderr, "'nothing'", "straggler")
        self.assert_one_line(self.recipe("lost", self.path(), status=1).stderr, "gpuprof export -F parquet")
        self.assert_one_line(self.recipe(status=2).stderr, "gpuprof recipe --list")
        self.assertIn("no trace", self.recipe("lost").stdout)
        listed = self.recipe("--list").stdout.splitlines()
        self.assertEqual([line.split()[0] + ".sql" for line in listed], sorted(os.path.basename(path) for path in glob.glob(RECIPES + "/*.sql")))
        self.assertTrue(all(len(line.split()) > 3 for line in listed), listed)


class Synthetic(Job):
    """A job of 64 ranks with NCCL's ranges: rank 5 is late by its host, rank 48 by its GPU, rank 17 was killed, rank 40 has no trace."""

    @classmethod
    def make(cls, recording):
        recording.make_job(64, 16)

    def test_bandwidths_are_those_of_the_table(self):
        self.skip_without_duckdb()
        expected = {(int(row["Communicator"], 16), row["Size"]): (row["Ranks"], row["Count"], row["Med"], row["Min"], row["Bus"])
                    for row in self.table("bus-bandwidth")}
        found = {(row["communicator"], row["bytes"]): (row["ranks"], row["operations"], row["median_ns"], row["shortest_ns"], row["bus_gb_per_s"])
                 for row in self.rows("busbw")}
        self.assertEqual(found.keys(), expected.keys())
        for key, values in found.items():
            for value, wanted in zip(values, expected[key]):
                self.assertAlmostEqual(value, wanted, delta=1, msg=key)

    def test_ranks_are_those_of_the_table(self):
        self.skip_without_duckdb()
        ranks = {row["Rank"]: row for row in self.table("rank")}
        for row in self.rows("pace"):
            self.assertAlmostEqual(row["median_ns"], ranks[row["rank"]]["Step"], delta=1)
        self.assertEqual({row["rank"]: (row["held_up_ns"], row["waited_ns"]) for row in self.rows("straggler")},
                         {rank: (row["Held up"], row["Waited"]) for rank, row in ranks.items()})
        computing = sorted(row["Computing"] for row in ranks.values())  # of one kernel
        slower = self.rows("diff-ranks")
        self.assertEqual(slower[0]["rank"], 48)
        for row in slower:
            self.assertEqual((row["total_ns"], row["median_ns"]), (ranks[row["rank"]]["Computing"], computing[len(computing) // 2]))

    def test_lost_ranks_are_those_of_the_summary(self):
        self.skip_without_duckdb()
        shown = json.loads(self.run_gpuprof("summary", "--format", "json", self.job).stdout)
        job, *others = next(document["ranks"] for document in shown if "ranks" in document)
        incomplete = [row["rank"] for row in others if row.get("ended") == "incomplete"]
        self.assertEqual([(row["rank"], row["missing"]) for row in self.rows("lost")],
                         [*((rank, 0) for rank in incomplete), (int(job["without_trace"]), 1)])

    def test_dask_gives_the_same_rows_for_every_recipe(self):
        self.skip_without_duckdb()
        if not has_dask():
            self.skipTest("needs Dask: python3-distributed")
        scheduler, _ = self.start_dask(1)
        for path in sorted(glob.glob(RECIPES + "/*.sql")):
            name = os.path.basename(path)[:-len(".sql")]
            one = self.recipe("--format", "csv", name, self.out).stdout
            many = self.recipe("--format", "csv", "--scheduler", scheduler, name, self.out, path=os.path.dirname(DEBIAN_PYTHON)).stdout
            self.assertEqual(many, one, name)


if __name__ == "__main__":
    support.main()
