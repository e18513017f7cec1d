"""A job of several ranks, read as one folder."""
import json
import os
import subprocess

import support
from support import Case

GPU = os.path.join(support.ROOT, "tests", "e2e", "gpu.py")
WORLD_SIZE = 4


# A host whose clocks are CLOCK_SKEW_NS ahead for gpuprof's library; the simulated device has the true clocks.
SKEWED_CLOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
	const char *skew = getenv("CLOCK_SKEW_NS");
	int result = (int)syscall(SYS_clock_gettime, clock, time);
	Dl_info caller;
	long long ns;

	if (!skew || result || clock > CLOCK_MONOTONIC || !dladdr(__builtin_return_address(0), &caller) ||
	    !strstr(caller.dli_fname, "libgpuprof"))
		return result;
	ns = time->tv_nsec + atoll(skew);
	time->tv_sec += ns / 1000000000;
	time->tv_nsec = ns % 1000000000;
	return 0;
}
"""

# A separate host: the file $1 has its boot id, and $2 is its name.
HOST = ["unshare", "-m", "-u", *(["-r"] if os.geteuid() else []), "sh", "-c",
        'mount --bind "$1" /proc/sys/kernel/random/boot_id && hostname "$2" || exit 77; shift 2; exec "$@"', "sh"]


class Ranks(Case):

    def record(self, rank, host, *work, status=0, options=(), way=support.LAUNCHED, **variables):
        """Record one rank.  Returns the lines that gpuprof printed."""
        os.makedirs(self.path("job", host), exist_ok=True)
        done = self.run_program(["python3", GPU, *work], way, options=("-o", self.path("job", host, "%r"), *options),
                                RANK=rank, WORLD_SIZE=WORLD_SIZE, GPUSIM_NODE=rank, **variables)
        self.assertEqual(done.returncode, status, done.stderr)
        return support.own_lines(done.stderr)

    def ranks(self):
        done = self.run_gpuprof("summary", "--format", "json", self.path("job"))
        return next(document["ranks"] for document in json.loads(done.stdout) if "ranks" in document)

    def test_a_folder_of_hosts_is_one_job(self):
        self.assert_one_line("\n".join(self.record(0, "a", "launch=20")), "all 4", "gpuprof summary " + self.path("job", "a"))
        self.assertEqual(self.record(1, "a", "launch=20"), [])
        self.record(3, "b", "launch=20", "raise=9", status=-9)
        self.assertEqual(sorted(os.listdir(self.path("job", "a"))), ["00000.gpuprof", "00001.gpuprof"])
        ranks = self.ranks()
        self.assertEqual(ranks[0], {"id": "job", "ranks": 3, "world_size": 4, "without_trace": "2"})
        self.assertEqual([(row["rank"], row["ended"]) for row in ranks[1:]], [(3, "SIGKILL")])
        table = json.loads(self.run_gpuprof("summary", "--by", "rank", "--format", "json", self.path("job")).stdout)
        self.assertEqual([row["Rank"] for row in table["rows"]], [0, 1, 3])
        self.run_gpuprof("merge", "-o", self.path("all.json"), self.path("job"))
        with open(self.path("all.json"), encoding="utf-8") as file:
            names = {event["args"]["name"] for event in json.load(file)["traceEvents"] if event["name"] == "process_name"}
        self.assertEqual(sum("rank" in name for name in names), 3, names)

    def test_ranks_that_are_left_out_are_not_lost(self):
        said = [self.record(rank, "a", "launch=20", options=("--ranks", "1-3")) for rank in (0, 1, 2)]
        self.assert_one_line("\n".join(said[1]), "3 of 4", "gpuprof summary " + self.path("job", "a"))
        self.assertEqual((said[0], said[2]), ([], []))
        self.assertEqual(sorted(os.listdir(self.path("job", "a"))), ["00001.gpuprof", "00002.gpuprof"])
        self.assertEqual(self.ranks()[0], {"id": "job", "ranks": 2, "world_size": 4, "wanted": "1-3", "without_trace": "3"})

    def test_a_list_without_a_rank_of_the_job_is_said(self):
        said = [self.record(rank, "a", "launch=1", options=("--ranks", "64")) for rank in (0, 1)]
        self.assert_one_line("\n".join(said[0]), "0 of 4")
        self.assertEqual((said[1], os.listdir(self.path("job", "a"))), ([], []))

    def test_a_job_that_was_restarted(self):
        """As torchrun restarts a job: both attempts have the same ranks, so no rank is missing."""
        attempts = 'for status in 1 0; do for rank in 0 1; do RANK=$rank sh -c \'"$@"; exit $0\' $status "$@"; done; done'
        os.mkdir(self.path("job"))
        done = self.run_program(["sh", "-c", attempts, "sh", "python3", GPU, "launch=20"],
                                options=("-o", self.path("job", "%r"), "--chrome", "none"), WORLD_SIZE=2)
        self.assertEqual(sorted(os.listdir(self.path("job"))), ["00000.2.gpuprof", "00000.gpuprof", "00001.2.gpuprof", "00001.gpuprof"])
        title = next(line for line in done.stderr.splitlines() if line.startswith("Ranks: "))
        self.assertRegex(title, "^Ranks: 4;.* 4 of them share a rank")
        self.assertEqual(self.ranks()[0], {"id": "job", "ranks": 4})

    def test_one_rank_of_each_host(self):
        for rank in range(4):
            said = self.record(rank, "ab"[rank // 2], "launch=20", options=("--ranks", "node"), LOCAL_RANK=rank % 2)
            self.assertEqual(len(said), rank == 0, said)
        self.assertEqual([os.listdir(self.path("job", host)) for host in "ab"], [["00000.gpuprof"], ["00002.gpuprof"]])
        self.assertEqual(self.ranks()[0], {"id": "job", "ranks": 2, "world_size": 4, "wanted": "node"})

    def test_ranks_under_a_bare_preload(self):
        for rank in (0, 1):
            said = self.record(rank, "a", "launch=1", way=support.BARE, GPUPROF_RANKS="0", GPUPROF_OUTPUT=self.path("job", "a", "%r"))
            self.assertEqual(bool(said), rank == 0, said)
        self.assertEqual(sorted(os.listdir(self.path("job", "a"))), ["00000.gpuprof", "00000.json"])

    def run_hosts(self, skews_ns, reductions):
        """Two ranks on each host, which meet in every reduction."""
        shim = self.compile("skew.so", SKEWED_CLOCKS, "-shared", "-fPIC", "-ldl")
        ranks, running = 2 * len(skews_ns), []
        os.mkdir(self.path("job"))
        for rank in range(ranks):
            host = rank // 2
            boot = self.write(f"boot{host}", f"0000000{host}-0000-4000-8000-000000000000\n")
            variables = {"LD_PRELOAD": f"{shim}:{support.LIBRARY}", "CLOCK_SKEW_NS": skews_ns[host], "RANK": rank, "WORLD_SIZE": ranks,
                         "GPUSIM_NODE": rank, "GPUSIM_RANKS": ranks, "GPUSIM_MEETINGS": self.path("meetings"), "GPUPROF_SUMMARY": "none",
                         "GPUPROF_CHROME": "none", "GPUPROF_OUTPUT": self.path("job", "%r")}
            running.append(subprocess.Popen([*HOST, boot, f"node{host}", *support.GPU, "launch=5", f"reduce={reductions}"],
                                            env=support.environment(**variables), stdout=subprocess.DEVNULL))
        status = [process.wait(support.LIMIT_S) for process in running]
        if 77 in status:
            self.skipTest("needs the right to make a host of its own")
        self.assertEqual(status, [0] * ranks)

    def test_clocks_of_hosts_are_aligned(self):
        self.run_hosts((0, 250_000_000, 1_000_000_000), 60)
        clocks = {row["host"]: row for row in self.ranks() if row["id"] == "clock"}
        self.assertEqual((clocks["node0"]["ahead_ns"], clocks["node0"]["error_ns"]), (0, 0))
        for host, skew_ns in (("node1", 250_000_000), ("node2", 1_000_000_000)):
            off_ns = abs(clocks[host]["ahead_ns"] - skew_ns)
            self.assertLessEqual(off_ns, min(10_000, clocks[host]["error_ns"]), clocks[host])
            self.assertEqual(clocks[host]["operations"], 60)
        for name, unit_ns in (("all.json", 1e3), ("all.perfetto", 1)):
            form = ("-F", "perfetto") if unit_ns == 1 else ()
            merged = self.run_gpuprof("merge", *form, "-o", self.path(name), self.path("job"))
            self.assertEqual(merged.returncode, 0, merged.stderr)
            self.assertIn("the clocks of 3 hosts are aligned", merged.stderr)
        with open(self.path("all.json"), encoding="utf-8") as file:
            ends = sorted(event["ts"] + event["dur"] for event in json.load(file)["traceEvents"] if "AllReduce" in event["name"] and event.get("cat") == "kernel")
        self.assertEqual(len(ends), 6 * 60)
        apart_us = [ends[i + 5] - ends[i] for i in range(0, len(ends), 6)]
        self.assertLess(sorted(apart_us)[30], 20, apart_us)

    def test_clocks_are_not_known_by_few_operations(self):
        self.run_hosts((0, 1_000_000), 5)
        clocks = {row["host"]: row for row in self.ranks() if row["id"] == "clock"}
        self.assertEqual((clocks["node0"]["error_ns"], clocks["node1"]["ahead_ns"]), (0, None))
        self.assertIn("1 of 2 hosts", self.run_gpuprof("merge", "-o", self.path("all.json"), self.path("job")).stderr)

    def make_job(self, ranks, steps):
        """A synthetic job."""
        make = os.path.join(support.BUILD, "bench", "ranks")
        if not os.path.exists(make):
            self.skipTest("needs build/bench/ranks")
        subprocess.run([make, str(ranks), str(steps), self.path("job")], check=True)

    def test_a_job_whose_traces_are_all_cut_fits_on_the_screen(self):
        self.make_job(64, 4)
        for host in os.listdir(self.path("job")):
            for name in os.listdir(self.path("job", host)):
                path = self.path("job", host, name)
                os.truncate(path, os.path.getsize(path) - 120)
        page = self.run_gpuprof("summary", self.path("job")).stdout
        self.assertLessEqual(len(page.splitlines()), 60)
        self.assertRegex(page, r"Ranks: 63 of 64 .*; no trace of rank 40; incomplete: ranks 0-39, 41-63\n")

    def test_a_large_job_is_read_rank_by_rank(self):
        """Rank 5 of the synthetic job is late on its host, rank 792 on its GPU; rank 17 was killed, rank 40 has no trace."""
        self.make_job(1056, 16)
        page = self.run_gpuprof("summary", self.path("job")).stdout
        self.assertLessEqual(len(page.splitlines()), 60)
        self.assertRegex(page, r"Ranks: 1,055 of 1,056 on 132 hosts: node0, node1, .*; no trace of rank 40; incomplete: rank 17\n")
        self.assertRegex(page, r"\n  17 .* incomplete")
        self.assertRegex(page, r"\n  GPU \d  .*, rank 792\n")
        found = json.loads(self.run_gpuprof("advice", "--format", "json", self.path("job")).stdout)["findings"]
        late = {finding["rank"]: finding for finding in found if finding["rule"] == "late-rank"}
        self.assertEqual(sorted(late), ["5", "792"])
        self.assertEqual((late["5"]["is_by_host"], late["792"]["is_by_gpu"], late["792"]["host"]), (True, True, "node99"))
        self.assertEqual([(late[rank]["rank_count"], late[rank]["has_more_ranks"]) for rank in ("5", "792")], [(8, False)] * 2)
        tables = self.run_gpuprof("summary", "--by", "kernel,stream,collective-rank,gap", "--format", "json", self.path("job"))
        self.assert_one_line(tables.stderr, "the table gap is not made for a job of 1,055 ranks", "gpuprof summary --by gap " + self.path("job"))
        rows = {table["report"]: table["rows"] for table in json.loads(tables.stdout)}
        half = 16 // 2  # of rank 17
        self.assertEqual({row["Name"]: row["Count"] for row in rows["kernel"]},
                         {"layer": (1054 * 16 + half) * 4, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL": (1054 * 16 + half) * 6, "ncclDevKernel_SendRecv": 1054 * 16 + half})
        self.assertEqual(sorted(row["Rank"] for row in rows["stream"]), [rank for rank in range(1056) if rank != 40])
        self.assertEqual([row["Rank"] for row in rows["collective-rank"][:2]], ["5", "792"])
        self.assertEqual(rows["gap"], [])
        shown = json.loads(self.run_gpuprof("summary", "--format", "json", self.path("job")).stdout)
        ranks = next(document["ranks"] for document in shown if "ranks" in document)
        # a step takes 15.03 ms, and 10.05 without the late ranks
        self.assertAlmostEqual(ranks[0]["gain_ns"], 0.331 * ranks[0]["gain_of_ns"], delta=ranks[0]["gain_error_ns"])
        self.assertRegex(ranks[0]["shown"], r"^8 of 1,055 ranks, .*: 0, .*\b5\b.*\b792\b")
        written = self.run_gpuprof("html", "-o", self.path("job.html"), self.path("job"))
        self.assert_one_line(written.stderr, ranks[0]["shown"])
        self.assertLess(os.path.getsize(self.path("job.html")), 2_000_000)
        self.assertIn("Nothing differs", self.run_gpuprof("diff", self.path("job"), self.path("job")).stdout)
        export = self.path("rank3.json")
        self.run_gpuprof("export", "-o", export, self.path("job", "node0000", "00003.gpuprof"))
        again = self.run_gpuprof("summary", export, self.path("job"))
        self.assert_one_line(again.stderr, export + " belongs to the same run as", "the run is counted once")
        self.assertEqual(again.stdout, page)


if __name__ == "__main__":
    support.main()
