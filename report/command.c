#include "report/command.h"

#include <stdarg.h>
#include <stdio.h>

int gp_command_fail(int status, const char *format, ...)
{
	va_list arguments;

	fputs("gpuprof: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return status;
}
