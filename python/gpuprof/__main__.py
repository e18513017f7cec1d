"""python -m gpuprof COMMAND ...: the program gpuprof.

`run script.py ...` runs a Python script under the recorder; `kernelspec [PREFIX]` adds a recorded
kernel to Jupyter; every other command is that of the program, as in: python -m gpuprof summary FILE
"""
import os
import sys
from typing import List, NoReturn

from . import _program


def _command(arguments: List[str]) -> List[str]:
    """The command line; a script that is run gets this interpreter in front of it."""
    if arguments[:1] != ["run"]:
        return arguments
    for number, argument in enumerate(arguments[1:], 1):
        if argument.endswith(".py") or argument in ("-m", "-c"):
            separator = [] if "--" in arguments[:number] else ["--"]
            return [*arguments[:number], *separator, sys.executable, *arguments[number:]]
    return arguments


def main() -> NoReturn:
    """Become the program gpuprof."""
    try:
        program = _program.program()
        if sys.argv[1:2] == ["kernelspec"]:
            from ._notebook import install_kernelspec

            print(install_kernelspec(*sys.argv[2:3]))
            sys.exit()
    except _program.GpuprofError as error:
        sys.exit(f"gpuprof: {error}")
    os.execv(program, [program, *_command(sys.argv[1:])])


def run() -> NoReturn:
    """Become `gpuprof run`: the command gpuprof-run."""
    sys.argv.insert(1, "run")
    main()


if __name__ == "__main__":
    main()
