/*
 * what_if: what a job would gain if no rank came later to a collective operation than the median of
 * its ranks.
 *
 * The operations are replayed: a rank comes after its own time since its previous operation, and the
 * operation ends for all after the last one has come, and the transfer, which is the shortest time
 * of its kernels.  The first replay has the own times as recorded: its distance from the recorded
 * time is the error of the method.  The second has no own time above the median of the operation's.
 * Clocks need not agree.
 */
#ifndef REPORT_TABLES_BY_WHAT_IF_H
#define REPORT_TABLES_BY_WHAT_IF_H

#include "report/tables/by/collective_ranks.h"

/* Of the rank that takes longest, after its first operation.  recorded_ns 0: unknown. */
struct gp_what_if {
	uint64_t recorded_ns, replayed_ns;
	uint64_t median_ns; /* replayed without the time beyond the median */
};

/* Returns 0 or -ENOMEM. */
int gp_what_if_of(struct gp_collectives *c, struct gp_what_if *what_if);

#endif
