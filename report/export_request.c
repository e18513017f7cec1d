#include "report/export_request.h"

#include "report/nearest.h"

int gp_export_request_take_format(const struct gp_command_line *line, const char *name)
{
	struct gp_export_request *request = line->arguments;
	char formats[GP_EXPORTER_LIST_BYTES], otherwise[GP_EXPORTER_LIST_BYTES + 16];
	struct gp_nearest nearest = {.word = name};

	request->exporter = gp_exporter_find(name);
	if (request->exporter)
		return GP_COMMAND_GO_ON;
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		gp_nearest_try(&nearest, (*at)->name);
	gp_exporter_list(formats, sizeof(formats));
	snprintf(otherwise, sizeof(otherwise), "name one of %s", formats);
	return gp_command_refuse(line->command, "format", &nearest, otherwise);
}

int gp_export_request_take_value(const struct gp_command_line *line, const char *word)
{
	struct gp_export_request *request = line->arguments;
	struct gp_nearest nearest = {.word = word};

	request->options.measure = gp_measure_find(word);
	if (request->options.measure < GP_MEASURES)
		return GP_COMMAND_GO_ON;
	for (size_t i = 0; i < GP_MEASURES; i++)
		gp_nearest_try(&nearest, gp_measures[i].word);
	return gp_command_refuse(line->command, "value", &nearest, "see gpuprof export --help");
}

int gp_export_request_check(const struct gp_command_line *line)
{
	const struct gp_export_request *request = line->arguments;
	const char *option = gp_export_unheeded(request->exporter, &request->options);

	if (!option)
		return GP_COMMAND_GO_ON;
	return gp_command_fail(GP_EXIT_USAGE, "%s: %s, which --format %s does not write",
			       line->command, option, request->exporter->name);
}
