"""A job of several ranks, read as one folder."""
import json
import os

import support
from support import Case

GPU = os.path.join(support.ROOT, "tests", "e2e", "gpu.py")
WORLD_SIZE = 4


class Ranks(Case):

    def record(self, rank, host, *work, status=0, options=(), way=support.LAUNCHED, **variables):
        """Returns what gpuprof printed."""
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


if __name__ == "__main__":
    support.main()
