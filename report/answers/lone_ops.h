/*
 * lone_ops: operations whose times stand alone: one took a good part of all GPU time, and many times what others like it take; or its time
 * cannot be right, for its own stream did something else meanwhile.
 */
#ifndef REPORT_ANSWERS_LONE_OPS_H
#define REPORT_ANSWERS_LONE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/answers/kernel_kinds.h"
#include "report/devices.h"
#include "report/model.h"

struct gp_lone_op {
	size_t model;    /* index in the models */
	uint32_t op;     /* index in its operations; GP_NONE: there is none */
	uint64_t all_ns; /* what all operations of all models took, one by one */
	uint64_t
		like; /* those like it, itself included: of the same kernel and shape, or copies or sets of the same kinds of memory */
	bool is_first; /* of those */
	uint64_t
		usual_ns; /* what these take by the median; of more bytes than these move by the median, as much more */
	uint64_t clashes;  /* with so many operations of its stream (gp_ops_clash()) */
	uint64_t alone_ns; /* of its time, what no other operation kept its device busy */
};

/*
 * The longest such one, if any; no kernel that communicates, for how long that waits for others is theirs.  devices: of all models
 * (gp_device_list_all()).  Returns 0 or -ENOMEM.
 */
int gp_lone_op_find(struct gp_lone_op *found, struct gp_model *const *models, size_t model_count,
		    const struct gp_device_list *devices, const struct gp_kinds *kinds);

/*
 * Whether the times of two operations of one stream contradict it, which does one after the other: the later one began more than 1 us before
 * the earlier one ended.  Two nodes of graphs may run at once in what is told as one stream, and a programmatic dependent launch begins early; of
 * other recorders' traces it is not known which launches are such.
 */
bool gp_ops_clash(const struct gp_model *model, const struct gp_op *earlier,
		  const struct gp_op *later);

/* How many operations of a model began before one of their stream that had begun earlier ended, where both clash. */
uint64_t gp_ops_count_clashes(const struct gp_model *model);

#endif
