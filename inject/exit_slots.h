/*
 * exit_slots: catches the program's _exit() in a process that does not preload this library.
 *
 * A library that the driver loads (CUDA_INJECTION64_PATH alone, or a driver in a linker namespace)
 * is not in the program's scope, so the program does not find its _exit().  Instead, this module
 * changes the addresses through which the loaded objects call _exit() and _Exit().  Afterwards it
 * calls the program's _exit(), which may be that of another tool, or the function of another copy
 * of this library.
 *
 * The addresses may be read-only by now, so they are written through /proc/self/mem.  If that is
 * not possible, such an end is not noticed.  Objects that are loaded later keep their addresses.
 */
#ifndef INJECT_EXIT_SLOTS_H
#define INJECT_EXIT_SLOTS_H

/* Once, while the process records: close() is called before each _exit(status). */
void gp_exit_slots_take(void (*close)(int status));

#endif
