/*
 * follow: processes that are started with an environment of their own (`env -i`, execve() with a few
 * variables) stay profiled: what makes a process load us is added to that environment.
 *
 * Only our own entry of LD_PRELOAD is added, only where the new environment has none at all, and only if
 * it leads through the loader's $LIB: programs that cannot load us then pass it by (gpuprof-run sets it so).
 * --follow=inherited switches it off.
 *
 * gp_child_env_remember() is for the constructor.  All else may be called anywhere, also in a child of vfork() and in a
 * signal handler: it makes no call but to compare and copy.
 */
#ifndef INJECT_FOLLOW_H
#define INJECT_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

/* A larger environment is left as it is: the new one goes onto the stack. */
#define GP_CHILD_ENV_VARIABLES 4096

/* Copy what a process needs to be profiled as this one is. */
void gp_child_env_remember(char *const *environment);

/* Whether a process with this environment would not load us, though it could. */
bool gp_child_env_applies(char *const *environment);

/* Most words that such an environment takes with ours added, the NULL among them; 0: too many, it is left as it is. */
size_t gp_child_env_size(char *const *environment);

/* Put that environment into with, ended by NULL; the strings are not copied. */
void gp_child_env_fill(char *const *environment, char **with);

#endif
