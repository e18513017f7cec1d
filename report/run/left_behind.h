/*
 * left_behind: the processes that a program left running. They are found by the environment with
 * which they started. A process that cleared it, or whose environment is not readable, is not
 * found.
 */
#ifndef REPORT_RUN_LEFT_BEHIND_H
#define REPORT_RUN_LEFT_BEHIND_H

#include <stddef.h>

/*
 * Writes the first three into text, as "pid 12 (python), pid 13 (sh)"; "" if there is none.
 * session: the folder that gpuprof-run passed to the program. Returns the number of all.
 */
size_t gp_left_behind(const char *session, char *text, size_t text_bytes);

#endif
