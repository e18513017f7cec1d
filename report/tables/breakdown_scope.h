/*
 * breakdown_scope: the input of all breakdowns (models, names, devices) and the steps that most of
 * them share: count operations or calls in a tally, then put its rows into a table.
 */
#ifndef REPORT_TABLES_BREAKDOWN_SCOPE_H
#define REPORT_TABLES_BREAKDOWN_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/analysis/idle/busy.h"
#include "report/model/devices.h"
#include "report/base/group_by.h"
#include "report/model/model.h"
#include "report/symbols/names.h"
#include "report/document/table.h"
#include "report/model/slice_filter.h"
#include "report/base/tally.h"

struct gp_job;
struct gp_torch_snapshot;
struct gp_call_sites;
struct gp_analysis;
struct gp_sampled_rows;

struct gp_scope {
	struct gp_model *const *models;
	size_t model_count;
	const struct gp_job *job; /* of gp_scope_set_job(); NULL = the models are all processes */
	/* the processes in tables: by pid if none has a rank, by rank if all have one of their own */
	enum gp_scope_naming { GP_SCOPE_PIDS, GP_SCOPE_RANKS, GP_SCOPE_NAMES } naming;
	bool full_names; /* of kernels */
	bool every_row;  /* trees: also rows with a negligible share */
	/*
	 * Start of the first call or timed operation, or else of the first range: moments are
	 * relative to it.
	 */
	uint64_t start_unix_ns;
	struct gp_names *names, *own_names;
	struct gp_groups texts; /* interned texts: only the keys are used */
	struct gp_device_list devices;
	const struct gp_torch_snapshot *torch; /* of the only model; NULL = none */
	const struct gp_kinds *kinds;          /* NULL = the built-in ones, when they are needed */
	struct gp_kinds *own_kinds;
	void *memory; /* result of gp_scope_memory(), and how to free it */
	void (*free_memory)(void *memory);
	bool said_missing;            /* printed that idle times are upper bounds */
	struct gp_analysis *analysis; /* NULL: gp_scope_analysis() was not called */
	void *host_places;            /* the same for gp_host_places_in() */
	void (*free_host_places)(void *places);
	void *stacks; /* the same for the tables by stack */
	void (*free_stacks)(void *stacks);
	bool is_sampled;                 /* any of the models: its tables have GP_SAMPLED_COLUMNS */
	struct gp_sampled_rows *sampled; /* of the table that is being made; NULL = none */
	const struct gp_tally_row *first_row; /* of that table, while its rows are put */
	FILE *messages; /* for a line about missing data of a table; NULL = none */
};

/*
 * The models must outlive the scope.  Returns 0 or -ENOMEM; call gp_scope_close() in either case.
 */
int gp_scope_open(struct gp_scope *scope, struct gp_model *const *models, size_t model_count,
		  bool full_names);
void gp_scope_close(struct gp_scope *scope);

/*
 * A scope of one process of another scope, whose models may be shrunk (gp_model_shrink()): it uses
 * the names of kernels, processes and devices, and the start, of that scope, which must outlive it.
 * model is that process, loaded.
 */
int gp_scope_open_one(struct gp_scope *scope, const struct gp_scope *all,
		      struct gp_model *const *model);

/* The models are some of the ranks of that job, or all. */
void gp_scope_set_job(struct gp_scope *scope, const struct gp_job *job);

/* Intern a text: equal texts have equal numbers, which are not GP_SCOPE_NO_TEXT. */
uint64_t gp_scope_text(struct gp_scope *scope, const char *text);
#define GP_SCOPE_NO_TEXT UINT32_MAX

/* The text of a number from gp_scope_text(). */
const char *gp_scope_text_of(const struct gp_scope *scope, uint64_t number);

/* A kernel's name, short or full as the options say, by the number of its mangled name. */
const char *gp_scope_kernel_of(const struct gp_scope *scope, uint64_t number);

/* The number of a kernel's mangled name.  names is a cache from gp_scope_names(). */
uint64_t gp_scope_name(struct gp_scope *scope, const struct gp_model *model, const struct gp_op *op,
		       uint64_t *names);

/* An empty cache for gp_scope_name(); free it. */
uint64_t *gp_scope_names(const struct gp_model *model);

/* The kinds of kernels. */
const struct gp_kinds *gp_scope_kinds(struct gp_scope *scope);

/*
 * States of the devices, autotuning and main loops, with the 1,000 longest gaps of each device:
 * computed once for all tables and the summary.
 */
struct gp_analysis *gp_scope_analysis(struct gp_scope *scope);

/*
 * Sites of calls; those of a launch of a backward pass are at the line that it belongs to.  Free
 * them.
 */
struct gp_call_sites *gp_scope_new_sites(struct gp_scope *scope);

/* Whether any of the models recorded GPU operations: else all GPUs would seem idle. */
bool gp_scope_has_gpu(const struct gp_scope *scope);

/* The number that the output uses for a model's device. */
uint32_t gp_scope_device(struct gp_scope *scope, const struct gp_model *model, uint16_t device_id);

/* ---- gathering ---- */

struct gp_scope_op {
	struct gp_scope *scope;
	const struct gp_model *model;
	const struct gp_op *op;
	uint64_t process; /* the model's index */
	uint64_t name;    /* of a kernel: number of its mangled name */
};

struct gp_scope_call {
	struct gp_scope *scope;
	const struct gp_model *model;
	const struct gp_call *call;
	uint64_t process;
	uint64_t name; /* the number of the function's name */
	uint8_t class; /* enum gp_api_class */
};

typedef void gp_scope_take_op(struct gp_tally *tally, const struct gp_scope_op *at);

/*
 * Call take for every operation, or every call, of every model; for a part of a trace (gp_part),
 * for those that begin in it.
 */
void gp_scope_ops(struct gp_scope *scope, struct gp_tally *tally, gp_scope_take_op *take);
void gp_scope_calls(struct gp_scope *scope, struct gp_tally *tally,
		    void (*take)(struct gp_tally *tally, const struct gp_scope_call *at));

/*
 * Count an operation in the row: its time in series 0, or, without a time, in sums 0.  The time of a
 * kernel in a window of --counters is in the total of the series alone.
 */
void gp_scope_count_op(struct gp_tally *tally, struct gp_tally_row *row, const struct gp_op *op);

/* The same for GPU time only: a copy from host to host counts without its time. */
void gp_scope_count_gpu_op(struct gp_tally *tally, struct gp_tally_row *row,
			   const struct gp_op *op);
#define GP_SCOPE_UNTIMED 0

/* Count a call in the row, its time in series 0, as above. */
void gp_scope_count_call(struct gp_tally *tally, struct gp_tally_row *row,
			 const struct gp_scope_call *at);

/* ---- the rows ---- */

/* The first columns of most tables: the row's share of the time of all rows, and its time. */
#define GP_SHARE_COLUMNS                                                                           \
	{"Time %", GP_UNIT_PERCENT},                                                               \
	{                                                                                          \
		"Total", GP_UNIT_NS                                                                \
	}

/* The distribution of single values. */
#define GP_HISTOGRAM_COLUMNS(unit)                                                                 \
	{"Avg", unit}, {"Med", unit}, {"Min", unit}, {"Max", unit},                                \
	{                                                                                          \
		"StdDev", unit                                                                     \
	}

/* Put the cells of a row; total is the sum of series 0 over all rows. */
typedef void gp_scope_put_row(struct gp_scope *scope, struct gp_table *table,
			      const struct gp_tally_row *row, double total);

/*
 * Call put for every row.  Frees the tally.  Returns result if that is not 0, else 0 or the tally's
 * error.
 */
int gp_scope_rows(struct gp_scope *scope, struct gp_table *table, struct gp_tally *tally,
		  int result, gp_scope_put_row *put);

/* A table of operations: gp_scope_ops(), then gp_scope_rows().  Returns 0 or -ENOMEM. */
int gp_scope_table_of_ops(struct gp_scope *scope, struct gp_table *table, gp_scope_take_op *take,
			  gp_scope_put_row *put);

/* The same with the models, one after the other: process is a model's index. */
typedef int gp_scope_take_model(struct gp_scope *scope, struct gp_tally *tally, size_t process);
int gp_scope_table_of_models(struct gp_scope *scope, struct gp_table *table,
			     gp_scope_take_model *take, gp_scope_put_row *put);

/* Count a kernel under its name. */
void gp_scope_take_kernel(struct gp_tally *tally, const struct gp_scope_op *at);

/*
 * The cells of GP_SHARE_COLUMNS, for series 0, and of GP_HISTOGRAM_COLUMNS; empty if nothing was
 * timed.
 */
void gp_scope_put_share(struct gp_table *table, const struct gp_tally_row *row, double total);
void gp_scope_put_spread(struct gp_table *table, const struct gp_tally_series *series);

/*
 * What a row has in the whole run, and the half of its 95 % interval, if the run was sampled: else
 * there are no such columns.  Both are empty if they are unknown.
 */
#define GP_SAMPLED_TITLE "Whole run"
#define GP_SAMPLED_COLUMNS                                                                         \
	{GP_SAMPLED_TITLE, GP_UNIT_NS},                                                            \
	{                                                                                          \
		"+- 95 %", GP_UNIT_NS                                                              \
	}

/* An operation of models[process] counts in this row of the tally. */
void gp_scope_sample(struct gp_scope *scope, struct gp_tally *tally, const struct gp_tally_row *row,
		     size_t process, const struct gp_op *op);
void gp_scope_put_sampled(struct gp_scope *scope, struct gp_table *table,
			  const struct gp_tally_row *row);

/* The number of failed calls; empty if the trace does not have results. */
void gp_scope_put_failed(const struct gp_scope *scope, struct gp_table *table, uint64_t failed);

/*
 * The value of the column PID.  In a job, that column is Rank if the ranks tell the processes apart,
 * else Process, with their names: gp_scope_name_column() changes its title.
 */
struct gp_value gp_scope_process(struct gp_scope *scope, const struct gp_model *model);
void gp_scope_put_process(struct gp_scope *scope, struct gp_table *table,
			  const struct gp_model *model);

/* Whether it is that column, and has another title here. */
bool gp_scope_name_column(const struct gp_scope *scope, struct gp_table_column *column);

#endif
