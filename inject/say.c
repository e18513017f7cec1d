#include "inject/say.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector/sys.h"

static bool silent;

void gp_say_nothing(void)
{
	silent = true;
}

/* Nobody may read what the program writes to, which is its business: our line must not be what ends it. */
static void put(const char *line, size_t bytes)
{
	static const struct timespec at_once = {0, 0};
	sigset_t pipe, pending, before;
	int error;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigemptyset(&pending);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	gp_sys_write(STDERR_FILENO, line, bytes, &error);
	if (error == -EPIPE && !sigismember(&pending, SIGPIPE))
		gp_sys.call(SYS_rt_sigtimedwait, (long)&pipe, 0, (long)&at_once, NSIG / 8, 0, 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gp_say(const char *format, ...)
{
	static const char prefix[] = "gpuprof: ";
	char line[1024];
	size_t used = sizeof(prefix) - 1;
	int saved_errno = errno;
	va_list arguments;

	if (silent)
		return;
	memcpy(line, prefix, used);
	va_start(arguments, format);
	int length = vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
	va_end(arguments);
	if (length > 0) {
		size_t room = sizeof(line) - used - 2;

		used += (size_t)length < room ? (size_t)length : room;
		line[used++] = '\n';
		put(line, used);
	}
	errno = saved_errno;
}
