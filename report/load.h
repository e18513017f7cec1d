/*
 * load: a model while it is being made.  Used by the files that make it, in this order:
 * load.c reads the file (gp_model_load() of model.h is there), take.c puts each record into its
 * array, resolve.c turns ids into indices and clocks into one timeline, join.c finds who started
 * what, memory.c which free ended which allocation.
 */
#ifndef REPORT_LOAD_H
#define REPORT_LOAD_H

#include "report/api_table.h"
#include "report/decode.h"
#include "report/model.h"
#include "report/timeline.h"

/* A text that a number stands for. */
struct gp_named {
	uint32_t id;
	char *text;
};

/* A context was destroyed, and what was allocated in it is gone. */
struct gp_context_end {
	uint32_t context_id;
	uint64_t time_ns;
};

struct gp_load_capacity {
	uint32_t context_ends, calls, ops, memory, overheads, names, shapes, devices, device_names,
		contexts, streams, threads, usages, notes, anchors, syncs, events, nodes, jits,
		pools, unifieds, gates;
};

struct gp_load {
	struct gp_model *model;
	struct gp_load_capacity capacity;
	uint32_t ring_thread;   /* owner of the ring being read, 0 = shared */
	uint32_t record_thread; /* in a shared ring: of the next record */

	/* What the model has in another form. Until gp_resolve(), the times in the model are as
	 * recorded, and */
	/* ops[].name and .shape are ids; ops[].next_op and overhead_anchors[] count the anchors
	 * before the record. */
	struct gp_named *names;
	struct gp_named *device_names;
	uint32_t device_name_count;
	uint32_t *overhead_anchors;
	struct gp_record_anchor *anchors;
	uint32_t anchor_count;
	uint64_t end_ticks; /* of the END record, else of the last anchor */
	struct gp_context_end *context_ends;
	uint32_t context_end_count;
};

/* The sink for the decoder; context is a struct gp_load. Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_take_record(void *load, const union gp_any_record *record, const char *text);

/* Add a sentence to the model's notes; text is from malloc and belongs to the model from now on. */
int gp_load_note(struct gp_load *load, char *text);

/* All of these: 0 or -ENOMEM. */
int gp_resolve(struct gp_load *load);
int gp_join_ops(struct gp_model *model);
int gp_join_memory(struct gp_load *load);

#endif
