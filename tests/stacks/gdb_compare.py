"""Run in gdb by tests/stacks/gdb_test.py: compare the debugger's frames with those of the walk at
each stop.
"""
import os

import gdb

FRAMES_ABOVE = 2  # everywhere_stop() and look(): the next one is malloc() or write(), whose caller is compared first
MOST_STOPS = int(os.environ.get("GDB_STOPS", "25"))


def frames_of_gdb():
    """Addresses of the real frames, without inlined functions, innermost first."""
    frame, pcs = gdb.newest_frame(), []
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            pcs.append(frame.pc())
        frame = frame.older()
    return pcs[FRAMES_ABOVE + 1:]


def frames_of_walk():
    count = int(gdb.parse_and_eval("(unsigned)everywhere_count"))
    address = int(gdb.parse_and_eval("(unsigned long)&everywhere_pcs"))
    memory = gdb.selected_inferior().read_memory(address, 8 * count).tobytes()
    return [int.from_bytes(memory[i:i + 8], "little") for i in range(0, len(memory), 8)]


def is_same(walk, debugger, is_whole):
    return walk == debugger if is_whole else walk == debugger[:len(walk)]


def main():
    for setting in ("pagination off", "confirm off", "breakpoint pending on", "backtrace past-main on",
                    "debuginfod enabled off", "auto-solib-add on", "backtrace limit 1000", "print thread-events off",
                    "detach-on-fork on", "follow-fork-mode parent", "startup-with-shell off", "schedule-multiple off"):
        try:
            gdb.execute(f"set {setting}", to_string=True)
        except gdb.error:
            pass
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute(f"set environment LD_PRELOAD {os.environ['EVERYWHERE']}", to_string=True)
    gdb.execute("break everywhere_stop", to_string=True)
    stops, wrong, deepest, whole = 0, 0, 0, 0
    gdb.execute("run", to_string=True)
    while stops < MOST_STOPS and gdb.selected_thread() is not None:
        walk, debugger = frames_of_walk(), frames_of_gdb()
        is_whole = int(gdb.parse_and_eval("(unsigned)everywhere_is_whole")) != 0
        stops, deepest, whole = stops + 1, max(deepest, len(walk)), whole + is_whole
        if not is_same(walk, debugger, is_whole):
            wrong += 1
            print(f"WRONG walk {[hex(pc) for pc in walk]} gdb {[hex(pc) for pc in debugger]} whole {is_whole}")
            gdb.execute("bt")
        gdb.execute("continue", to_string=True)
    print(f"RESULT {stops} {wrong} {deepest} {whole}")
    gdb.execute("kill" if gdb.selected_thread() is not None else "show version", to_string=True)


main()
