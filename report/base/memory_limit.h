/*
 * memory_left: how much memory there is for us, so that a trace that is too large ends in a message
 * rather than in the kernel ending us, or the program beside us in a container.
 */
#ifndef REPORT_BASE_MEMORY_LIMIT_H
#define REPORT_BASE_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * Bytes that can be taken without anybody being ended: what the machine has left, and each control
 * group that this process is in; UINT64_MAX: not known.  root: where /proc and /sys are, "" but in
 * tests.
 */
uint64_t gp_memory_left(const char *root);

/*
 * From here on allocations fail beyond that (RLIMIT_DATA); a limit that is lower already stays.
 * Programs started later inherit it: not to be called before one is.  Returns what is left within
 * the limit that holds then; UINT64_MAX: there is none.
 */
uint64_t gp_memory_keep_within(uint64_t left_bytes);

#endif
