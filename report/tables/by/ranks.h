/* ranks: the measures of each process of a job, by which those that differ are found. */
#ifndef REPORT_TABLES_BY_RANKS_H
#define REPORT_TABLES_BY_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/text/format.h"
#include "report/document/value.h"
#include "report/analysis/loop/steps.h"
#include "report/tables/breakdown_scope.h"
#include "report/tables/by/collective_ranks.h"

/* The measures of a rank. */
enum gp_rank_measure {
	GP_RANK_STEP,          /* ns, the median step of its main loop */
	GP_RANK_COMPUTING,     /* ns of all operations except communication */
	GP_RANK_COMMUNICATING, /* ns */
	GP_RANK_WAITED,        /* ns in collectives except the first, for the last rank */
	GP_RANK_HELD_UP,       /* ns that the others waited for it in these, on average */
	GP_RANK_PEAK,          /* bytes, of the GPU on which it is highest */
	GP_RANK_MEASURES
};

#define GP_RANK_PEERS 3

struct gp_rank_row {
	size_t process; /* in the scope, or of the collectives */
	uint32_t rank;
	uint32_t steps;
	struct gp_value values[GP_RANK_MEASURES]; /* whole; none if unknown */
	/* processes that waited for it longest; their number */
	uint16_t peers[GP_RANK_PEERS];
	uint32_t peer_count;
};

struct gp_ranks {
	struct gp_rank_row *rows; /* by rank; processes without one are left out */
	uint32_t count, capacity;
	bool has_collectives; /* operations of several ranks match: waited and held up are known */
};

/* GPU times of a process: communication, and all other operations. */
struct gp_rank_times {
	uint64_t computing_ns, communicating_ns;
};

/* Adds the times of a model.  Returns 0 or -ENOMEM. */
int gp_rank_times_add(struct gp_rank_times *times, const struct gp_kinds *kinds,
		      const struct gp_model *model);

/*
 * gp_ranks_add() adds a process with its main loop, if it has a rank; gp_ranks_end() adds the waits,
 * by the operations of all.  The models need not be in memory together.  Both return 0 or -ENOMEM;
 * call gp_ranks_free() in any case.
 */
int gp_ranks_add(struct gp_ranks *ranks, const struct gp_kinds *kinds, struct gp_model *model,
		 size_t process, const struct gp_steps *steps);
int gp_ranks_end(struct gp_ranks *ranks, struct gp_collectives *collectives, size_t process_count);

/* The same for the models of a scope. */
int gp_ranks_gather(struct gp_scope *scope, struct gp_ranks *ranks);
void gp_ranks_free(struct gp_ranks *ranks);

/* How its process ended; of an incomplete trace that is often not known, but "incomplete". */
struct gp_figure gp_rank_how_ended(const struct gp_model *model);

#endif
