#include "inject/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool silent;

void gp_say_nothing(void)
{
	silent = true;
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
		/* a closed or full stderr is the program's business */
		ssize_t written = write(STDERR_FILENO, line, used);

		(void)written;
	}
	errno = saved_errno;
}
