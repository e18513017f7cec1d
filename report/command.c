#include "report/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/output_file.h"

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

bool gp_command_output_is_free(const char *command, const char *output, char *const *traces,
			       size_t trace_count)
{
	for (size_t i = 0; output && i < trace_count; i++)
		if (gp_output_is_same(output, traces[i])) {
			gp_command_fail(0,
					"%s: %s is one of the traces; name another file after -o",
					command, output);
			return false;
		}
	return true;
}
