"""docs/tutorial.md does what it says: its commands, in one shell, on the simulated device."""
import os
import re
import shutil
import unittest

import documents
import support
from support import ROOT


def commands():
    """All blocks but those that build gpuprof and choose the device, as the test does itself."""
    return [
        block
        for block in documents.blocks("tutorial.md")
        if "make demo" not in block and "export " not in block and "gpuprof doctor" not in block
    ]


class Tutorial(documents.Pasting):
    @unittest.skipUnless(documents.HAS_NVCC, "no nvcc")
    def test_its_commands(self):
        shutil.copytree(os.path.join(ROOT, "examples"), self.path("examples"))
        output = self.paste("\n".join(commands()), GPUSIM_KERNEL_NS="15000")
        self.assertRegex(output, r" 15,002 +5 +-14,997 .* yes +allocations\n")
        self.assertRegex(output, r" 20,000 +5,750 +-14,250 .* yes +launches\n")
        self.assertIn("alloc-in-loop: ", output)
        self.assertTrue(os.path.exists(self.path("tutorial/before.html")))

    def test_their_folders_are_no_change_of_the_checkout(self):
        for page, count in (("tutorial.md", 1), ("tutorial-python.md", 2)):
            made = re.findall(r"^(?:mkdir -p|python3 -m venv) (\S+)$", "\n".join(documents.blocks(page)), re.M)
            self.assertEqual(len(made), count)
            with open(os.path.join(ROOT, ".gitignore"), encoding="utf-8") as file:
                self.assertLessEqual({f"/{folder}/\n" for folder in made}, set(file))


if __name__ == "__main__":
    support.main()
