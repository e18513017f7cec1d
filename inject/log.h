/*
 * log: the library's own lines on stderr.  Any thread; async-signal-safe except for %f; silent
 * under GPUPROF_QUIET.
 */
#ifndef INJECT_LOG_H
#define INJECT_LOG_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Print "gpuprof: " and one formatted line with one write(), unless stderr is not visible.  Control
 * characters in paths and variables are escaped.  Preserves errno.
 */
void gp_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Remember the file of standard error.  A program may close it, and later get the number for a file
 * or connection of its own: our lines must not go there.
 */
void gp_log_remember_stderr(void);

/*
 * Whether standard error is still the file of the start; or is the same file as standard output,
 * and that is a pipe, a socket or a file opened for appending.
 */
bool gp_log_is_visible(void);

/*
 * Keep the lines from now on instead of printing them, as many as fit.  gp_log_take(): those since
 * the last call, each as it would be printed; one thread at a time.
 */
void gp_log_keep(void);
void gp_log_take(char *text, size_t bytes);

/* Print nothing from now on. */
void gp_log_disable(void);

#endif
