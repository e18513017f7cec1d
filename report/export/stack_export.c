#include "report/export/stack_export.h"

#include <errno.h>

/* -ENODATA: no process. */
static int add_all(struct gp_stack_profile *profile, const struct gp_export_source *source)
{
	int result = -ENODATA;

	for (size_t i = 0; i < source->count && (result == 0 || result == -ENODATA); i++) {
		const struct gp_model *model = source->get(source->context, i);

		if (model)
			result = gp_stack_profile_add(profile, model);
	}
	return result;
}

int gp_stack_export(const struct gp_export_source *source, const struct gp_export_options *options,
		    bool with_lines,
		    int (*write)(const struct gp_export_source *source,
				 struct gp_stack_profile *profile, enum gp_stack_metric chosen,
				 FILE *out),
		    FILE *out)
{
	struct gp_stack_profile profile;
	int result = gp_stack_profile_open(&profile, with_lines, false);

	profile.choice = options->choice;
	if (result == 0)
		result = add_all(&profile, source);
	if (result == 0)
		result = write(source, &profile, options->measure, out);
	if (result == 0 && options->messages)
		gp_stack_profile_explain(&profile, gp_stack_metric_chosen(options->measure),
					 options->messages);
	gp_stack_profile_close(&profile);
	return result;
}
