"""The program gpuprof and its library: where they are."""
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "libgpuprof.so"


class GpuprofError(Exception):
    """An error of gpuprof: the text says what failed, why, and what to do."""


def folder() -> str:
    """The folder of the program and its library: of the package, or the build of a checkout."""
    place = os.path.join(FOLDER, "bin")
    # no build folder beside an installed package: other users may have made it
    if not os.path.isdir(place):
        place = os.path.join(os.path.dirname(os.path.dirname(FOLDER)), "build")
    if os.access(os.path.join(place, "gpuprof"), os.X_OK):
        return place
    raise GpuprofError(f"there is no program gpuprof in {place};"
                       " to build it, type: pip install . (in the checkout)")


def program() -> str:
    """The path of the program gpuprof."""
    return os.path.join(folder(), "gpuprof")


def library() -> str:
    """The path of the library that records."""
    return os.path.join(folder(), LIBRARY)
