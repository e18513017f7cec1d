/*
 * left_behind: the processes that a program left running, by the environment that they started
 * with. A process that cleared it, or that may not be looked at, is not found.
 */
#ifndef REPORT_RUN_LEFT_BEHIND_H
#define REPORT_RUN_LEFT_BEHIND_H

#include <stddef.h>

/*
 * Writes the first ones as "pid 12 (python), pid 13 (sh)" into text, "" if there is none. session:
 * the folder that gpuprof-run named to the program. Returns their number.
 */
size_t gp_left_behind(const char *session, char *text, size_t text_bytes);

#endif
