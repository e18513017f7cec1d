#include "report/document/openmetrics_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/base/memstream.h"
#include "report/base/text/text.h"

void gp_openmetrics_free(struct gp_openmetrics_samples *samples)
{
	gp_groups_free(&samples->labels);
	free(samples->values);
	*samples = (struct gp_openmetrics_samples){0};
}

/* ---- labels ---- */

void gp_openmetrics_begin(struct gp_openmetrics_labels *labels, uint32_t pid, const char *program)
{
	labels->stream = open_memstream(&labels->text, &labels->bytes);
	fprintf(labels->stream, "pid=\"%" PRIu32 "\"", pid);
	gp_openmetrics_label(labels, "program", program ? program : "");
}

/* Escapes characters that are not allowed in labels, and control characters of terminals. */
void gp_openmetrics_label(struct gp_openmetrics_labels *labels, const char *name, const char *value)
{
	char *escaped = gp_text_escape(value);

	fprintf(labels->stream, ",%s=\"", name);
	for (const char *at = escaped; *at; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', labels->stream);
		fputc(*at, labels->stream);
	}
	fputc('"', labels->stream);
	free(escaped);
}

void gp_openmetrics_end(struct gp_openmetrics_labels *labels,
			const struct gp_openmetrics_metric *metric,
			struct gp_openmetrics_samples *samples, uint64_t value)
{
	uint32_t known = samples->labels.count, row;

	gp_memstream_close(labels->stream, &labels->text);
	row = gp_groups_find(&samples->labels, labels->text);
	free(labels->text);
	if (row == known) {
		gp_array_grow(&samples->values, &samples->capacity, row, sizeof(*samples->values));
		samples->values[row] = value;
	} else if (metric->kind != GP_OPENMETRICS_MOST) {
		samples->values[row] += value;
	} else if (value > samples->values[row]) {
		samples->values[row] = value;
	}
}

/* ---- the text ---- */

static const char *const units[] = {
	[GP_OPENMETRICS_COUNT] = "",
	[GP_OPENMETRICS_SECONDS] = "_seconds",
	[GP_OPENMETRICS_BYTES] = "_bytes",
	[GP_OPENMETRICS_JOULES] = "_joules",
};

static void write_value(FILE *out, enum gp_openmetrics_unit unit, uint64_t value)
{
	if (unit == GP_OPENMETRICS_SECONDS)
		fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", value / 1000000000, value % 1000000000);
	else if (unit == GP_OPENMETRICS_JOULES)
		fprintf(out, "%" PRIu64 ".%06" PRIu64 "\n", value / 1000000, value % 1000000);
	else
		fprintf(out, "%" PRIu64 "\n", value);
}

void gp_openmetrics_write(FILE *out, const struct gp_openmetrics_metric *metric,
			  const struct gp_openmetrics_samples *samples)
{
	const char *unit = units[metric->unit];
	bool is_counter = metric->kind == GP_OPENMETRICS_COUNTER;

	if (samples->labels.count == 0)
		return;
	fprintf(out, "# TYPE %s%s %s\n", metric->name, unit, is_counter ? "counter" : "gauge");
	if (*unit)
		fprintf(out, "# UNIT %s%s %s\n", metric->name, unit, unit + 1);
	fprintf(out, "# HELP %s%s %s\n", metric->name, unit, metric->help);
	for (uint32_t i = 0; i < samples->labels.count; i++) {
		fprintf(out, "%s%s%s{%s} ", metric->name, unit, is_counter ? "_total" : "",
			samples->labels.rows[i].key);
		write_value(out, metric->unit, samples->values[i]);
	}
}

void gp_openmetrics_write_end(FILE *out)
{
	fputs("# EOF\n", out);
}
