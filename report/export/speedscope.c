/*
 * The speedscope format: a profile for each measure, and one for the Python samples of each thread,
 * in order of time.  All profiles share one list of functions.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuprof/version.h"
#include "report/analysis/host/python_samples.h"
#include "report/codec/json_write.h"
#include "report/export/stack_export.h"
#include "report/model/process_name.h"

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

static void put_stack(struct gp_json *json, struct gp_call_tree *tree, uint32_t node,
		      const char *separator)
{
	uint32_t length;
	const uint32_t *path = gp_call_tree_path(tree, node, &length);

	gp_json_text(json, separator);
	for (uint32_t i = 0; i < length; i++) {
		gp_json_text(json, i > 0 ? "," : "[");
		gp_json_unsigned(json, tree->nodes[path[i]].site);
	}
	gp_json_text(json, "]");
}

static void put_samples(struct gp_json *json, struct gp_stack_profile *profile,
			enum gp_stack_metric measure)
{
	const char *separator = "\n";

	for (uint32_t node = 0; node < profile->tree.node_count; node++) {
		if (gp_stack_profile_value(profile, node, measure) == 0)
			continue;
		put_stack(json, &profile->tree, node, separator);
		separator = ",\n";
	}
}

static void put_weights(struct gp_json *json, const struct gp_stack_profile *profile,
			enum gp_stack_metric measure)
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

static void begin_profile(struct gp_json *json, const char *name, const char *unit, uint64_t total)
{
	gp_json_string_after(json, "\n{\"type\":\"sampled\",\"name\":", name);
	gp_json_string_after(json, ",\"unit\":", strcmp(unit, "count") == 0 ? "none" : unit);
	gp_json_text(json, ",\"startValue\":0,\"endValue\":");
	gp_json_unsigned(json, total);
	gp_json_text(json, ",\n\"samples\":[");
}

static void put_profile(struct gp_json *json, struct gp_stack_profile *profile,
			enum gp_stack_metric measure)
{
	begin_profile(json, gp_stack_metrics[measure].title, gp_stack_metrics[measure].unit,
		      profile->totals[measure]);
	put_samples(json, profile, measure);
	gp_json_text(json, "],\n\"weights\":[");
	put_weights(json, profile, measure);
	gp_json_text(json, "]}");
}

/* The chosen measure, or all with a value; at least one, as speedscope rejects a file without. */
static bool is_written(const struct gp_stack_profile *profile, enum gp_stack_metric chosen,
		       int measure)
{
	if (chosen < GP_STACK_METRICS)
		return measure == (int)chosen;
	return profile->totals[measure] > 0 || measure == 0;
}

static void put_profiles(struct gp_json *json, struct gp_stack_profile *profile,
			 enum gp_stack_metric chosen)
{
	int count = 0;

	for (int i = 0; i < GP_STACK_METRICS; i++) {
		if (!is_written(profile, chosen, i))
			continue;
		gp_json_text(json, count++ > 0 ? "," : "");
		put_profile(json, profile, (enum gp_stack_metric)i);
	}
}

/* ---- Python samples of each thread ---- */

/* The chosen samples of a thread: first to end.  Each part of a process has all samples. */
struct thread_samples {
	struct gp_stack_profile *profile;
	const struct gp_model *model;
	struct gp_slice_filter filter;
	uint32_t first, end;
};

/* The time of a sample; 0: it is not chosen. */
static uint64_t time_of(const struct thread_samples *samples, uint32_t index)
{
	struct gp_sample_time time = gp_python_sample_time(samples->model, index);

	return samples->model->samples[index].stack != GP_NONE &&
			       gp_slice_filter_has_in_any(&samples->filter, time.start_ns,
							  time.end_ns)
		       ? time.end_ns - time.start_ns
		       : 0;
}

static uint64_t sum_times(const struct thread_samples *samples)
{
	uint64_t total_ns = 0;

	for (uint32_t i = samples->first; i < samples->end; i++)
		total_ns += time_of(samples, i);
	return total_ns;
}

static void put_thread_samples(struct gp_json *json, const struct thread_samples *samples)
{
	struct gp_call_tree *tree = &samples->profile->tree;
	const char *separator = "\n";

	for (uint32_t i = samples->first; i < samples->end; i++) {
		if (time_of(samples, i) == 0)
			continue;
		put_stack(json, tree, gp_call_tree_find(tree, samples->model->samples[i].stack),
			  separator);
		separator = ",\n";
	}
}

static void put_times(struct gp_json *json, const struct thread_samples *samples)
{
	const char *separator = "\n";

	for (uint32_t i = samples->first; i < samples->end; i++) {
		uint64_t time_ns = time_of(samples, i);

		if (time_ns == 0)
			continue;
		gp_json_text(json, separator);
		gp_json_unsigned(json, time_ns);
		separator = ",";
	}
}

static void put_thread(struct gp_json *json, const struct thread_samples *samples,
		       bool names_process)
{
	char track[GP_HOST_TRACK_BYTES], name[GP_HOST_TRACK_BYTES + 48];
	uint64_t total_ns = sum_times(samples);

	if (total_ns == 0)
		return;
	gp_host_track_name(samples->model, samples->model->samples[samples->first].thread_id,
			   track);
	snprintf(name, sizeof(name), names_process ? "%s, %s" : "%s", track,
		 gp_process_name(samples->model).text);
	gp_json_text(json, ",");
	begin_profile(json, name, "nanoseconds", total_ns);
	put_thread_samples(json, samples);
	gp_json_text(json, "],\n\"weights\":[");
	put_times(json, samples);
	gp_json_text(json, "]}");
}

static void put_threads(struct gp_json *json, const struct gp_export_source *source,
			struct gp_stack_profile *profile)
{
	for (size_t i = 0; i < source->count && gp_export_is_first(source, i); i++) {
		struct thread_samples samples = {.profile = profile,
						 .model = source->get(source->context, i)};

		if (!samples.model)
			continue;
		samples.filter = gp_slice_filter_of(&profile->choice, samples.model);
		gp_call_tree_use(&profile->tree, samples.model);
		for (; samples.first < samples.model->sample_count; samples.first = samples.end) {
			samples.end = gp_python_samples_end(samples.model, samples.first);
			put_thread(json, &samples, source->count > 1 && !source->are_parts);
		}
		gp_call_tree_use(&profile->tree, NULL);
	}
}

/* ---- the file ---- */

/* The number of the profile to show first: the first one whose calls have stacks. */
static uint64_t find_active(const struct gp_stack_profile *profile, enum gp_stack_metric chosen)
{
	uint64_t number = 0;

	for (int i = 0; i < GP_STACK_METRICS; i++) {
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

static void put_file(struct gp_json *json, const struct gp_export_source *source,
		     struct gp_stack_profile *profile, enum gp_stack_metric measure)
{
	gp_json_text(json, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			   "\"exporter\":\"gpuprof " GP_VERSION "\",\n");
	gp_json_string_after(json, "\"name\":", name_of(source));
	gp_json_text(json, ",\n\"activeProfileIndex\":");
	gp_json_unsigned(json, find_active(profile, measure));
	gp_json_text(json, ",\n");
	put_frames(json, &profile->tree);
	gp_json_text(json, ",\n\"profiles\":[");
	put_profiles(json, profile, measure);
	if ((measure == GP_STACK_METRICS || measure == GP_STACK_METRIC_HOST_TIME))
		put_threads(json, source, profile);
	gp_json_text(json, "\n]}\n");
}

static int write_file(const struct gp_export_source *source, struct gp_stack_profile *profile,
		      enum gp_stack_metric chosen, FILE *out)
{
	struct gp_json json = {0};
	int closed;

	gp_json_open(&json, out);
	put_file(&json, source, profile, chosen);
	closed = gp_json_close(&json);
	return closed;
}

static int write_speedscope(const struct gp_export_source *source,
			    const struct gp_export_options *options, FILE *out)
{
	return gp_stack_export(source, options, false, write_file, out);
}

const struct gp_exporter gp_exporter_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.help = "call stacks with all values, or that of --value",
	.readers = "https://www.speedscope.app",
	.heeds = GP_EXPORT_VALUE | GP_EXPORT_PART | GP_EXPORT_MEMORY,
	.write = write_speedscope,
};
