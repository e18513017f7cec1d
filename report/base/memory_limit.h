/*
 * memory_limit: bounds the memory of gpuprof, so that a trace that is too large ends in a message.
 * Without the bound the kernel would kill gpuprof, or the profiled program in the same container.
 */
#ifndef REPORT_BASE_MEMORY_LIMIT_H
#define REPORT_BASE_MEMORY_LIMIT_H

#include <stdint.h>

/*
 * The bytes that gpuprof can take before the kernel kills a process: the least of what the machine
 * and each control group of this process have left; UINT64_MAX if unknown. `root` is where /proc
 * and /sys are: "" except in tests.
 */
uint64_t gp_memory_left(const char *root);

/*
 * Makes allocations fail beyond left_bytes more (RLIMIT_DATA); a lower limit stays. Programs
 * started later inherit the limit, so start them before. Returns the bytes left within the limit;
 * UINT64_MAX if there is no limit.
 */
uint64_t gp_memory_keep_within(uint64_t left_bytes);

#endif
