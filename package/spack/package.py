# For Spack: built from the sources of a release, which lie in the current folder. `make release` fills
# in version and digest.
import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Gpuprof(MakefilePackage):
    """A profiler for CUDA programs on Linux."""

    url = f"file://{os.getcwd()}/gpuprof-@VERSION@.tar.gz"
    manual_download = True

    version("@VERSION@", sha256="@SOURCES@")

    depends_on("c", type="build")
    depends_on("cuda@11.8:", type="build")
    depends_on("binutils+libiberty")
    depends_on("bzip2")
    depends_on("elfutils")
    depends_on("jansson")
    depends_on("sqlite")
    depends_on("xz")
    depends_on("zlib-api")

    conflicts("platform=darwin")

    # Shared libraries instead of Debian's archives, and no library for 32-bit programs.
    options = ["REPORT_LIBS=-lsqlite3 -liberty -ljansson -ldw -lelf -lz -llzma -lbz2 -lm -ldl -lpthread", "LIB32="]

    @property
    def build_targets(self):
        return [*self.options, f"CUDA_HOME={self.spec['cuda'].prefix}", "all"]

    @property
    def install_targets(self):
        return [*self.build_targets[:-1], f"PREFIX={self.prefix}", "install"]
