/*
 * emulated: for tests of what the emulator of tests/arm64 does differently from Linux. Each
 * reason is shown in docs/design/validation.md.
 */
#ifndef TESTS_LIB_EMULATED_H
#define TESTS_LIB_EMULATED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define EMULATED_THREADS "/proc counts a thread of the emulator"
#define EMULATED_MEMORY  "/proc counts the memory of the emulator"
#define EMULATED_WIPE    "madvise() about forks is ignored"
#define EMULATED_VFORK   "vfork() copies the memory, as fork() does"
#define EMULATED_LOCK    "a child hangs if it was forked while another thread created one"
#define EMULATED_LIMITS  "limits of memory are ignored"
#define EMULATED_USERS   "its namespace has one user"

/* Whether the test runs there; prints why it is skipped then. */
static inline bool is_emulated(const char *reason)
{
	if (getenv("TESTS_EMULATED") == NULL)
		return false;
	printf("skipped: under the emulator %s\n", reason);
	return true;
}

#endif
