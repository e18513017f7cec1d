"""docs/tutorial.md does what it says: its commands, in one shell, on the simulated device."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import ROOT, Case

CUDA = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
LIMIT_S = 300


def commands():
    """All blocks but those that build gpuprof and choose the device, as the test does itself."""
    with open(os.path.join(ROOT, "docs", "tutorial.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```sh\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
    return [
        block
        for block in blocks
        if "make demo" not in block and "export " not in block and "gpuprof doctor" not in block
    ]


class Tutorial(Case):
    @unittest.skipUnless(shutil.which("nvcc", path=os.path.join(CUDA, "bin")), "no nvcc")
    def test_its_commands(self):
        shutil.copytree(os.path.join(ROOT, "examples"), self.path("examples"))
        path = os.pathsep.join((support.BUILD, os.path.join(CUDA, "bin"), os.environ["PATH"]))
        done = subprocess.run(
            ["bash", "-e", "-c", "\n".join(commands())],
            cwd=self.folder,
            env=support.environment(PATH=path, GPUPROF_QUIET=None, GPUSIM_KERNEL_NS="15000"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r" 15,002 +5 +-14,997 .* yes +allocations\n")
        self.assertRegex(done.stdout, r" 20,000 +5,750 +-14,250 .* yes +launches\n")
        self.assertIn("alloc-in-loop: ", done.stdout)
        self.assertTrue(os.path.exists(self.path("tutorial/before.html")))


if __name__ == "__main__":
    support.main()
