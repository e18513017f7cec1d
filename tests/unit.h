/* unit: cmocka, after the headers that it needs. */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

/* End the test if it takes so many seconds of processor time from now on; 0: no limit. */
static inline void limit_processor_s(int seconds)
{
	struct itimerval timer = {.it_value.tv_sec = seconds};

	setitimer(ITIMER_PROF, &timer, NULL);
}

/* The same before and after code that closes all files that it opens. */
static inline int first_free_fd(void)
{
	int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

#endif
