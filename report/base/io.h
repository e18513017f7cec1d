/*
 * io: writes all bytes to a descriptor, over partial writes, signals, and EAGAIN of a non-blocking
 * one.
 */
#ifndef REPORT_BASE_IO_H
#define REPORT_BASE_IO_H

#include <stddef.h>

/*
 * Returns 0, or the negative errno value of the failed write; part of the bytes may be written
 * then.
 */
int gp_write_all(int fd, const void *from, size_t bytes);

#endif
