/*
 * exec: interposes execve() and its relatives, fexecve(), execveat(), posix_spawn() and
 * posix_spawnp().
 *
 * Besides calling the C library's function, they restore our variables in a new environment that
 * would lose them (inject/child_env.h), and close the trace of a process that records and is about
 * to become another program.  Neither happens if the new program is set-user-id, set-group-id or
 * has file capabilities.
 *
 * Like execve() itself, they are safe in a child of vfork() and in a signal handler: no allocation,
 * no lock, no writes except to the stack (a few KB, plus a word per variable if the environment is
 * changed).
 */
#ifndef INJECT_EXEC_H
#define INJECT_EXEC_H

#include <stdbool.h>

/*
 * For the constructor: find the C library's functions, and set the actions before this process
 * becomes another program: if is_unfinished() is true, leave().  If the exec then fails and
 * records_here() was true, a logged line names the lost data.
 */
void gp_exec_prepare(bool (*records_here)(void), bool (*is_unfinished)(void), void (*leave)(void));

#endif
