/*
 * loader: dl_iterate_phdr(), but not while the process forks.
 *
 * It holds a lock of the loader's, and until glibc 2.38 a forked child has that lock as it was: had another thread held it, the child's
 * next dlopen() or exception would wait for ever.  Ours, which ask often, wait while a fork is under way, and a fork waits for those that ask.
 */
#ifndef STACKS_LOADER_H
#define STACKS_LOADER_H

#include <link.h>

typedef int gp_loader_look(struct dl_phdr_info *info, size_t bytes, void *user);

/* dl_iterate_phdr().  Any thread. */
void gp_loader_ask(gp_loader_look *look, void *user);

#endif
