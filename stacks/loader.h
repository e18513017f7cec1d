/*
 * loader: dl_iterate_phdr(), but never during a fork.
 *
 * It holds a lock of the loader.  Until glibc 2.38 a forked child inherits the state of that lock:
 * if another thread held it, the child's next dlopen() or exception would hang.  Profiler threads
 * iterate often, so they wait while a fork is under way, and a fork waits for them.  An iterating
 * thread may lose its CPU, and a fork of a large process takes long: both sides wait over a second
 * if needed.
 */
#ifndef STACKS_LOADER_H
#define STACKS_LOADER_H

#include <link.h>
#include <stdbool.h>

typedef int gp_loader_visitor(struct dl_phdr_info *info, size_t bytes, void *user);

/*
 * dl_iterate_phdr().  Any thread.  False: not called, because a fork has been under way for too
 * long, or is on this very thread.
 */
bool gp_loader_iterate(gp_loader_visitor *visitor, void *user);

/*
 * The same without a system call, for a visitor that returns quickly.  gp_loader_iterate() blocks
 * signals meanwhile: a handler that jumped out would leave the loader's lock taken, and delay a
 * fork once.
 */
bool gp_loader_iterate_quick(gp_loader_visitor *visitor, void *user);

#endif
