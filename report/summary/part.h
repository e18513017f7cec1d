/*
 * summary_part: the sections of the summary, each printed by one function.
 *
 * All read the data in struct gp_summary.  They print an empty line, a title line and indented
 * lines.  They return 0 or -ENOMEM; gp_summary_write() checks for write errors at the end.
 */
#ifndef REPORT_SUMMARY_PART_H
#define REPORT_SUMMARY_PART_H

#include "report/analysis/idle/activity.h"
#include "report/analysis/idle/busy.h"
#include "report/model/devices.h"
#include "report/model/memory_stats.h"
#include "report/model/process_name.h"
#include "report/summary/summary.h"
#include "report/document/document.h"
#include "report/document/table_writer.h"
#include "report/tables/breakdown_scope.h"

struct gp_advice;

#define GP_SUMMARY_COLUMNS       120 /* of a line, except with full names */
#define GP_SUMMARY_BRIEF_COLUMNS 110

/* Lines for devices on a screen.  If more devices were used, they are summed up. */
#define GP_SUMMARY_DEVICES 8

struct gp_analysis;
struct gp_summary_ranges;
struct gp_summary_advice;

/* Rows of its tables, and findings that recur and that are one-time costs; 0 = all. */
struct gp_summary_rows {
	size_t operations, calls, ranges, memory, phases, lines, findings, once;
	bool ranges_in_a_line; /* instead of rows */
};

/* The data of text, JSON and the page: gathered once by gp_summary_open(). */
struct gp_summary {
	FILE *out; /* this and the next two are for text */
	const struct gp_summary_options *options;
	struct gp_summary_rows rows;
	const struct gp_job *job; /* the models are some of its ranks; NULL = they are all */
	struct gp_model *const *all_models;
	size_t all_count;
	struct gp_model **models; /* those that used the GPU; the members below cover only these */
	size_t model_count;
	struct gp_window window;
	struct gp_device_list devices;
	struct gp_busy *busy;      /* parallel to devices */
	struct gp_analysis *basis; /* NULL if gp_totals_any() */
	struct gp_analysis *own_basis;
	const struct gp_kinds *kinds;
	struct gp_kinds *own_kinds;
	struct gp_memory_stats memory;
	struct gp_activity activity;
	struct gp_summary_ranges *ranges; /* NULL: not gathered yet */
	struct gp_table *lines;           /* of gp_breakdown_line; NULL: no backward pass */
	struct gp_summary_advice *advice;
};

/*
 * kinds: kinds of kernels, NULL = the built-in ones.  The models must outlive the summary; close it
 * even after an error.  Returns 0 or -ENOMEM.
 */
int gp_summary_open(struct gp_summary *summary, struct gp_model *const *models, size_t model_count,
		    const struct gp_kinds *kinds);

/* The same for the models of a scope, using its analysis. */
int gp_summary_open_scope(struct gp_summary *summary, struct gp_scope *scope);

/* "rank 17" of the only process with operations on a device, in a job of ranks; else "". */
struct gp_process_name gp_summary_rank_of(const struct gp_summary *summary, size_t device);
void gp_summary_close(struct gp_summary *summary);

/* As gp_summary_print(). */
int gp_summary_write(FILE *out, struct gp_summary *summary,
		     const struct gp_summary_options *options);

/* The advice about the gathered models, computed once. */
struct gp_summary_advice *gp_summary_new_advice(void);
const struct gp_advice *gp_summary_advice(const struct gp_summary *summary);
void gp_summary_free_advice(struct gp_summary_advice *advice);

/* All sections as data, in the order of JSON.  Returns 0 or -ENOMEM. */
int gp_summary_add_sections(const struct gp_summary *summary, struct gp_document *document);

/* Columns of a line of this page. */
size_t gp_summary_columns(const struct gp_summary *summary);

const char *gp_summary_program_of(const struct gp_model *model);

/* Which programs ran, where and when, on which devices, and how busy these were. */
int gp_summary_print_head(const struct gp_summary *summary);
int gp_summary_print_processes(const struct gp_summary *summary);

/* As data alone: sections "devices" and "states". */
int gp_summary_add_devices(const struct gp_summary *summary, struct gp_document *document);

/*
 * If all processes have a rank, this replaces the table of processes: the number of ranks, the
 * ranks without a trace, and those that differ from the others.  As data: a section "ranks".
 */
bool gp_summary_has_ranks(const struct gp_summary *summary);
int gp_summary_print_ranks(const struct gp_summary *summary);
int gp_summary_add_ranks(const struct gp_summary *summary, struct gp_document *document);

/* The hardware samples (--hw-timeline) by device; prints nothing if there are none. */
int gp_summary_print_hardware(const struct gp_summary *summary);
int gp_summary_add_hardware(const struct gp_summary *summary, struct gp_document *document);

/* The energy samples (--energy) by device; prints nothing if there are none. */
int gp_summary_print_energy(const struct gp_summary *summary);
int gp_summary_add_energy(const struct gp_summary *summary, struct gp_document *document);

/* The stall samples (--stalls): why warps wait; prints nothing if there are none. */
int gp_summary_print_stalls(const struct gp_summary *summary);
int gp_summary_add_stalls(const struct gp_summary *summary, struct gp_document *document);
/* The hardware counters of kernels (--counters); prints nothing if there are none. */
int gp_summary_print_roofline(const struct gp_summary *summary);
int gp_summary_add_roofline(const struct gp_summary *summary, struct gp_document *document);

/* For totals: a few hints where time goes. */
int gp_summary_print_signs(const struct gp_summary *summary);

/* For totals: the missing sections, and the command that prints them. */
int gp_summary_print_one_pass(const struct gp_summary *summary);

/* "GPU activities", "API calls" and "Memory copies and memsets". */
int gp_summary_print_activity(const struct gp_summary *summary);

/* Bytes and bandwidth of copies and memsets, in a line. */
void gp_summary_print_copies_in_brief(const struct gp_summary *summary);

/* The calls that failed, with error and place: a few lines, if there are any. */
int gp_summary_print_failures(const struct gp_summary *summary);

/* Group the ranges of the program, maybe millions, by name: once for all screens that are tried. */
void gp_summary_gather_ranges(struct gp_summary *summary);
void gp_summary_free_ranges(struct gp_summary_ranges *ranges);

/*
 * The lines with most GPU time of the process whose steps are shown, with that of their backward
 * pass; nothing if there is none.  They are gathered once.  Return 0 or -errno.  As data: a section
 * "lines".
 */
int gp_summary_gather_lines(struct gp_summary *summary);
void gp_summary_free_lines(struct gp_summary *summary);
int gp_summary_print_lines(const struct gp_summary *summary);
void gp_summary_add_lines(const struct gp_summary *summary, struct gp_document *document);

/* The gathered ranges, by GPU time, if there are any. */
int gp_summary_print_ranges(const struct gp_summary *summary);

/* A line about each other kind of event.  As data: a section "more". */
int gp_summary_print_more(const struct gp_summary *summary);
int gp_summary_add_more(const struct gp_summary *summary, struct gp_document *document);

/* As data: a section "memory". */
int gp_summary_print_memory(const struct gp_summary *summary);
int gp_summary_add_memory(const struct gp_summary *summary, struct gp_document *document);

void gp_summary_print_memory_title(const struct gp_summary *summary);

/* Whether there is nothing about memory to tell; says so if a run is sampled, as it is unknown. */
bool gp_summary_lacks_memory(const struct gp_summary *summary);

/* Peak, memory left and use by the driver: a row for each device and each kind of host memory. */
int gp_summary_print_memory_in_brief(const struct gp_summary *summary);

/*
 * How long an overhead may have delayed the program within the window of its process: the reported
 * time does not include profiler work before the first call and after the last.
 */
uint64_t gp_summary_overhead_within_ns(struct gp_model *model, const struct gp_overhead *overhead,
				       struct gp_window window);

/*
 * The cost of recording, if gpuprof recorded; and the overhead that CUPTI reports for itself and
 * the driver, by kind, which the cost does not include.  As data: a section "cost".
 */
void gp_summary_print_cost(const struct gp_summary *summary);
int gp_summary_add_cost(const struct gp_summary *summary, struct gp_document *document);
int gp_summary_print_overheads(const struct gp_summary *summary);

/* Memory never freed, by call site; nothing if all was freed.  As data: a section "left". */
int gp_summary_print_left(const struct gp_summary *summary);
int gp_summary_add_left(const struct gp_summary *summary, struct gp_document *document);

/* The time before the first and after the last operation; nothing if that is short. */
int gp_summary_print_ends(const struct gp_summary *summary);

/* The most important findings; on the whole page nothing if there are none. */
int gp_summary_print_advice(const struct gp_summary *summary);

/* The recorded windows, and records left out by options; nothing if everything was recorded. */
void gp_summary_print_windows(const struct gp_summary *summary);

/*
 * Of a sampled run (--sample): the totals as estimates; nothing if it is not sampled.  As data: a
 * section "sampled".
 */
int gp_summary_print_sampled(const struct gp_summary *summary);
int gp_summary_add_sampled(const struct gp_summary *summary, struct gp_document *document);

/* The sentence at the top of a summary of which a process is sampled. */
#define GP_SUMMARY_SAMPLED_BYTES 256
void gp_summary_say_sampled(const struct gp_summary *summary, char *text, size_t bytes);

/* For a model without any call: a line about what the options left out. */
void gp_summary_print_never(FILE *out, const struct gp_model *model);

/* Whether there are so many GPUs that one screen sums them up. */
bool gp_summary_joins_devices(const struct gp_summary *summary);

/* How busy the GPUs were. */
int gp_summary_print_busy(const struct gp_summary *summary);

/*
 * End the line of a device and print the classes of running operations and the idle causes below it
 * (in the same line on one screen with several devices).  Idle times are upper bounds unless
 * all_known.
 */
void gp_summary_print_where(const struct gp_summary *summary, size_t device, bool all_known);

/* Print the name of an operation, in at most 48 columns. */
void gp_summary_print_op(FILE *out, const struct gp_model *model, const struct gp_op *op);

/* The event that ends the span of the summary. */
enum gp_span_end {
	GP_SPAN_ENDS_WITH_CALL,
	GP_SPAN_ENDS_WITH_OPERATION, /* a trace of another recorder that has calls */
	/* the last known activity of a process without a last call (gp_busy_is_open()) */
	GP_SPAN_ENDS_WITH_SIGN,
};

enum gp_span_end gp_summary_span_end(const struct gp_summary *summary);

/*
 * A line about a single operation that takes a good part of all GPU time
 * (report/analysis/device/outliers.h), if there is one.  As data: a section "outliers".
 */
void gp_summary_print_outliers(const struct gp_summary *summary);
int gp_summary_add_outliers(const struct gp_summary *summary, struct gp_document *document);

/*
 * The steps of the main loop, the parts of the run around them, and how busy the GPU was in the
 * steady state; then its phases, if they are known.  Nothing if no loop was found.  Of several
 * processes, those of the one with the longest loop.  As data: sections "steps" and "parts".
 */
bool gp_summary_has_steps(const struct gp_summary *summary);
int gp_summary_print_steps(const struct gp_summary *summary);
int gp_summary_print_phases(const struct gp_summary *summary);
void gp_summary_add_steps(const struct gp_summary *summary, struct gp_document *document);

/* "host-bound 32.6 %, launch-bound 19.7 %, 3 others 4.0 %", of all states; ends the line. */
void gp_summary_print_causes(FILE *out, const uint64_t *state_ns, size_t shown);

/* A line about the kinds of kernels, by name; nothing if most are of an unknown kind. */
void gp_summary_print_kinds(const struct gp_summary *summary);

/*
 * A line about autotuning by libraries, if it took at least 1 % of the GPU time; "at least" if
 * calls have no stacks.
 */
void gp_summary_print_tuning(const struct gp_summary *summary);

/* A line "3 frees of memory" or "1 free of memory"; things as in gpuprof/counter.def. */
void gp_summary_print_count(FILE *out, int indent, uint64_t count, const char *things);

/* Recorded and lost records, and the cost of recording. */
int gp_summary_print_records(const struct gp_summary *summary);

/* What an incomplete or damaged trace lacks: for the top of the page. */
void gp_summary_print_partial(FILE *out, const struct gp_model *model);

/* The same as rows: sentences, and pieces of one.  A row that begins a new sentence has a pid. */
void gp_summary_add_partial(struct gp_document *document, const struct gp_model *model);

/* Kernels that had not ended, by name: a few lines, if there are any. */
void gp_summary_print_unfinished(FILE *out, int indent, const struct gp_model *model);

/* Whether the process ended while a kernel ran, by its last flush. */
bool gp_summary_is_cut_off(const struct gp_model *model);

/* For a model without any call: losses and notes, one line each. */
void gp_summary_print_troubles(FILE *out, const struct gp_model *model);

/* A moment, relative to the start of the window. */
struct gp_figure gp_summary_moment(const struct gp_summary *summary, uint64_t unix_ns);

/*
 * Two cells of a row of memory: the peak and its time, empty if the size is unknown (memory of
 * another process).
 */
void gp_summary_put_peak(const struct gp_summary *summary, struct gp_table *table,
			 const struct gp_memory_row *row);

/* A cell: "GPU 0 managed".  all: the text for all memory of a device. */
void gp_summary_put_memory_kind(const struct gp_summary *summary, struct gp_table *table,
				const struct gp_memory_row *row, const char *all);

/*
 * A line below the rows if more was left than there was at any time: a process ended before the
 * common peak.
 */
void gp_summary_print_left_note(const struct gp_summary *summary);

/* A line below the rows if a library took much memory in advance: it is not all in use. */
void gp_summary_print_reserved(const struct gp_summary *summary);

#endif
