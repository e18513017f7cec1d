"""Prints code objects of this interpreter's library as a trace has them, and the line of each instruction:

    FORM FIRST-LINE TABLE-HEX FILE NAME LINE LINE ...       0 = none; of the instructions at 0, 2, 4, ...
"""
import ctypes
import glob
import os
import sys

form = 1 if sys.version_info < (3, 10) else 2 if sys.version_info < (3, 11) else 3
addr2line = ctypes.pythonapi.PyCode_Addr2Line
addr2line.argtypes = (ctypes.py_object, ctypes.c_int)

ODD = """
def f(x):
    try:
        return [y
                for y in x if (
                    y +




                    1)]
    except ValueError as error: raise RuntimeError(
        error) from None
    finally:
        print("x"
""" + "\n" * 400 + ")\nlambda: (yield)\n"


def lines_of(code):
    count = len(code.co_code) // 2
    if hasattr(code, "co_lines"):
        lines = [0] * count
        for start, end, line in code.co_lines():
            for i in range(start // 2, end // 2):
                lines[i] = line or 0
        return lines
    return [addr2line(code, 2 * i) for i in range(count)]


def show(code):
    table = code.co_lnotab if form == 1 else code.co_linetable
    print(form, code.co_firstlineno, table.hex() or "-", os.path.basename(code.co_filename), code.co_name,
          *lines_of(code))
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            show(constant)


show(compile(ODD, "odd.py", "exec"))
for path in sorted(glob.glob(os.path.join(os.path.dirname(os.__file__), "*.py")))[:25]:
    with open(path, "rb") as file:
        show(compile(file.read(), path, "exec"))
