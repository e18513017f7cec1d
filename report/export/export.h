/*
 * export: the formats that `gpuprof export --format` knows.
 *
 * A new format is one new file in report/export/ that defines a struct gp_exporter, and one row in
 * the table of report/export/export.c.
 */
#ifndef REPORT_EXPORT_EXPORT_H
#define REPORT_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/model/stack_metric.h"
#include "report/model/model.h"
#include "report/codec/output_file.h"
#include "report/model/slice_filter.h"

struct gp_export_options {
	uint64_t slice_limit; /* most calls and operations to write, the last ones; 0 = all */
	/* of formats of stacks: what to show; GP_STACK_METRICS = not chosen */
	enum gp_stack_metric measure;
	struct gp_slice_choice choice; /* which part of the trace */
	/* the program's ranges on the streams' own tracks, as in Kineto's traces */
	bool ranges_on_streams;
	bool counters;      /* the lengths of queues and the bandwidth of copies over time */
	bool critical_path; /* as a track */
	FILE *messages;     /* where the line goes that says what was left out; NULL = nowhere */
	void (*progress)(void *context); /* called now and then while writing; NULL = not */
	void *progress_context;
};

/*
 * The processes to export, in order.  They are handed over one after the other, so that not all of
 * them need be in memory; an exporter may go through them more than once.
 */
struct gp_export_source {
	size_t count;
	/*
	 * The model of that index, valid until the next call.  NULL: it cannot be had and is to be
	 * left out; whoever made the source has said why.
	 */
	const struct gp_model *(*get)(void *context, size_t index);
	void *context;
	/*
	 * of one process, in the order of time (report/load/parts.h): what they come to is added up
	 */
	bool are_parts;
};

/* What not all formats heed. */
enum gp_export_heeds {
	GP_EXPORT_LIMIT = 1,          /* slice_limit */
	GP_EXPORT_VALUE = 2,          /* measure */
	GP_EXPORT_PART = 4,           /* choice */
	GP_EXPORT_MEMORY = 8,         /* needs all allocations in each part */
	GP_EXPORT_CURVES = 16,        /* counters, critical_path */
	GP_EXPORT_STREAM_RANGES = 32, /* ranges_on_streams */
};

struct gp_exporter {
	const char *name;    /* of --format */
	const char *suffix;  /* of the file, with its dot */
	const char *help;    /* one line: what is in it */
	const char *readers; /* who reads it, in a few words */
	unsigned heeds;      /* bits of enum gp_export_heeds */
	bool is_compressed;  /* by itself: not once more where the name ends in ".gz" */
	/*
	 * Write the processes to out: one as it is, several on one timeline. Returns 0, -EIO if out
	 * could not be written, -ENODATA if there was no process, or -ENOMEM.
	 */
	int (*write)(const struct gp_export_source *source, const struct gp_export_options *options,
		     FILE *out);
};

extern const struct gp_exporter gp_exporter_chrome;      /* report/export/chrome/chrome.c */
extern const struct gp_exporter gp_exporter_perfetto;    /* report/export/perfetto/perfetto.c */
extern const struct gp_exporter gp_exporter_csv;         /* report/export/csv.c */
extern const struct gp_exporter gp_exporter_jsonl;       /* report/export/jsonl.c */
extern const struct gp_exporter gp_exporter_sqlite;      /* report/export/sqlite/sqlite.c */
extern const struct gp_exporter gp_exporter_openmetrics; /* report/export/openmetrics.c */
extern const struct gp_exporter gp_exporter_folded;      /* report/export/folded.c */
extern const struct gp_exporter gp_exporter_speedscope;  /* report/export/speedscope.c */
extern const struct gp_exporter gp_exporter_pprof;       /* report/export/pprof.c */

/* The formats, in the order of the help; ends with NULL. */
extern const struct gp_exporter *const gp_exporters[];

/*
 * To be called on an open file before anything is written: what its name says, ".gz", is done.  0
 * or -ENOMEM.
 */
int gp_export_compress(const struct gp_exporter *exporter, struct gp_output_file *file);

/* Whether a model is the first that a process has: what is once for each is to be written. */
static inline bool gp_export_is_first(const struct gp_export_source *source, size_t index)
{
	return !source->are_parts || index == 0;
}

/* Write one process. */
int gp_export_model(const struct gp_exporter *exporter, const struct gp_model *model,
		    const struct gp_export_options *options, FILE *out);

/*
 * A line that so many ranges have nothing of what ran for them, being longer than what a part has
 * (gp_range.is_cut); none for 0 or NULL.
 */
void gp_export_explain_cut(uint64_t ranges, FILE *messages);

/* The base of the earliest of the processes: where times on one timeline count from. */
uint64_t gp_export_base_unix_ns(const struct gp_export_source *source);

/*
 * Of the options one that the format does not heed, in a few words for the user; NULL if there is
 * none.
 */
const char *gp_export_unheeded(const struct gp_exporter *exporter,
			       const struct gp_export_options *options);

/* The exporter of that name, or NULL. */
const struct gp_exporter *gp_exporter_find(const char *name);

/* The names of all, with ", " between, as much as fits. */
void gp_exporter_list(char *text, size_t text_bytes);
#define GP_EXPORTER_LIST_BYTES 256

#endif
