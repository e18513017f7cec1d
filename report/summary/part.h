/*
 * summary_part: the sections of the summary, each printed by one function of report/summary_*.c.
 *
 * All read what struct gp_summary has gathered; they print a title line, indented lines, and an
 * empty line before them. They return 0 or -ENOMEM; that out cannot be written is found at the end.
 */
#ifndef REPORT_SUMMARY_PART_H
#define REPORT_SUMMARY_PART_H

#include "report/analysis/idle/activity.h"
#include "report/analysis/idle/busy.h"
#include "report/model/devices.h"
#include "report/model/memory_stats.h"
#include "report/summary/summary.h"
#include "report/document/document.h"
#include "report/document/table_writer.h"
#include "report/tables/breakdown_scope.h"

struct gp_advice;

#define GP_SUMMARY_COLUMNS       120 /* of a line, but for full names */
#define GP_SUMMARY_BRIEF_COLUMNS 110

struct gp_analysis;
struct gp_summary_ranges;
struct gp_summary_advice;

/* Rows of its tables; 0 = all. */
struct gp_summary_rows {
	size_t operations, calls, ranges, memory;
	bool ranges_in_a_line; /* instead of any row */
};

/* What text, JSON and the page are made of: gathered once by gp_summary_open(). */
struct gp_summary {
	FILE *out; /* this and the next two: of text */
	const struct gp_summary_options *options;
	struct gp_summary_rows rows;
	struct gp_model *const *all_models;
	size_t all_count;
	struct gp_model **models; /* those that used the GPU; the rest is of these alone */
	size_t model_count;
	struct gp_window window;
	struct gp_device_list devices;
	struct gp_busy *busy;      /* parallel to devices */
	struct gp_analysis *basis; /* NULL where gp_totals_any() */
	struct gp_analysis *own_basis;
	const struct gp_kinds *kinds;
	struct gp_kinds *own_kinds;
	struct gp_memory_stats memory;
	struct gp_activity activity;
	struct gp_summary_ranges *ranges; /* NULL: not gathered yet */
	struct gp_summary_advice *advice;
};

/*
 * kinds: of kernels, NULL = the built-in ones.  The models must outlive the summary; release it in
 * any case.  Returns 0 or -ENOMEM.
 */
int gp_summary_open(struct gp_summary *summary, struct gp_model *const *models, size_t model_count,
		    const struct gp_kinds *kinds);

/* The same of the models of a scope, with its analysis. */
int gp_summary_open_scope(struct gp_summary *summary, struct gp_scope *scope);
void gp_summary_close(struct gp_summary *summary);

/* As gp_summary_print() does. */
int gp_summary_write(FILE *out, struct gp_summary *summary,
		     const struct gp_summary_options *options);

/* The advice about what was gathered, found once. NULL: no memory. */
struct gp_summary_advice *gp_summary_new_advice(void);
const struct gp_advice *gp_summary_advice(const struct gp_summary *summary);
void gp_summary_free_advice(struct gp_summary_advice *advice);

/* Columns of a line of this page. */
size_t gp_summary_columns(const struct gp_summary *summary);

const char *gp_summary_program_of(const struct gp_model *model);

/* Which programs ran, where and when, on which devices, and how busy these were. */
int gp_summary_print_head(const struct gp_summary *summary);
int gp_summary_print_processes(const struct gp_summary *summary);

/* What the sums alone say of where time goes; at most a few lines. */
int gp_summary_print_signs(const struct gp_summary *summary);

/* What such a page has not, and how to get it. */
int gp_summary_print_one_pass(const struct gp_summary *summary);

/* "GPU activities", "API calls" and "Memory copies and sets". */
int gp_summary_print_activity(const struct gp_summary *summary);

/* What copies and sets moved, and how fast, in a line. */
int gp_summary_print_copies_in_brief(const struct gp_summary *summary);

/* Which calls failed, with which error and where: a few lines, if there are any. */
int gp_summary_print_failures(const struct gp_summary *summary);

/*
 * The ranges of the program by name, of which there may be millions: once for all pages that are
 * tried.  Returns 0 or -ENOMEM.
 */
int gp_summary_gather_ranges(struct gp_summary *summary);
void gp_summary_free_ranges(struct gp_summary_ranges *ranges);

/* Those that were gathered, by GPU time, if there are any. */
int gp_summary_print_ranges(const struct gp_summary *summary);

/* A line on each other kind of thing that the program did.  As data: a section "more". */
int gp_summary_print_more(const struct gp_summary *summary);
int gp_summary_add_more(const struct gp_summary *summary, struct gp_document *document);

int gp_summary_print_memory(const struct gp_summary *summary);

void gp_summary_print_memory_title(const struct gp_summary *summary);

/*
 * Its peaks, what was left and what the driver reports, a row for each device and each kind of the
 * host's.
 */
int gp_summary_print_memory_in_brief(const struct gp_summary *summary);

/*
 * How much of an overhead may have held up the program within that time, which is its process's:
 * what a profiler did before the first call and after the last is no part of the time that is told.
 */
uint64_t gp_summary_overhead_within_ns(struct gp_model *model, const struct gp_overhead *overhead,
				       struct gp_window window);

/*
 * What recording cost, where gpuprof recorded; what CUPTI says that it and the driver took, by
 * kind, which is not in that.
 */
void gp_summary_print_cost(const struct gp_summary *summary);
int gp_summary_print_overheads(const struct gp_summary *summary);

/* What was never freed, by call site; nothing where everything was.  As data: a section "left". */
int gp_summary_print_left(const struct gp_summary *summary);
int gp_summary_add_left(const struct gp_summary *summary, struct gp_document *document);

/* What passed before the first operation and after the last one; nothing where that is little. */
int gp_summary_print_ends(const struct gp_summary *summary);

/* What to change first; nothing where no rule has anything to say. */
int gp_summary_print_advice(const struct gp_summary *summary);

/* When it was recorded, and what was left out by choice; nothing where everything was recorded. */
void gp_summary_print_windows(const struct gp_summary *summary);

/* Of a model without any call: a line on what the options left out. */
void gp_summary_print_never(FILE *out, const struct gp_model *model);

/* How busy the GPUs were: what is known of that. */
int gp_summary_print_busy(const struct gp_summary *summary);

/*
 * Ends the line of a device; below it, on one screen of several devices in it: what ran, why
 * nothing did, which is at most where not all operations are known.
 */
void gp_summary_print_where(const struct gp_summary *summary, size_t device, bool all_known);

/* What an operation is called, in at most 48 columns. */
void gp_summary_print_op(FILE *out, const struct gp_model *model, const struct gp_op *op);

/* With what its time ends. */
enum gp_span_end {
	GP_SPAN_ENDS_WITH_CALL,
	GP_SPAN_ENDS_WITH_OPERATION, /* a trace of another recorder that has calls, too */
	/* the last that is known of a process that has no last call (gp_busy_is_open()) */
	GP_SPAN_ENDS_WITH_SIGN,
};

enum gp_span_end gp_summary_span_end(const struct gp_summary *summary);

/*
 * A line on a single operation that a good part of all GPU time is
 * (report/analysis/device/outliers.h), if there is one.  As data: a section "outliers".
 */
int gp_summary_print_outliers(const struct gp_summary *summary);
int gp_summary_add_outliers(const struct gp_summary *summary, struct gp_document *document);

/*
 * On the iterations of the main loop, and how busy the GPU was in them; nothing where no loop was
 * found, or of several processes.
 */
void gp_summary_print_loop(const struct gp_summary *summary, bool all_known);

/* A line on the kinds of kernels, by their names; nothing where most are of an unknown kind. */
void gp_summary_print_kinds(const struct gp_summary *summary);

/*
 * A line on the autotuning of libraries, if that took 1 % of the GPU time; "at least" where calls
 * have no stacks.
 */
void gp_summary_print_tuning(const struct gp_summary *summary);

/* A line, "3 frees of memory" or "1 free of memory": things as a sentence of gpuprof/counter.def. */
void gp_summary_print_count(FILE *out, int indent, uint64_t count, const char *things);

/* What was recorded, what is missing and why, what recording cost. */
int gp_summary_print_records(const struct gp_summary *summary);

/* What a model lacks that is not complete, or whose file is damaged: for the top of the page. */
void gp_summary_print_partial(FILE *out, const struct gp_model *model);

/* The same as rows, sentences and pieces of one; those that begin anew have a pid. */
void gp_summary_add_partial(struct gp_document *document, const struct gp_model *model);

/* The kernels that had not ended, by name: a few lines, if there are any. */
void gp_summary_print_unfinished(FILE *out, int indent, const struct gp_model *model);

/* Whether it ended while a kernel ran, as its last flush tells. */
bool gp_summary_is_cut_off(const struct gp_model *model);

/* What the user must know of a model without any call: losses and notes, one line each. */
void gp_summary_print_troubles(FILE *out, const struct gp_model *model);

/* A moment, counted from the start of the window. */
struct gp_figure gp_summary_moment(const struct gp_summary *summary, uint64_t unix_ns);

/*
 * Two cells of a row of memory: its peak, and when that was, if its size is known (that of another
 * process is not).
 */
void gp_summary_put_peak(const struct gp_summary *summary, struct gp_table *table,
			 const struct gp_memory_row *row);

/* A cell: "GPU 0 managed". all: what the kind is called of all memory of a device. */
void gp_summary_put_memory_kind(const struct gp_summary *summary, struct gp_table *table,
				const struct gp_memory_row *row, const char *all);

/*
 * A line below them where one process had ended before the peak of all: more was left than there
 * was at any time.
 */
void gp_summary_print_left_note(const struct gp_summary *summary);

#endif
