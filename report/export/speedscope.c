/* speedscope's own format: a profile for each measure, the functions shared. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/version.h"
#include "report/json_write.h"
#include "report/stack_profile.h"

static void put_frames(struct gp_json *json, const struct gp_call_tree *tree)
{
	char label[GP_SITE_LABEL_BYTES];

	gp_json_text(json, "\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < tree->site_count; i++) {
		const struct gp_place *site = &tree->sites[i];

		gp_json_text(json, i > 0 ? ",\n" : "\n");
		gp_json_string_after(json, "{\"name\":", gp_site_label(site, label));
		if (site->file[0])
			gp_json_string_after(json, ",\"file\":", site->file);
		gp_json_text(json, "}");
	}
	gp_json_text(json, "\n]}");
}

static int put_samples(struct gp_json *json, struct gp_stack_profile *profile,
		       enum gp_measure measure)
{
	const char *separator = "\n[";

	for (uint32_t node = 0; node < profile->tree.node_count; node++) {
		uint32_t length;
		const uint32_t *path;

		if (gp_stack_profile_value(profile, node, measure) == 0)
			continue;
		path = gp_call_tree_path(&profile->tree, node, &length);
		if (!path)
			return -ENOMEM;
		gp_json_text(json, separator);
		separator = ",\n[";
		for (uint32_t i = 0; i < length; i++) {
			gp_json_text(json, i > 0 ? "," : "");
			gp_json_unsigned(json, profile->tree.nodes[path[i]].site);
		}
		gp_json_text(json, "]");
	}
	return 0;
}

static void put_weights(struct gp_json *json, const struct gp_stack_profile *profile,
			enum gp_measure measure)
{
	const char *separator = "\n";

	for (uint32_t node = 0; node < profile->tree.node_count; node++) {
		uint64_t value = gp_stack_profile_value(profile, node, measure);

		if (value == 0)
			continue;
		gp_json_text(json, separator);
		gp_json_unsigned(json, value);
		separator = ",";
	}
}

static int put_profile(struct gp_json *json, struct gp_stack_profile *profile,
		       enum gp_measure measure)
{
	const struct gp_measure_about *about = &gp_measures[measure];
	int result;

	gp_json_string_after(json, "\n{\"type\":\"sampled\",\"name\":", about->title);
	gp_json_string_after(
		json, ",\"unit\":", strcmp(about->unit, "count") == 0 ? "none" : about->unit);
	gp_json_text(json, ",\"startValue\":0,\"endValue\":");
	gp_json_unsigned(json, profile->totals[measure]);
	gp_json_text(json, ",\n\"samples\":[");
	result = put_samples(json, profile, measure);
	gp_json_text(json, "],\n\"weights\":[");
	put_weights(json, profile, measure);
	gp_json_text(json, "]}");
	return result;
}

/* The one that was chosen, or all that there are; at least one, for speedscope shows no empty file. */
static bool is_written(const struct gp_stack_profile *profile, enum gp_measure chosen, int measure)
{
	if (chosen < GP_MEASURES)
		return measure == (int)chosen;
	return profile->totals[measure] > 0 || measure == 0;
}

static int put_profiles(struct gp_json *json, struct gp_stack_profile *profile,
			enum gp_measure chosen)
{
	int result = 0, count = 0;

	for (int i = 0; i < GP_MEASURES && result == 0; i++) {
		if (!is_written(profile, chosen, i))
			continue;
		gp_json_text(json, count++ > 0 ? "," : "");
		result = put_profile(json, profile, (enum gp_measure)i);
	}
	return result;
}

/* The number of the profile that is shown first: the first one whose calls have stacks. */
static uint64_t find_active(const struct gp_stack_profile *profile, enum gp_measure chosen)
{
	uint64_t number = 0;

	for (int i = 0; i < GP_MEASURES; i++) {
		if (!is_written(profile, chosen, i))
			continue;
		if (profile->without_stack[i] < profile->totals[i])
			return number;
		number++;
	}
	return 0;
}

static const char *name_of(const struct gp_export_source *source)
{
	const struct gp_model *model = source->count > 0 ? source->get(source->context, 0) : NULL;

	return basename(model && model->path ? model->path : "gpuprof");
}

static int put_file(struct gp_json *json, struct gp_stack_profile *profile, enum gp_measure measure,
		    const char *name)
{
	int result;

	gp_json_text(json, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			   "\"exporter\":\"gpuprof " GP_VERSION "\",\n");
	gp_json_string_after(json, "\"name\":", name);
	gp_json_text(json, ",\n\"activeProfileIndex\":");
	gp_json_unsigned(json, find_active(profile, measure));
	gp_json_text(json, ",\n");
	put_frames(json, &profile->tree);
	gp_json_text(json, ",\n\"profiles\":[");
	result = put_profiles(json, profile, measure);
	gp_json_text(json, "\n]}\n");
	return result;
}

static int write_file(const struct gp_export_source *source, struct gp_stack_profile *profile,
		      enum gp_measure chosen, FILE *out)
{
	struct gp_json json = {0};
	int result = gp_json_open(&json, out), closed;

	if (result < 0)
		return result;
	result = put_file(&json, profile, chosen, name_of(source));
	closed = gp_json_close(&json);
	return result < 0 ? result : closed;
}

static int write_speedscope(const struct gp_export_source *source,
			    const struct gp_export_options *options, FILE *out)
{
	return gp_stack_profile_export(source, options, false, write_file, out);
}

const struct gp_exporter gp_exporter_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.help = "call stacks with all values, or --value",
	.readers = "https://www.speedscope.app",
	.heeds = GP_EXPORT_VALUE | GP_EXPORT_PART,
	.write = write_speedscope,
};
