"""Files that were made to fill memory, to take for ever, or to keep somebody waiting: commands end soon, with little memory."""
import gzip
import lzma
import os
import resource
import shutil
import subprocess

import support
from support import BARE, BUILD, GPUPROF, Case

MOST_BYTES = 1 << 30
MOST_CPU_S = 10
MOST_S = 60
ZEROS = bytes(1 << 20)

PROGRAM = """
#include <signal.h>

extern int cuInit(unsigned), cuCtxCreate_v2(void **, unsigned, int), cuMemAlloc_v2(unsigned long *, unsigned long);

__attribute__((noinline)) int allocate(unsigned long *memory)
{
	return cuMemAlloc_v2(memory, 1 << 20) + 0 * (int)*memory;
}

int main(void)
{
	unsigned long memory = 0;
	void *context;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || allocate(&memory))
		return 1;
	return raise(9);
}
"""


class Hostile(Case):

    def run_limited(self, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
        return subprocess.run([GPUPROF, *arguments], cwd=self.folder, preexec_fn=limit, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, check=False, timeout=MOST_S)

    def test_a_json_that_unpacks_a_thousandfold(self):
        with gzip.open(self.path("t.json.gz"), "wb") as file:
            file.write(b'{"traceEvents": [')
            for _ in range(400):
                file.write(ZEROS.replace(b"\0", b" "))
            file.write(b"]}")
        for command in (["summary"], ["advice"], ["export", "-o", "-"]):
            result = self.run_limited(*command, "t.json.gz")
            self.assertEqual(result.returncode, 1, command)
            self.assert_one_line(result.stderr, "t.json.gz", "gunzip")

    def check_stacks(self, name):
        for command in (["summary", "--full"], ["advice"], ["export", "--format", "folded", "--value", "leaked-bytes", "-o", "-"]):
            result = self.run_limited(*command, "t.gpuprof")
            self.assertEqual(result.returncode, 0, (command, result.stderr))
        self.assertIn(name, result.stdout)

    def test_program_files_that_are_something_else(self):
        program = self.compile("program", PROGRAM, "-g", f"-L{BUILD}/sim", "-lcuda")
        self.run_program([program], BARE, GPUPROF_OUTPUT=self.path("t"), GPUPROF_STACKS="alloc")
        self.check_stacks(";allocate;")
        os.rename(program, self.path("kept"))
        with open(self.path("kept"), "rb") as file, gzip.open(program, "wb") as packed:
            shutil.copyfileobj(file, packed)
            for _ in range(1200):
                packed.write(ZEROS)
        self.check_stacks(";program+0x")
        os.unlink(program)
        os.mkfifo(program)
        self.check_stacks(";program+0x")
        if not shutil.which("objcopy"):
            self.skipTest("no objcopy")
        subprocess.run(["sh", "-ec", "rm program; objcopy --only-keep-debug kept x.debug; "
                        "objcopy --strip-debug --add-gnu-debuglink=x.debug kept program; rm x.debug; mkfifo x.debug"], cwd=self.folder, check=True)
        self.check_stacks(";allocate;")
        with open(self.path("bomb.xz"), "wb") as packed:
            packer = lzma.LZMACompressor()
            packed.write(b"".join(packer.compress(ZEROS) for _ in range(1200)) + packer.flush())
        subprocess.run(["sh", "-ec", "strip -o program kept; objcopy --add-section .gnu_debugdata=bomb.xz program"], cwd=self.folder, check=True)
        self.check_stacks(";program+0x")
        self.run_gpuprof("finish", "-q", "--chrome", "none", "t.gpuprof")  # the rings


if __name__ == "__main__":
    support.main()
