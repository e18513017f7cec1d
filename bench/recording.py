"""For the benchmarks: traces of bench/steps on the simulated device; on a real one a minimal client of CUPTI, and nsys."""
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get("O") or os.path.join(ROOT, "build")


def find_cupti():
    """The file of CUDA 12's or 13's libcupti, or None."""
    return next((path for folder in ("extras/CUPTI/lib64", "lib64") for path in glob.glob(f"/usr/local/cuda/{folder}/libcupti.so.1[23]")), None)


def floor_variables(build, cupti=None, **more):
    """The environment of a program that bench/floor.c records, with that libcupti."""
    found = {"CUDA_INJECTION64_PATH": os.path.join(os.path.abspath(build), "bench", "floor.so"), **more}
    path = cupti or find_cupti()
    return dict(found, FLOOR_CUPTI=path) if path else found


def check_floor(stderr, least_bytes):
    """Ends with a message where that client says at its end that it got fewer bytes of records."""
    words = stderr.split()
    if "bytes" not in words or int(words[words.index("bytes") - 1]) < least_bytes:
        sys.exit(f"the bare client recorded nothing: {stderr.strip() or 'it was not loaded'}; name a library with --cupti")


def find_nsys():
    """The program, or None.  The one that comes with Nsight Compute records and cannot report: its cost is that of any."""
    places = ("/usr/local/cuda/bin/nsys", "/opt/nvidia/nsight-systems*/**/bin/nsys", "/opt/nvidia/nsight-*/*/host/target-linux-x64/nsys")
    return shutil.which("nsys") or next((path for place in places for path in sorted(glob.glob(place, recursive=True))), None)


def nsys_command(nsys, output, *more):
    """What stands before a program: CUDA's calls and what the GPU does, no sampling.  Writes files that begin with that path."""
    return [nsys, "profile", "-t", "cuda", "-s", "none", "--cpuctxsw=none", *more, "-o", output]


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
