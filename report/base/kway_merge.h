/*
 * merge: several sequences that are each in order of a number, as one in that order.
 *
 * Who uses it puts in the first number of each sequence; whenever one is taken, the next of the
 * same sequence is put in.  Equal numbers come in the order of their sequences.
 */
#ifndef REPORT_BASE_KWAY_MERGE_H
#define REPORT_BASE_KWAY_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_kway_merge_head {
	uint64_t number;
	size_t sequence;
};

struct gp_kway_merge {
	struct gp_kway_merge_head *heads; /* a heap */
	size_t count;
};

/* Room for that many sequences.  Returns 0 or -ENOMEM; gp_kway_merge_close() in either case. */
int gp_kway_merge_open(struct gp_kway_merge *merge, size_t sequences);
void gp_kway_merge_close(struct gp_kway_merge *merge);

/* Each sequence may be in there once. */
void gp_kway_merge_put(struct gp_kway_merge *merge, size_t sequence, uint64_t number);

/* Take out the lowest number.  False: there is none. */
bool gp_kway_merge_take(struct gp_kway_merge *merge, struct gp_kway_merge_head *head);

/* In place of the lowest number, which is heads[0], put in the next one of its sequence. */
void gp_kway_merge_replace(struct gp_kway_merge *merge, uint64_t number);

#endif
