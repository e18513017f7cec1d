"""The Python package of this checkout with the extension and the programs of a build, for programs that import it."""
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def link(build, folder):
    """Puts it into FOLDER, for PYTHONPATH."""
    package = os.path.join(folder, "gpuprof")
    os.mkdir(package)
    source = os.path.join(ROOT, "python", "gpuprof")
    for name in os.listdir(source):
        if name != "_native.abi3.so":
            os.symlink(os.path.join(source, name), os.path.join(package, name))
    os.symlink(os.path.join(build, "_native.abi3.so"), os.path.join(package, "_native.abi3.so"))
    os.symlink(build, os.path.join(package, "bin"))
