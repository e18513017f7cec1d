/* say: the library's own lines on stderr.  Any thread; async-signal-safe except for %f; silent
 * under GPUPROF_QUIET. */
#ifndef INJECT_SAY_H
#define INJECT_SAY_H

/* Print "gpuprof: " and one formatted line, at most 1 KiB, with one write().  Keeps errno. */
void gp_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print nothing from now on. */
void gp_say_nothing(void);

#endif
