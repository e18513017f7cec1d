/*
 * loader: dl_iterate_phdr(), but not while the process forks.
 *
 * It holds a lock of the loader's, and until glibc 2.38 a forked child has that lock as it was: had another thread held it, the child's
 * next dlopen() or exception would wait for ever.  Ours, which ask often, wait while a fork is under way, and a fork waits for those that ask.
 * A thread may lose the processor while it asks, and a fork of a large process takes long: both wait for more than a second if need be.
 */
#ifndef STACKS_LOADER_H
#define STACKS_LOADER_H

#include <link.h>
#include <stdbool.h>

typedef int gp_loader_visitor(struct dl_phdr_info *info, size_t bytes, void *user);

/* dl_iterate_phdr().  Any thread.  False: it did not ask, for a fork has been under way for too long, or is this thread's own. */
bool gp_loader_iterate(gp_loader_visitor *visitor, void *user);

/*
 * The same without a system call, for a look that is over at once.  gp_loader_iterate() has no handler of a signal run meanwhile: one that leaves
 * by a jump would leave the loader's lock taken, and a fork waiting for it, once.
 */
bool gp_loader_iterate_quick(gp_loader_visitor *visitor, void *user);

#endif
