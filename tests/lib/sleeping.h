/*
 * sleeping: recognizes gp_sys_sleep() among the system calls, for tests that replace gp_sys.call.
 */
#ifndef TESTS_LIB_SLEEPING_H
#define TESTS_LIB_SLEEPING_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

/*
 * gp_sys_sleep() waits on a word on the thread's own stack, which no other thread uses.  Other
 * waits use shared words.
 */
static inline bool is_sleep(long number, long word, long operation)
{
	char here;
	uint64_t above = (uint64_t)word - (uint64_t)(uintptr_t)&here;

	return number == SYS_futex && operation == FUTEX_WAIT_PRIVATE && above < 65536;
}

#endif
