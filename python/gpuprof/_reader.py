"""The program gpuprof as a reader of traces: a process of its own, which no file can harm."""
import json
import os
import subprocess
from typing import Any, Dict, List, Optional, Sequence

from ._program import GpuprofError, program
from ._ranges import own_work


@own_work
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
    """What a command prints as JSON. Raises GpuprofError with the text if it is none."""
    printed = run(arguments)
    try:
        return json.loads(printed)
    except ValueError:
        raise GpuprofError(printed.decode("utf-8", "replace").strip()) from None


def _environment() -> Dict[str, str]:
    """The environment without what would profile the reader itself."""
    return {name: value for name, value in os.environ.items()
            if name not in ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")}
