/*
 * follow: processes that are started with an environment of their own (`env -i`, execve() with a few
 * variables) stay profiled: what makes a process load us is added to that environment.
 *
 * Only our own entry of LD_PRELOAD is added, only where the new environment has none at all, and only if
 * it leads through the loader's $LIB: programs that cannot load us then pass it by (gpuprof-run sets it so).
 * --follow=inherited switches it off.
 *
 * gp_follow_remember() is for the constructor.  All else may be called anywhere, also in a child of vfork() and in a
 * signal handler: it makes no call but to compare and copy.
 */
#ifndef INJECT_FOLLOW_H
#define INJECT_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>

/* Most variables of a followed process's environment, ours among them; a larger one is left as it is. */
#define GP_FOLLOW_VARIABLES 512

/* Copy what a process needs to be profiled as this one is. */
void gp_follow_remember(char *const *environment);

/* Whether a process with this environment would not load us, though it could. */
bool gp_follow_applies(char *const *environment);

/* Make an environment with ours added, ended by NULL; the strings are not copied.  False: it does not fit. */
bool gp_follow_fill(char *const *environment, char *with[GP_FOLLOW_VARIABLES + 1]);

#endif
