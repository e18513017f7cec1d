"""A job of several ranks, read as one folder."""
import json
import os

import support
from support import Case

GPU = os.path.join(support.ROOT, "tests", "e2e", "gpu.py")
WORLD_SIZE = 4


class Ranks(Case):

    def record(self, rank, host, *work, status=0):
        """Returns what gpuprof-run printed."""
        os.makedirs(self.path("job", host), exist_ok=True)
        done = self.run_program(["python3", GPU, *work], options=("-o", self.path("job", host, "%r")),
                                RANK=rank, WORLD_SIZE=WORLD_SIZE, GPUSIM_NODE=rank)
        self.assertEqual(done.returncode, status, done.stderr)
        return support.own_lines(done.stderr)

    def test_a_folder_of_hosts_is_one_job(self):
        self.assert_one_line("\n".join(self.record(0, "a", "launch=20")), "all 4", "gpuprof summary " + self.path("job", "a"))
        self.assertEqual(self.record(1, "a", "launch=20"), [])
        self.record(3, "b", "launch=20", "raise=9", status=-9)
        self.assertEqual(sorted(os.listdir(self.path("job", "a"))), ["00000.gpuprof", "00001.gpuprof"])
        done = self.run_gpuprof("summary", "--format", "json", self.path("job"))
        ranks = next(document["ranks"] for document in json.loads(done.stdout) if "ranks" in document)
        self.assertEqual(ranks[0], {"id": "job", "ranks": 3, "world_size": 4, "without_trace": "2"})
        self.assertEqual([(row["rank"], row["ended"]) for row in ranks[1:]], [(3, "SIGKILL")])
        table = json.loads(self.run_gpuprof("summary", "--by", "rank", "--format", "json", self.path("job")).stdout)
        self.assertEqual([row["Rank"] for row in table["rows"]], [0, 1, 3])
        self.run_gpuprof("merge", "-o", self.path("all.json"), self.path("job"))
        with open(self.path("all.json"), encoding="utf-8") as file:
            names = {event["args"]["name"] for event in json.load(file)["traceEvents"] if event["name"] == "process_name"}
        self.assertEqual(sum("rank" in name for name in names), 3, names)


if __name__ == "__main__":
    support.main()
