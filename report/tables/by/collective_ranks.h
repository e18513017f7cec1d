/*
 * collective_ranks: operations of a collective, matched between GPUs.
 *
 * No rank can leave a collective before all have entered it, so its kernels end on all GPUs at
 * about the same time, and the shortest kernel is the last rank's.  The n-th kernel of a name and a
 * communicator is the same operation on all GPUs that have as many of them; a rank that was killed
 * may lack the last ones.  If no NCCL range names the communicator, all ranks are assumed to share
 * one, and the n-th stream with such kernels to be the same on all GPUs.  Only durations are
 * compared, so clocks need not agree.
 *
 * A rank that came last may have waited for another rank in an operation of another communicator
 * before.  So it holds up the others only for as long as its own time since its previous operation
 * is longer than theirs.
 */
#ifndef REPORT_TABLES_BY_COLLECTIVE_RANKS_H
#define REPORT_TABLES_BY_COLLECTIVE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/tables/breakdown_scope.h"

enum gp_collective_kind {
	/* no rank leaves these before all have entered them */
	GP_ALL_REDUCE,
	GP_ALL_GATHER,
	GP_REDUCE_SCATTER,
	GP_ALL_TO_ALL,
	/* a rank may leave these earlier, such as the sender of a broadcast */
	GP_BROADCAST,
	GP_REDUCE,
	GP_SEND_RECV,
	GP_COLLECTIVE_KINDS
};

/* "AllReduce" */
const char *gp_collective_kind_name(enum gp_collective_kind kind);

/* The kernel of a collective on one GPU. */
struct gp_collective_part {
	uint64_t name, start_ns, duration_ns;
	uint64_t communicator; /* 0 = unknown */
	uint64_t bytes;        /* as NCCL states the size for one rank; 0 = unknown */
	uint32_t ranks;        /* of the communicator; 0 = unknown */
	uint64_t waited_ns;    /* longer than the last rank's, after gp_collectives_each() ... */
	bool is_matched;       /* ... which found the operation on other GPUs, too */
	uint64_t before_ns;    /* the end of the one before it on that GPU; 0 = it is the first */
	/* the end of the last operation of any kernel and communicator before it; 0 = none */
	uint64_t since_ns;
	uint32_t op;     /* of the process */
	uint32_t stream; /* if unknown: ordinal among the streams of its GPU with collectives */
	uint16_t device_id;
	uint16_t process;
	uint8_t kind;       /* enum gp_collective_kind */
	bool is_last;       /* false for all if several were equally short */
	bool may_lack_last; /* the trace of its process is not whole */
};

/* Whether each rank waits for all others in the operation. */
static inline bool gp_collective_is_of_all(const struct gp_collective_part *part)
{
	return part->kind <= GP_ALL_TO_ALL;
}

/* Takes an operation: its parts on so many GPUs. */
typedef void gp_collective_take(void *context, const struct gp_collective_part *parts,
				uint32_t gpus);

/* The models need not be in memory together.  The caller owns the first two members. */
struct gp_collectives {
	struct gp_groups *names; /* of kernels, as mangled */
	const struct gp_kinds *kinds;
	struct gp_collective_part *parts;
	uint32_t count, capacity;
	int error;
};

/* Adds a model; process numbers start at 0.  Returns 0 or -ENOMEM. */
int gp_collectives_add(struct gp_collectives *c, const struct gp_model *model, uint16_t process);

/*
 * Sorts the parts: those of one kernel, communicator, channel and GPU follow each other, in order of
 * time.
 */
void gp_collectives_sort(struct gp_collectives *c);

/* Whether b is the next operation after a, of the same kernel, communicator, channel and GPU. */
bool gp_collectives_are_a_row(const struct gp_collective_part *a,
			      const struct gp_collective_part *b);

/*
 * Takes the operations of all models that were added; take may be NULL.  Returns 0 or -ENOMEM.
 */
int gp_collectives_each(struct gp_collectives *c, gp_collective_take *take, void *context);
void gp_collectives_free(struct gp_collectives *c);

/* Adds the models of a scope, with its names.  Returns 0 or -ENOMEM. */
int gp_collectives_of(struct gp_scope *scope, struct gp_collectives *c);

/*
 * The rows of the table of late ranks, by process, device, kernel and communicator.  Returns 0,
 * -ENOMEM or -EOVERFLOW; call gp_tally_free() in either case.
 */
int gp_collective_ranks_of(struct gp_collectives *c, struct gp_tally *tally);

/* Its time since the previous operation of its GPU; 0 = there is none. */
static inline uint64_t gp_collective_own_ns(const struct gp_collective_part *part)
{
	return part->since_ns > 0 ? part->start_ns - part->since_ns : 0;
}

/*
 * How long the last rank held up the others by its own time, on average; 0 if no rank was the last.
 * If a rank has no previous operation, this is all of their wait.
 */
uint64_t gp_collective_held_up_ns(const struct gp_collective_part *parts, uint32_t gpus);

#endif
