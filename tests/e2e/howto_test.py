"""The commands of the documents do what they say: each page's in one shell, on the simulated device, with sample programs."""
import os
import re
import shutil
import sys
import unittest

import documents
import support
from support import BUILD, ROOT

# What the pages call ./app, train.py and the like: steps of launches and copies in ranges, between the calls of
# cudaProfilerApi; as a rank of a job, also reductions.
SAMPLE = """#!/usr/bin/env python3
import ctypes, os, sys
sys.path.insert(0, {e2e!r})
import gpu
sys.stdout = open(os.devnull, "w")
device, own, cudart = gpu.Device(), ctypes.CDLL(None), ctypes.CDLL("libcudart.so.13")
cudart.cudaProfilerStart()
for _ in range(110):
    getattr(own, "gpuprof_v1_range_push", print)(b"step")
    device.launch(3)
    device.copy(1)
    if "SLURM_PROCID" in os.environ:
        device.reduce(1)
    getattr(own, "gpuprof_v1_range_pop", print)()
device.leak(2)
cudart.cudaProfilerStop()
"""
# Launchers of jobs start two ranks here, and programs that draw read their input.
START_RANKS = """#!/bin/sh
while :; do
	case $1 in -n | --nnodes | --nproc-per-node) shift 2 ;; --no-python) python= shift ;; *) break ;; esac
done
for rank in 0 1; do
	RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank SLURM_PROCID=$rank GPUSIM_NODE=$rank %s "$@" &
done
wait
"""
STAND_INS = {
    "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    "srun": START_RANKS % "",
    "mpirun": START_RANKS % "",
    "torchrun": START_RANKS.replace("\nwhile", "\npython=python\nwhile") % "env $python",
    "flamegraph.pl": "#!/bin/sh\nexec grep -c ';'\n",
    "sqlite3": f"#!{sys.executable}\nimport sqlite3, sys\nprint(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall())\n",
}

APP = "gpuprof-run -q -o app ./app"
TRAIN = "gpuprof-run -q -o train ./app"
KILLED = f"gpuprof-run -q -o app {sys.executable} {ROOT}/tests/e2e/gpu.py launch=5 start=2 raise=9 || true"
JOB = "mkdir -p traces; srun gpuprof-run -q -o 'traces/%h/%r' ./app"
DUCKDB = os.path.join(BUILD, "duckdb", "libduckdb.so")

# Page, in howto/ if no other folder is named: what it takes for granted, and what its output must match.
PAGES = {
    "../README.md": ("", ["unfused-attention", "B to A|before|after"]),
    "reference/formats.md": (f"{APP}; gpuprof export --format sqlite -o app.sqlite app.gpuprof", [r"\('step_kernel', 330, "]),
    "reference/import.md": (f"cp {ROOT}/tests/data/kineto/kineto_cnn_cuda_only.json.gz trace.json.gz", [" kernels"]),
    "reference/tables.md": ("gpuprof-run -q -o demo ./app", [r",330,.*,step_kernel"]),
    "check-setup.md": ("", ["recording works"]),
    "compare-runs.md": ("gpuprof-run -q -o before ./app; gpuprof-run -q -o after ./app; cp app app-new", []),
    "cpp.md": ("", ["step_kernel"]),
    "energy.md": ("export GPUSIM_KERNEL_NS=2000000", ["(?s)Energy, sampled every .*Energy, sampled every "]),
    "flame-graphs.md": ("", ["step_kernel"]),
    "hanging-program.md": (KILLED, ["7 without kernel record"]),
    "hardware-timeline.md": ("", ["Hardware of GPU 0, sampled every 1.000ms", r"sampled every 200\.0us"]),
    "jax-cupy.md": ("", ["330 kernels"]),
    "killed-program.md": (KILLED, ["SIGKILL"]),
    "large-traces.md": (APP, []),
    "launchers.md": ("", ["Ranks: 2"]),
    "memory.md": ("", ["Never freed"]),
    "pytorch.md": (f"cp {ROOT}/tests/data/kineto/kineto_cnn_cuda_only.json.gz trace.json.gz; "
                   f"python {ROOT}/tests/fuzz/snapshot.py snapshot.pickle", ["slow-steps", "PyTorch's memory by purpose"]),
    "ranges.md": ("gpuprof-run -q --counters --counters-interval 0 -o app ./app", [r"\bstep\b"]),
    "record-a-part.md": ("cp app server", [r"\b9 kernels", r"\b330 kernels"]),
    "roofline.md": (APP, ["step_kernel"]),
    "sql.md": ("mkdir -p JOB; srun gpuprof-run -q -o 'JOB/%r' ./app", ["straggler"]),
    "stalls.md": ("echo 'int main() { return 0; }' >app.cu", ["Why warps wait"]),
    "watch-live.md": (APP, ["gpuprof top: "]),
    "without-gpu.md": (f"cp {ROOT}/examples/heat.cu app.cu; mkdir build; ln -s {BUILD}/sim build/", ["kernels"]),
}
# Pages of which other tests run the commands, or nothing can run without what this machine lacks.
ELSEWHERE = {
    "attach.md": "attach_test.py",
    "../CONTRIBUTING.md": "they build and test gpuprof, as .ci/run does",
    "design/validation.md": "programs of others read the outputs",
    "tutorial.md": "tutorial_test.py",
    "tutorial-python.md": "package_test.py",
    "ci.md": "ci_test.py",
    "conda.md": "layouts_test.py",
    "containers.md": "no container runs here; surroundings_test.py starts programs through setpriv and unshare",
    "hardware-metrics.md": "the simulated libcupti knows only its own chip, which metrics_test.py asks about",
    "install.md": "install_test.py",
    "jupyter.md": "package_test.py",
    "nix.md": "layouts_test.py",
    "python.md": "package_test.py",
    "remote-traces.md": "serve_test.py",
    "slurm.md": "cluster_test.py",
}
# Lines that do not run here: (page, pattern, why).
LEFT_OUT = [
    ("../README.md", r"^make |^export PATH", "tests/demo, .ci/run"),
    ("reference/formats.md", r"^duckdb ", "needs the program duckdb"),
    ("reference/formats.md", r"node_exporter", "the folder is that of a service; formats_test.py writes the format"),
    ("reference/formats.md", r"TARGET_INFO_GPU_LINK", "nothing is known of the simulated device's link"),
    ("reference/import.md", r"^nsys ", "needs nsys; import_test.py has databases of it"),
    ("flame-graphs.md", r"go tool pprof", "shows a page until it is stopped"),
    ("large-traces.md", r"--start 60s", "the sample program does not last that long"),
    ("sql.md", r"^duckdb |^python -c", "needs the program duckdb, and pyarrow"),
    ("sql.md", r"--engine dask|--scheduler|^ *dask |^ *srun dask", "recipe_test.py starts workers"),
    ("sql.md", r"copies\.sql", "the recipe is not a command; recipe_test.py has one of its own"),
    ("watch-live.md", r"^gpuprof top(?! --batch)", "shows pages until it is stopped; top_test.py"),
    ("watch-live.md", r"^install ", "the folder is that of a service; top_test.py"),
]
if not os.path.exists(DUCKDB):
    LEFT_OUT.append(("sql.md", r"recipe straggler tables", "no DuckDB"))


def blocks(page):
    return documents.blocks(page if os.path.exists(os.path.join(ROOT, "docs", page)) else f"howto/{page}")


def all_pages():
    """README.md, CONTRIBUTING.md and the pages of docs/, by their names here."""
    docs = os.path.join(ROOT, "docs")
    paths = [os.path.relpath(os.path.join(folder, name), docs) for folder, _, names in os.walk(docs) for name in names if name.endswith(".md")]
    return [path[len("howto/"):] if path.startswith("howto/") else path for path in [*paths, "../README.md", "../CONTRIBUTING.md"]]


def commands(page):
    """The commands of a page that run here, one a line."""
    lines = "".join(blocks(page)).replace("\\\n", "").splitlines()
    patterns = [pattern for name, pattern, _ in LEFT_OUT if name == page]
    return [line for line in lines if not any(re.search(pattern, line) for pattern in patterns)]


class HowTo(documents.Pasting):

    def test_every_page_is_run_or_says_why_not(self):
        self.assertEqual({*PAGES, *ELSEWHERE}, {page for page in all_pages() if blocks(page)})
        for page, pattern, _ in LEFT_OUT:
            self.assertRegex("".join(blocks(page)), re.compile(pattern, re.MULTILINE))

    def run_page(self, page):
        preparation, expected = PAGES[page]
        if any(line.startswith("nvcc ") for line in commands(page)) and not documents.HAS_NVCC:
            self.skipTest("no nvcc")
        for name in ("app", "train.py", "sim.py"):
            self.write(name, SAMPLE.format(e2e=os.path.join(ROOT, "tests", "e2e")), mode=0o755)
        os.mkdir(self.path("stand-ins"))
        for name, text in STAND_INS.items():
            self.write(os.path.join("stand-ins", name), text, mode=0o755)
        output = self.paste("\n".join([preparation, *commands(page)]), folders=[self.path("stand-ins")],
                            LIBDUCKDB=DUCKDB if os.path.exists(DUCKDB) else None)
        for pattern in expected:
            self.assertRegex(output, pattern)


def test_of(page):
    return lambda self: self.run_page(page)


for _page in PAGES:
    setattr(HowTo, "test_" + re.sub(r"\W+", "_", _page[:-3].strip("./")), test_of(_page))


if __name__ == "__main__":
    support.main()
