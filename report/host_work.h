/*
 * host_work: what a thread of Python's did within some time, by the looks at it (report/host_place.h).
 *
 * A look stands for the time to the middle between it and the next one on either side, GP_HOST_WORK_REACH_NS at most: what is further from any
 * look is not known.
 */
#ifndef REPORT_HOST_WORK_H
#define REPORT_HOST_WORK_H

#include "report/breakdown_scope.h"
#include "report/host_place.h"

#define GP_HOST_WORK_REACH_NS 125000000u

/* Places of one time that are told apart; what is found when there are as many counts as known, but has no place. */
#define GP_HOST_WORK_PLACES 256

struct gp_host_work {
	uint32_t
		place; /* with most of the time, for gp_host_places_at(); UINT32_MAX = there were no looks */
	uint64_t place_ns; /* of it */
	uint64_t known_ns; /* of the time that looks stand for, all places together */
	uint64_t looks;
};

/* The places of a scope, made when they are first asked for; NULL: there is no memory. */
struct gp_host_places *gp_host_places_in(struct gp_scope *scope);

/* Of a thread, from start_ns to end_ns on the model's timeline; of the main thread, where there is no look at that one. */
struct gp_host_work gp_host_work_of(struct gp_host_places *places, const struct gp_model *model,
				    uint32_t thread, uint64_t start_ns, uint64_t end_ns);

#endif
