#include "report/export_request.h"

int gp_export_request_take_format(const struct gp_command_line *line, const char *name)
{
	struct gp_export_request *request = line->arguments;
	char formats[GP_EXPORTER_LIST_BYTES];

	request->exporter = gp_exporter_find(name);
	if (request->exporter)
		return GP_COMMAND_GO_ON;
	gp_exporter_list(formats, sizeof(formats));
	return gp_command_fail(GP_EXIT_USAGE, "%s: there is no format %s; name one of %s",
			       line->command, name, formats);
}

int gp_export_request_take_value(const struct gp_command_line *line, const char *word)
{
	struct gp_export_request *request = line->arguments;

	request->options.measure = gp_measure_find(word);
	if (request->options.measure < GP_MEASURES)
		return GP_COMMAND_GO_ON;
	return gp_command_fail(GP_EXIT_USAGE, "%s: there is no value %s; see gpuprof export --help",
			       line->command, word);
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
