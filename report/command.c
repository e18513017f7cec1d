#include "report/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

int gp_command_wrote(const char *path)
{
	if (strcmp(path, "-") != 0 && isatty(STDERR_FILENO))
		fprintf(stderr, "gpuprof: wrote %s\n", path);
	return 0;
}
