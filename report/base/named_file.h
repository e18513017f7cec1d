/*
 * named_file: opens a file that a trace names. A trace may come from anybody and name anything: a
 * pipe without a writer, a device, a link.
 */
#ifndef REPORT_BASE_NAMED_FILE_H
#define REPORT_BASE_NAMED_FILE_H

#include <stdbool.h>

/*
 * Opens a regular file for reading, without waiting. flags: O_NOFOLLOW or 0. Returns a descriptor
 * or a negative errno value; -EINVAL for other kinds of files, which are not opened: opening some
 * devices has an effect, for example starts a watchdog.
 */
int gp_named_file_open(const char *path, int flags);

/* Whether the path is absolute and leads into /proc, /dev or /sys, which hold no program files. */
bool gp_named_file_is_of_kernel(const char *path);

#endif
