#include "report/export/export.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/base/text/format.h"
#include "report/codec/gzip.h"

const struct gp_exporter *const gp_exporters[] = {
	&gp_exporter_chrome,     &gp_exporter_perfetto,    &gp_exporter_folded,
	&gp_exporter_speedscope, &gp_exporter_pprof,       &gp_exporter_csv,
	&gp_exporter_jsonl,      &gp_exporter_sqlite,      &gp_exporter_parquet,
	&gp_exporter_columns,    &gp_exporter_openmetrics, NULL,
};

static const struct gp_model *get_itself(void *model, size_t index)
{
	(void)index;
	return model;
}

uint64_t gp_export_most_slices(const struct gp_model *model)
{
	uint64_t count = 0;

#define GP_TIMELINE_SLICES(id, category, word, member) count += model->member;
#include "report/timeline/kind.def"
	return count;
}

static int write_file(const struct gp_exporter *exporter, const struct gp_export_source *source,
		      const struct gp_export_options *options, struct gp_output_file *file)
{
	if (gp_gzip_is_meant(file->path) && !exporter->is_compressed)
		gp_output_file_compress(file);
	return exporter->write(source, options, file->stream);
}

int gp_export_to(const struct gp_exporter *exporter, const struct gp_export_source *source,
		 const struct gp_export_options *options, const char *path, const char *trace,
		 char *message, size_t message_bytes)
{
	const char *trouble = NULL;
	struct gp_output_file file;
	int result;

	if (exporter->write_folder)
		return exporter->write_folder(source, options, path, message, message_bytes);
	result = gp_output_file_open(&file, path, trace, message, message_bytes);
	if (result != 0)
		return result;
	result = write_file(exporter, source, options, &file);
	if (result == 0 && source->trouble)
		trouble = source->trouble(source->context);
	result = gp_output_file_close(&file, trouble ? -EIO : result, message, message_bytes);
	if (trouble)
		snprintf(message, message_bytes, "%s", trouble);
	return result;
}

struct gp_export_source gp_export_source_of(const struct gp_model *model)
{
	return (struct gp_export_source){.count = 1, .get = get_itself, .context = (void *)model};
}

int gp_export_model(const struct gp_exporter *exporter, const struct gp_model *model,
		    const struct gp_export_options *options, FILE *out)
{
	const struct gp_export_source source = gp_export_source_of(model);

	return exporter->write(&source, options, out);
}

const char *gp_export_unheeded(const struct gp_exporter *exporter,
			       const struct gp_export_options *options)
{
	if (!(exporter->heeds & GP_EXPORT_LIMIT) && options->slice_limit > 0)
		return "--limit (for slices)";
	if (!(exporter->heeds & GP_EXPORT_VALUE) && options->measure < GP_STACK_METRICS)
		return "--value (for call stacks)";
	if (!(exporter->heeds & GP_EXPORT_PART) && !gp_slice_choice_is_all(&options->choice))
		return "--start, --end, --min-duration and --parts (for events)";
	if (!(exporter->heeds & GP_EXPORT_STREAM_RANGES) && options->ranges_on_streams)
		return "--ranges-on-streams (for Chrome traces)";
	if (!(exporter->heeds & GP_EXPORT_CURVES) && options->counters)
		return "--counters (for Chrome and Perfetto traces)";
	if (!(exporter->heeds & GP_EXPORT_CURVES) && options->critical_path)
		return "--critical-path (for Chrome and Perfetto traces)";
	return NULL;
}

void gp_export_explain_cut(uint64_t ranges, FILE *messages)
{
	if (ranges > 0 && messages)
		fprintf(messages,
			"gpuprof: %s range%s without GPU operations, because they span more events than fit in memory: increase --at-once N\n",
			gp_format_count(ranges).text, ranges == 1 ? "" : "s");
}

uint64_t gp_export_base_unix_ns(const struct gp_export_source *source)
{
	uint64_t base_unix_ns = UINT64_MAX;

	for (size_t i = 0; i < source->count && gp_export_is_first(source, i); i++) {
		const struct gp_model *model = source->get(source->context, i);

		if (model && model->base_unix_ns < base_unix_ns)
			base_unix_ns = model->base_unix_ns;
	}
	return base_unix_ns;
}

const struct gp_exporter *gp_exporter_find(const char *name)
{
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

void gp_exporter_list(char *text, size_t text_bytes)
{
	size_t used = 0;

	text[0] = '\0';
	for (const struct gp_exporter *const *at = gp_exporters; *at && used < text_bytes; at++)
		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s",
					 used > 0 ? ", " : "", (*at)->name);
}
