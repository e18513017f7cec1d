#include "report/load/command.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpuprof/option.h"
#include "report/base/memstream.h"
#include "report/base/text/did_you_mean.h"
#include "report/codec/output_file.h"
#include "report/base/text/text.h"
#include "report/base/text/duration.h"

static struct {
	FILE *out; /* NULL: nothing is held */
	char *text;
	size_t bytes;
} held;

void gp_command_hold(void)
{
	held.out = open_memstream(&held.text, &held.bytes);
}

void gp_command_release(bool is_printed)
{
	if (!held.out)
		return;
	if (gp_memstream_close(held.out, &held.text) == 0 && is_printed)
		fwrite(held.text, 1, held.bytes, stderr);
	free(held.text);
	held.out = NULL;
	held.text = NULL;
}

int gp_command_fail(int status, const char *format, ...)
{
	FILE *out = held.out ? held.out : stderr;
	char *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&message, format, arguments) < 0)
		message = NULL;
	va_end(arguments);
	fputs("gpuprof: ", out);
	gp_text_print(out, message ? message : "(no memory)");
	fputc('\n', out);
	free(message);
	return status;
}

int gp_command_refuse(const char *command, const char *what, const struct gp_did_you_mean *nearest,
		      const char *otherwise)
{
	if (nearest->found)
		return gp_command_fail(GP_EXIT_USAGE, "%s: there is no %s %s; did you mean %s?",
				       command, what, nearest->word, nearest->found);
	return gp_command_fail(GP_EXIT_USAGE, "%s: there is no %s %s; %s", command, what,
			       nearest->word, otherwise);
}

bool gp_command_number(const char *command, const char *option, const char *text, uint64_t most,
		       uint64_t *number)
{
	const char *end = gp_option_digits(text, number);

	if (end && *end == '\0' && *number <= most)
		return true;
	gp_command_fail(0, "%s: %s needs a number up to %" PRIu64 ", not %s", command, option, most,
			text);
	return false;
}

bool gp_command_time(const char *command, const char *option, const char *text, uint64_t *time_ns)
{
	double ns;

	if (gp_duration_read(text, &ns) && ns < 0x1p63) {
		*time_ns = (uint64_t)llround(ns);
		return true;
	}
	gp_command_fail(
		0, "%s: %s needs a time with its unit, such as 1.5s, 20ms, 300us or 5000ns, not %s",
		command, option, text);
	return false;
}

int gp_command_wrote(const char *path, bool is_given)
{
	if (strcmp(path, "-") != 0 && (!is_given || isatty(STDERR_FILENO))) {
		fputs("gpuprof: wrote ", stderr);
		gp_text_print(stderr, path);
		fputc('\n', stderr);
	}
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

int gp_command_check_traces(const char *command, const char *output, char *const *traces,
			    size_t trace_count)
{
	if (trace_count == 0)
		return gp_command_fail(GP_EXIT_USAGE, "%s: name trace files; see gpuprof %s --help",
				       command, command);
	return gp_command_output_is_free(command, output, traces, trace_count) ? GP_COMMAND_GO_ON
									       : GP_EXIT_USAGE;
}
