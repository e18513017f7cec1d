/*
 * export: the formats of `gpuprof export --format`.
 *
 * A new format is a new file in report/export/ that defines a struct gp_exporter, and one row in
 * report/export/export.c.
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
	uint64_t slice_limit; /* write only the last so many calls and operations; 0 = all */
	/* the value of call stacks; GP_STACK_METRICS = not chosen */
	enum gp_stack_metric measure;
	struct gp_slice_choice choice; /* the part of the trace to write */
	/* draw ranges of the program on the tracks of streams, as Kineto does */
	bool ranges_on_streams;
	bool counters;                   /* queue lengths and copy bandwidth over time */
	bool critical_path;              /* as a track */
	FILE *messages;                  /* for lines about left-out events; NULL = none */
	void (*progress)(void *context); /* called regularly while writing, if not NULL */
	void *progress_context;
};

/*
 * The processes to export, in order.  An exporter gets one at a time, so that not all of them must
 * be in memory; it may iterate over them more than once.
 */
struct gp_export_source {
	size_t count;
	/*
	 * The model of that index, valid until the next call.  NULL: it cannot be loaded (the source
	 * has printed why) and is left out.
	 */
	const struct gp_model *(*get)(void *context, size_t index);
	void *context;
	/*
	 * the models are parts of one process, in order of time (report/load/parts.h); totals are
	 * summed over them
	 */
	bool are_parts;
	/* After the last model: why one could not be read, NULL = all could.  May be NULL. */
	const char *(*trouble)(void *context);
};

/* Options and needs that not all formats have. */
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
	const char *help;    /* its content, in one line */
	const char *readers; /* programs that read it */
	unsigned heeds;      /* bits of enum gp_export_heeds */
	bool is_compressed;  /* the format is compressed already: a name in ".gz" changes nothing */
	/*
	 * Write the processes to out, several of them on one timeline.  Returns 0, -EIO if out could
	 * not be written, -ENODATA if there was no process, or -ENOMEM.
	 */
	int (*write)(const struct gp_export_source *source, const struct gp_export_options *options,
		     FILE *out);
	/*
	 * The same for a format that is a folder of files; then write is NULL.  After an error there
	 * is a line for the user in message.
	 */
	int (*write_folder)(const struct gp_export_source *source,
			    const struct gp_export_options *options, const char *folder,
			    char *message, size_t message_bytes);
};

extern const struct gp_exporter gp_exporter_chrome;      /* report/export/chrome/chrome.c */
extern const struct gp_exporter gp_exporter_perfetto;    /* report/export/perfetto/perfetto.c */
extern const struct gp_exporter gp_exporter_csv;         /* report/export/csv.c */
extern const struct gp_exporter gp_exporter_jsonl;       /* report/export/jsonl.c */
extern const struct gp_exporter gp_exporter_sqlite;      /* report/export/sqlite/sqlite.c */
extern const struct gp_exporter gp_exporter_parquet;     /* report/export/parquet/parquet.c */
extern const struct gp_exporter gp_exporter_columns;     /* report/export/columns.c */
extern const struct gp_exporter gp_exporter_openmetrics; /* report/export/openmetrics.c */
extern const struct gp_exporter gp_exporter_folded;      /* report/export/folded.c */
extern const struct gp_exporter gp_exporter_speedscope;  /* report/export/speedscope.c */
extern const struct gp_exporter gp_exporter_pprof;       /* report/export/pprof.c */

/* All formats, in the order of the help; ends with NULL. */
extern const struct gp_exporter *const gp_exporters[];

/* The slices of a timeline of the model, without its stack samples. */
uint64_t gp_export_most_slices(const struct gp_model *model);

/* The length of their Chrome trace, give or take a quarter; 0: there is no memory. */
double gp_export_chrome_bytes(const struct gp_model *model);

/*
 * Write the processes to a path, which may be a folder if the format is one.  trace: NULL if the
 * user typed the path; else it is gp_output_path() of that trace.  Returns 0, or a negative errno
 * value with a line for the user in message; -ENODATA: there was no process, and message is not set.
 */
int gp_export_to(const struct gp_exporter *exporter, const struct gp_export_source *source,
		 const struct gp_export_options *options, const char *path, const char *trace,
		 char *message, size_t message_bytes);

/* Whether a model is the first of its process: then write the data that a process has once. */
static inline bool gp_export_is_first(const struct gp_export_source *source, size_t index)
{
	return !source->are_parts || index == 0;
}

/* One process. */
struct gp_export_source gp_export_source_of(const struct gp_model *model);

/* Write one process, in a format that is a file. */
int gp_export_model(const struct gp_exporter *exporter, const struct gp_model *model,
		    const struct gp_export_options *options, FILE *out);

/*
 * Print a line about ranges without GPU operations, because they are longer than a part
 * (gp_range.is_cut); nothing for 0 ranges or NULL.
 */
void gp_export_explain_cut(uint64_t ranges, FILE *messages);

/* The earliest start of all processes: times on a common timeline are relative to it. */
uint64_t gp_export_base_unix_ns(const struct gp_export_source *source);

/* An option that the format does not support, with its purpose; NULL if there is none. */
const char *gp_export_unheeded(const struct gp_exporter *exporter,
			       const struct gp_export_options *options);

/* The exporter of that name, or NULL. */
const struct gp_exporter *gp_exporter_find(const char *name);

/* The names of all formats, separated by ", ", as many as fit. */
void gp_exporter_list(char *text, size_t text_bytes);
#define GP_EXPORTER_LIST_BYTES 256

#endif
