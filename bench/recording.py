"""Shared by the benchmarks: traces of bench/steps on the simulated device; the minimal CUPTI client
and nsys on a real device.
"""
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.environ.get("O") or os.path.join(ROOT, "build")


def find_cupti():
    """The path of the libcupti of CUDA 12 or 13, or None."""
    return next((path for folder in ("extras/CUPTI/lib64", "lib64") for path in glob.glob(f"/usr/local/cuda/{folder}/libcupti.so.1[23]")), None)


def floor_variables(build, cupti=None, **more):
    """The environment of a program that bench/floor.c records with this libcupti."""
    found = {"CUDA_INJECTION64_PATH": os.path.join(os.path.abspath(build), "bench", "floor.so"), **more}
    path = cupti or find_cupti()
    return dict(found, FLOOR_CUPTI=path) if path else found


def check_floor(stderr, least_bytes):
    """Exit with a message if the minimal client received fewer bytes of records."""
    words = stderr.split()
    if "bytes" not in words or int(words[words.index("bytes") - 1]) < least_bytes:
        sys.exit(f"the bare client recorded nothing: {stderr.strip() or 'it was not loaded'}; name a library with --cupti")


def find_nsys():
    """The path of nsys, or None. The nsys of Nsight Compute can only record, but has the same cost.
    """
    places = ("/usr/local/cuda/bin/nsys", "/opt/nvidia/nsight-systems*/**/bin/nsys", "/opt/nvidia/nsight-*/*/host/target-linux-x64/nsys")
    return shutil.which("nsys") or next((path for place in places for path in sorted(glob.glob(place, recursive=True))), None)


def nsys_command(nsys, output, *more):
    """The command prefix for recording CUDA calls and GPU work without sampling. The output files
    begin with `output`.
    """
    return [nsys, "profile", "-t", "cuda", "-s", "none", "--cpuctxsw=none", *more, "-o", output]


def record(build, folder, name, steps, *options):
    """Record a trace of this many steps; returns its path."""
    environment = {variable: value for variable, value in os.environ.items() if not variable.startswith("GPUPROF_")}
    environment["LD_LIBRARY_PATH"] = os.path.join(build, "sim")
    done = subprocess.run([os.path.join(build, "gpuprof-run"), "--chrome", "none", "--summary", "none", "--output",
                           os.path.join(folder, name), *options, "--", os.path.join(build, "bench", "steps"), str(steps)],
                          env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, universal_newlines=True)
    traces = glob.glob(os.path.join(folder, name) + "*.gpuprof")
    if done.returncode != 0 or len(traces) != 1:
        sys.exit(f"gpuprof: bench/steps was not recorded; try make bench: {done.stderr}")
    return traces[0]
