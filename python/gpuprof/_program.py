"""The program gpuprof: where it is, and how it is run."""
import json
import os
import subprocess
from typing import Any, Dict, List, Optional, Sequence

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "libgpuprof.so"


class GpuprofError(Exception):
    """What gpuprof could not do: the text says why, and what to do."""


def folder() -> str:
    """The folder of the program and its library: the package's own, or the checkout's build."""
    checkout = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "build")
    for place in (os.path.join(FOLDER, "bin"), checkout):
        if os.access(os.path.join(place, "gpuprof"), os.X_OK):
            return place
    raise GpuprofError(f"the program gpuprof is neither in {FOLDER}/bin nor in {checkout};"
                       " to build it, type: pip install . (in the checkout)")


def program() -> str:
    """The path of the program gpuprof."""
    return os.path.join(folder(), "gpuprof")


def library() -> str:
    """The path of the library that records."""
    return os.path.join(folder(), LIBRARY)


def run(arguments: Sequence[str], stdout: Optional[int] = subprocess.PIPE) -> bytes:
    """Run a command of gpuprof in a process of its own. Returns what it printed.

    Raises GpuprofError with its message if it fails."""
    command: List[str] = [program(), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                          check=False, env=_environment())
    if done.returncode != 0:
        words = done.stderr.decode("utf-8", "replace").strip()
        raise GpuprofError(words or f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout or b""


def run_json(arguments: Sequence[str]) -> Any:
    """What a command prints as JSON."""
    return json.loads(run(arguments))


def _environment() -> Dict[str, str]:
    """The environment without what would profile the reader itself."""
    return {name: value for name, value in os.environ.items()
            if name not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")}
