/*
 * write_all: bytes into a descriptor, however often a write() takes only part of them, has no room
 * for any where it is not to wait, or is interrupted by a signal.
 */
#ifndef REPORT_BASE_IO_H
#define REPORT_BASE_IO_H

#include <stddef.h>

/* Returns 0, or the negative errno value of the write that failed: part may be written then. */
int gp_write_all(int fd, const void *from, size_t bytes);

#endif
