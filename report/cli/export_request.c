#include "report/cli/export_request.h"

#include <stdlib.h>
#include <string.h>

#include "gpuprof/shell_word.h"
#include "gpuprof/trace.h"
#include "report/base/text/did_you_mean.h"
#include "report/codec/gzip.h"
#include "report/codec/output_file.h"

int gp_export_request_take_format(const struct gp_command_line *line, const char *name)
{
	struct gp_export_request *request = line->arguments;
	char formats[GP_EXPORTER_LIST_BYTES], otherwise[GP_EXPORTER_LIST_BYTES + 16];
	struct gp_did_you_mean nearest = {.word = name};

	request->exporter = gp_exporter_find(name);
	if (request->exporter)
		return GP_COMMAND_GO_ON;
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		gp_did_you_mean_try(&nearest, (*at)->name);
	gp_exporter_list(formats, sizeof(formats));
	snprintf(otherwise, sizeof(otherwise), "use one of %s", formats);
	return gp_command_refuse(line->command, "format", &nearest, otherwise);
}

int gp_export_request_take_value(const struct gp_command_line *line, const char *word)
{
	struct gp_export_request *request = line->arguments;
	struct gp_did_you_mean nearest = {.word = word};

	request->options.measure = gp_stack_metric_find(word);
	if (request->options.measure < GP_STACK_METRICS)
		return GP_COMMAND_GO_ON;
	for (size_t i = 0; i < GP_STACK_METRICS; i++)
		gp_did_you_mean_try(&nearest, gp_stack_metrics[i].word);
	return gp_command_refuse(line->command, "value", &nearest, "see gpuprof export --help");
}

int gp_export_request_check(const struct gp_command_line *line)
{
	const struct gp_export_request *request = line->arguments;
	const char *option = gp_export_unheeded(request->exporter, &request->options);

	if (!option)
		return GP_COMMAND_GO_ON;
	return gp_command_fail(GP_EXIT_USAGE, "%s: --format %s does not support %s", line->command,
			       request->exporter->name, option);
}

static bool is_trace_name(const char *path)
{
	size_t length = strlen(path), ending = strlen(GP_TRACE_SUFFIX);

	return length > ending && strcmp(path + length - ending, GP_TRACE_SUFFIX) == 0;
}

int gp_export_request_check_name(const struct gp_command_line *line, const char *output)
{
	const struct gp_exporter *exporter =
		((struct gp_export_request *)line->arguments)->exporter;
	char word[GP_SHELL_WORD_BYTES], *path;
	int status;

	if (output && exporter->write_folder &&
	    (strcmp(output, "-") == 0 || gp_gzip_is_meant(output)))
		return gp_command_fail(GP_EXIT_USAGE,
				       "%s: --format %s writes a folder; name it after -o",
				       line->command, exporter->name);
	if (!output || !is_trace_name(output) || gp_output_is_trace(output))
		return GP_COMMAND_GO_ON;
	path = gp_output_path(output, exporter->suffix);
	status = gp_command_fail(
		GP_EXIT_USAGE,
		"%s: --format %s does not write a trace, so the name cannot end in " GP_TRACE_SUFFIX
		"; use -o %s",
		line->command, exporter->name,
		path ? gp_shell_word(path, word, sizeof(word)) : "OUT");
	free(path);
	return status;
}
