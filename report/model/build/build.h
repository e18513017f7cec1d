/*
 * build: a model in the making.
 *
 * The steps, in their order: load_model.c (report/load) reads the file; take.c appends each record
 * to its array, take_string.c each definition, op_detail.c what operations share; resolve.c turns
 * ids into indices, frames.c those of call stacks; times.c puts all clocks on one timeline; join.c
 * joins operations to calls, graph_conditional.c those of conditional nodes; capture.c joins nodes
 * of graphs to the calls that became them; vmm.c ends memory that has handles; alloc_pairing.c
 * joins frees to allocations; ranges.c joins the ends of ranges to their starts; own_work.c makes
 * overhead of those of gpuprof's Python package; range_projection.c finds the GPU time of each
 * range; stack_estimate.c gives launches without a stack that of a similar one.
 */
#ifndef REPORT_MODEL_BUILD_BUILD_H
#define REPORT_MODEL_BUILD_BUILD_H

#include "report/trace/api_table.h"
#include "report/base/array.h"
#include "report/trace/decode.h"
#include "report/model/model.h"
#include "report/trace/clock_sync.h"

/* A text that a number stands for. */
struct gp_named {
	uint32_t id;
	char *text;
};

/* The context was destroyed, and all its memory with it. */
struct gp_context_end {
	uint32_t context_id;
	uint64_t time_ns;
};

/* The fields of a range's record that the model uses. */
struct gp_range_point {
	uint64_t time_ns;
	uint64_t range_id;
	uint64_t payload;
	uint32_t thread_id;
	uint32_t text_id, domain_id, category, color_argb, payload_id;
	uint8_t op, payload_kind;
};

/* Correlation ids are CUPTI's 32-bit counter: unique until it wraps. */
struct gp_call_key {
	uint32_t correlation_id;
	uint32_t call;
};

/* Grows an array of the builder or the model for one more element; gp_spill_free() frees it. */
#define GP_MODEL_GROW(b, array, count, which)                                                      \
	gp_array_grow_spill(&(array), &(b)->capacity.which, (count), sizeof(*(array)))

struct gp_model_capacity {
	uint32_t context_ends, names, device_names, notes, anchors, range_points, hw_values,
		counter_texts;
#define GP_MODEL_ARRAY(element, array, count) uint32_t array;
#include "report/model/array.def"
};

/* A value as it was recorded. */
struct gp_hw_value {
	uint64_t bits; /* of a double */
	uint32_t correlation_id, metric_id, window_id;
	uint32_t op; /* the kernel's index */
};

struct gp_model_builder {
	struct gp_model *model;
	struct gp_model_capacity capacity;
	uint32_t process; /* of an imported file of several: the number of the wanted one */
	uint8_t apis[(UINT16_MAX + 1) / 8]; /* a bit for each that was called */

	/*
	 * Facts that the model has in another form. Until gp_resolve(), the times in the model are
	 * as recorded, and ops[].name and .shape, in_flight[].name, calls[].stack, samples[].stack,
	 * frames[].parent and .origin are ids; ops[].next_op, and a spare field of overheads and of
	 * records with CUPTI's times, count the anchors before the record.
	 */
	struct gp_named *names;
	struct gp_named *device_names;
	uint32_t device_name_count;
	struct gp_record_anchor *anchors;
	uint32_t anchor_count;
	const struct gp_host_clocks *clocks; /* NULL = none */
	uint64_t end_ticks;                  /* of the END record, else of the last anchor */
	uint64_t first_ticks, last_ticks;    /* of calls that are only added up; last 0: none is */
	struct gp_context_end *context_ends;
	uint32_t context_end_count;
	struct gp_range_point *range_points;
	uint32_t range_point_count;
	struct gp_hw_value *hw_values; /* until gp_join_hw_values() */
	uint32_t hw_value_count;
	struct gp_details *details; /* known ones; report/model/build/op_detail.c */
	/* of all calls, sorted; from gp_join_ops() to gp_join_captures() */
	struct gp_call_key *keys;
	uint32_t key_found; /* last */
};

/* The decoder's sink, whose owner is a builder.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_take_record(void *b, const struct gp_record_view *seen);

/*
 * Sets the command line of the process, the one from which all outputs take it: with masked
 * secrets, or without if GPUPROF_NO_COMMAND is set. command: words as a shell reads them; NULL =
 * no memory. Takes it over. Returns 0 or -ENOMEM.
 */
int gp_model_set_command(struct gp_model *model, char *command);

int gp_take_string(struct gp_model_builder *b, const struct gp_record_string *record,
		   const char *text);

/* The number of a detail, for gp_op.detail.  gp_model_builder_free_details() when all are taken. */
int gp_model_builder_detail(struct gp_model_builder *b, const struct gp_op_detail *detail,
			    uint32_t *number);
void gp_model_builder_free_details(struct gp_model_builder *b);

/* Add a sentence to the model's notes; text is from malloc and belongs to the model from now on. */
int gp_model_builder_note(struct gp_model_builder *b, char *text);

/* All of these, in this order: 0 or -ENOMEM. */
int gp_resolve(struct gp_model_builder *b);
void gp_resolve_op(const struct gp_model_builder *b, struct gp_op *op); /* by gp_resolve_times() */
int gp_resolve_times(struct gp_model_builder *b);                       /* by gp_resolve() */
int gp_resolve_stacks(struct gp_model *model);                          /* by gp_resolve() */
int gp_resolve_totals(struct gp_model_builder *b); /* report/model/build/resolve_totals.c */
int gp_join_ops(struct gp_model_builder *b);
int gp_note_hw_windows(struct gp_model_builder *b); /* by gp_resolve() */
int gp_order_overheads(struct gp_model *model);
int gp_join_hw_values(struct gp_model_builder *b);
int gp_join_conditionals(struct gp_model_builder *b); /* by gp_join_ops() */
int gp_join_in_flight(struct gp_model_builder *b);
int gp_join_captures(struct gp_model_builder *b);
int gp_join_physical(struct gp_model_builder *b); /* by gp_join_memory() */
int gp_join_memory(struct gp_model_builder *b);
int gp_join_ranges(struct gp_model_builder *b);
int gp_note_own_work(struct gp_model_builder *b); /* by gp_join_ranges() */
int gp_project_ranges(struct gp_model *model);
int gp_estimate_stacks(struct gp_model *model);

/* The latest call with that correlation id that began by then, else the first one; or GP_NONE. */
uint32_t gp_find_call(struct gp_model_builder *b, uint32_t correlation_id, uint64_t time_ns);

#endif
