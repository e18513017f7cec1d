/*
 * breakdown_scope: what all breakdowns work on: the models, names, devices; and the steps that most
 * of them consist of: count operations or calls into a tally, then put its rows into a sheet.
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

struct gp_torch_snapshot;
struct gp_analysis;

struct gp_scope {
	struct gp_model *const *models;
	size_t model_count;
	bool full_names; /* of kernels */
	bool every_row;  /* of trees: also those that have next to nothing */
	/*
	 * Of the first call or timed operation of all, or else of the first range: moments count
	 * from here.
	 */
	uint64_t start_unix_ns;
	struct gp_names *names;
	struct gp_groups texts; /* only their keys are used: each text once */
	struct gp_device_list devices;
	const struct gp_torch_snapshot *torch; /* of the only model; NULL = none */
	const struct gp_kinds *kinds;          /* NULL = the built-in ones, when they are needed */
	struct gp_kinds *own_kinds;
	void *memory; /* what gp_scope_memory() found, and how to free it */
	void (*free_memory)(void *memory);
	bool said_missing;            /* that idle times are upper bounds */
	struct gp_analysis *analysis; /* NULL: gp_scope_analysis() was not asked for */
	void *host_places;            /* the same of what Python did */
	void (*free_host_places)(void *places);
	void *stacks; /* the same of the tables by stack */
	void (*free_stacks)(void *stacks);
	FILE *messages; /* for one line on what a table lacks; NULL = nowhere */
};

/* The models must outlive the scope.  Returns 0 or -ENOMEM; gp_scope_close() in either case. */
int gp_scope_open(struct gp_scope *scope, struct gp_model *const *models, size_t model_count,
		  bool full_names);
void gp_scope_close(struct gp_scope *scope);

/* A number for the text, the same for equal texts; GP_SCOPE_NO_TEXT if there is no memory. */
uint64_t gp_scope_text(struct gp_scope *scope, const char *text);
#define GP_SCOPE_NO_TEXT UINT32_MAX

/* The text of that number; of a number that gp_scope_text() did not give, "(no memory)". */
const char *gp_scope_text_of(const struct gp_scope *scope, uint64_t number);

/* A kernel's name as the user wants it, by the number of its mangled name. */
const char *gp_scope_kernel_of(const struct gp_scope *scope, uint64_t number);

/* The number of a kernel's mangled name.  names remembers it: from gp_scope_names(), free it. */
uint64_t gp_scope_name(struct gp_scope *scope, const struct gp_model *model, const struct gp_op *op,
		       uint64_t *names);

/* For the names of that model's kernels, none yet.  NULL if there is no memory. */
uint64_t *gp_scope_names(const struct gp_model *model);

/* What tells kinds of kernels; NULL if there is no memory. */
const struct gp_kinds *gp_scope_kinds(struct gp_scope *scope);

/*
 * Where the time of the devices went, tuning and main loops, with the 1,000 longest gaps of a
 * device: found once for all tables and the summary.  NULL if there is no memory.
 */
struct gp_analysis *gp_scope_analysis(struct gp_scope *scope);

/* Whether any of the models recorded what the GPUs did: else they would seem idle. */
bool gp_scope_has_gpu(const struct gp_scope *scope);

/* What we call a model's device. */
uint32_t gp_scope_device(struct gp_scope *scope, const struct gp_model *model, uint16_t device_id);

/* ---- gathering ---- */

struct gp_scope_op {
	struct gp_scope *scope;
	const struct gp_model *model;
	const struct gp_op *op;
	uint64_t process; /* the model's index */
	uint64_t name;    /* of a kernel: the number of its mangled name */
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
 * Call take for every operation, or every call, of every model; of a part of a trace (gp_part), for
 * those that begin in it.  Returns 0 or -ENOMEM.
 */
int gp_scope_ops(struct gp_scope *scope, struct gp_tally *tally, gp_scope_take_op *take);
int gp_scope_calls(struct gp_scope *scope, struct gp_tally *tally,
		   void (*take)(struct gp_tally *tally, const struct gp_scope_call *at));

/* One more operation of the row: its time goes to series 0, or it is counted in sums 0. */
void gp_scope_count_op(struct gp_tally *tally, struct gp_tally_row *row, const struct gp_op *op);

/* The same, where times are a GPU's: a copy from host to host is one more, without time. */
void gp_scope_count_gpu_op(struct gp_tally *tally, struct gp_tally_row *row,
			   const struct gp_op *op);
#define GP_SCOPE_UNTIMED 0

/* ---- the rows ---- */

/* What most tables begin with: the row's share of all rows' time, and that time. */
#define GP_SHARE_COLUMNS                                                                           \
	{"Time %", GP_UNIT_PERCENT},                                                               \
	{                                                                                          \
		"Total", GP_UNIT_NS                                                                \
	}

/* How single values spread. */
#define GP_HISTOGRAM_COLUMNS(unit)                                                                 \
	{"Avg", unit}, {"Med", unit}, {"Min", unit}, {"Max", unit},                                \
	{                                                                                          \
		"StdDev", unit                                                                     \
	}

/* Puts the cells of a row; total is that of series 0 of all. */
typedef void gp_scope_put_row(struct gp_scope *scope, struct gp_table *sheet,
			      const struct gp_tally_row *row, double total);

/*
 * Call put for every row.  Frees the tally.  Returns result if that is not 0, else 0 or the tally's
 * error.
 */
int gp_scope_rows(struct gp_scope *scope, struct gp_table *sheet, struct gp_tally *tally,
		  int result, gp_scope_put_row *put);

/* A table of operations: all of them taken, then all rows put.  Returns 0 or -ENOMEM. */
int gp_scope_table_of_ops(struct gp_scope *scope, struct gp_table *sheet, gp_scope_take_op *take,
			  gp_scope_put_row *put);

/* Counts a kernel under its name. */
void gp_scope_take_kernel(struct gp_tally *tally, const struct gp_scope_op *at);

/*
 * The cells of GP_SHARE_COLUMNS, of series 0, and of GP_HISTOGRAM_COLUMNS; none where nothing was
 * timed.
 */
void gp_scope_put_share(struct gp_table *sheet, const struct gp_tally_row *row, double total);
void gp_scope_put_spread(struct gp_table *sheet, const struct gp_tally_series *series);

/* A number; a text, none if it is empty; the pid of a model. */
/* How many calls failed; nothing where a trace does not tell. */
void gp_scope_put_failed(const struct gp_scope *scope, struct gp_table *sheet, uint64_t failed);
void gp_scope_put_pid(struct gp_scope *scope, struct gp_table *sheet, uint64_t process);

#endif
