"""The commands of the documents, for tests that paste them into a shell as a user does."""
import os
import re
import shutil
import subprocess

import support
from support import ROOT, Case

CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
HAS_NVCC = shutil.which("nvcc", path=os.path.join(CUDA, "bin")) is not None
LIMIT_S = 300


def blocks(page, language="sh"):
    """The blocks of commands of a page of docs/, or of another language, one text each."""
    with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as file:
        return re.findall(rf"^ *```{language}\n(.*?)^ *```", file.read(), re.DOTALL | re.MULTILINE)


class Pasting(Case):

    def shell(self, text, folders=(), **variables):
        """Paste a text into one shell, which stops at the first command that fails: its status, and all output."""
        path = os.pathsep.join((*folders, support.BUILD, os.path.join(CUDA, "bin"), os.environ["PATH"]))
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text],
            cwd=self.folder,
            env=support.environment(PATH=path, GPUPROF_QUIET=None, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=LIMIT_S,
            check=False,
        )
        return done.returncode, done.stdout

    def paste(self, text, **more):
        status, output = self.shell(text, **more)
        self.assertEqual(status, 0, text + output)
        return output
