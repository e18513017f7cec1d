"""For the benchmarks: traces of bench/steps on the simulated device."""
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get("O") or os.path.join(ROOT, "build")


def record(build, folder, name, steps, *options):
    """The path of a trace of so many steps."""
    environment = {variable: value for variable, value in os.environ.items() if not variable.startswith("GPUPROF_")}
    environment["LD_LIBRARY_PATH"] = os.path.join(build, "sim")
    done = subprocess.run([os.path.join(build, "gpuprof-run"), "--chrome", "none", "--summary", "none", "--output",
                           os.path.join(folder, name), *options, "--", os.path.join(build, "bench", "steps"), str(steps)],
                          env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    traces = glob.glob(os.path.join(folder, name) + "*.gpuprof")
    if done.returncode != 0 or len(traces) != 1:
        sys.exit(f"gpuprof: bench/steps was not recorded; try make bench: {done.stderr}")
    return traces[0]
