/* say: the library's own lines on stderr.  Any thread; async-signal-safe except for %f; silent
 * under GPUPROF_QUIET. */
#ifndef INJECT_SAY_H
#define INJECT_SAY_H

#include <stdbool.h>

/*
 * Print "gpuprof: " and one formatted line, with one write(); nowhere, where nobody reads it.  What paths and variables hold is
 * written out where a terminal would take it for a command.  Keeps errno.
 */
void gp_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Remember which file standard error is.  A program may close it, and have the number for a file or a connection of its own later: lines
 * of ours are no part of that.
 */
void gp_log_remember_stderr(void);

/*
 * Whether what is written to standard error goes where it went at the start; or where standard output goes now, and that is a pipe, a
 * socket or a file that is open for appending.
 */
bool gp_log_is_visible(void);

/* Print nothing from now on. */
void gp_log_disable(void);

#endif
