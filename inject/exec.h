/*
 * exec: execve() and its relatives, fexecve(), posix_spawn() and posix_spawnp(), interposed.
 *
 * They do what the C library's do, which they call, and two things more: a new environment that would lose us gets us
 * back (inject/child_env.h), and a process that records and is about to become another program closes its trace first.
 * Both are left alone where the new program is set-user-id, set-group-id or has file capabilities.
 *
 * As execve() must be, they are safe in a child of vfork() and in a signal handler: no allocation, no lock, nothing but the stack is
 * written (a few KB of it, and a word for each variable where an environment is changed).
 */
#ifndef INJECT_EXEC_H
#define INJECT_EXEC_H

#include <stdbool.h>

/*
 * For the constructor: look up the C library's functions, and name what is to be done before this process becomes
 * another program: if is_unfinished() is true, leave().  Should the exec fail after that, a line says what is lost if records_here() was true, too.
 */
void gp_exec_prepare(bool (*records_here)(void), bool (*is_unfinished)(void), void (*leave)(void));

#endif
