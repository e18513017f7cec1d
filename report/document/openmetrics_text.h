/*
 * openmetrics_text: numbers for a monitoring system, as OpenMetrics text
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/).  Readers of the older text format of
 * Prometheus (the folder of the node exporter, a push gateway) accept it, too, except metrics of
 * type info.
 *
 * Samples with equal labels are merged, so that the output is valid for any names.
 */
#ifndef REPORT_DOCUMENT_OPENMETRICS_TEXT_H
#define REPORT_DOCUMENT_OPENMETRICS_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "report/base/group_by.h"

/* Values are whole numbers: of ns, bytes, uJ. */
enum gp_openmetrics_unit {
	GP_OPENMETRICS_COUNT,
	GP_OPENMETRICS_SECONDS,
	GP_OPENMETRICS_BYTES,
	GP_OPENMETRICS_JOULES,
};

/* MOST: a gauge that keeps the maximum of equal labels. */
enum gp_openmetrics_kind { GP_OPENMETRICS_COUNTER, GP_OPENMETRICS_GAUGE, GP_OPENMETRICS_MOST };

struct gp_openmetrics_metric {
	const char *name, *help; /* name: without the suffix for its kind and unit */
	enum gp_openmetrics_kind kind;
	enum gp_openmetrics_unit unit;
};

/* The samples of a metric so far. Zeroed = none. */
struct gp_openmetrics_samples {
	struct gp_groups labels; /* only the keys are used */
	uint64_t *values;
	uint32_t capacity;
};

void gp_openmetrics_free(struct gp_openmetrics_samples *samples);

/* The labels of one sample, under construction. */
struct gp_openmetrics_labels {
	FILE *stream;
	char *text;
	size_t bytes;
};

/* pid and program are the first labels of all samples; program NULL: not known. */
void gp_openmetrics_begin(struct gp_openmetrics_labels *labels, uint32_t pid, const char *program);
void gp_openmetrics_label(struct gp_openmetrics_labels *labels, const char *name,
			  const char *value);

/* Adds the sample, or merges it with the one that has equal labels. */
void gp_openmetrics_end(struct gp_openmetrics_labels *labels,
			const struct gp_openmetrics_metric *metric,
			struct gp_openmetrics_samples *samples, uint64_t value);

/* Writes a metric, if it has samples; behind the last one of a text: the line of its end. */
void gp_openmetrics_write(FILE *out, const struct gp_openmetrics_metric *metric,
			  const struct gp_openmetrics_samples *samples);
void gp_openmetrics_write_end(FILE *out);

#endif
