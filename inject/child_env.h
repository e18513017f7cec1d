/*
 * child_env: adds the variables that load this library to the environment of a child process that
 * lacks them (`env -i`, execve() with a few variables, a start script that exports its own
 * LD_PRELOAD).
 *
 * Only our own entry of LD_PRELOAD is added, behind the program's own ones, and only if it contains
 * the loader's $LIB: then programs that cannot load the library skip it (gpuprof-run sets it so).
 * An empty LD_PRELOAD stays: it is the way to start a child without the library.
 * --follow=inherited disables all this.
 *
 * The constructor calls gp_child_env_remember().  All other functions may be called anywhere, also
 * in a child of vfork() and in a signal handler: they only compare and copy.
 */
#ifndef INJECT_CHILD_ENV_H
#define INJECT_CHILD_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* Larger environments stay unchanged, because the new one is built on the stack. */
#define GP_CHILD_ENV_VARIABLES 4096

/* Copy the variables that a child process needs to be profiled like this one. */
void gp_child_env_remember(char *const *environment);

/* Whether a process with this environment would not load the library, although it could. */
bool gp_child_env_applies(char *const *environment);

/*
 * Maximum number of pointers of the extended environment, including the final NULL; 0: too large,
 * stays unchanged.
 */
size_t gp_child_env_size(char *const *environment);

/* Bytes of the extended LD_PRELOAD; 0: it is not extended. */
size_t gp_child_env_preload_bytes(char *const *environment);

/*
 * Write the extended environment into `with`, ended by NULL, and the extended LD_PRELOAD into
 * `preload`; other strings are not copied.
 */
void gp_child_env_fill(char *const *environment, char **with, char *preload);

#endif
