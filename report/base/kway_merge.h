/*
 * kway_merge: merges sequences, each sorted by a number, into one.
 *
 * The caller puts in the first number of each sequence, and after each take the next number of the
 * same sequence. Equal numbers come in the order of their sequences.
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

/*
 * Allocates for that many sequences. Returns 0 or -ENOMEM; call gp_kway_merge_close() in both
 * cases.
 */
int gp_kway_merge_open(struct gp_kway_merge *merge, size_t sequences);
void gp_kway_merge_close(struct gp_kway_merge *merge);

/* Each sequence can have one number in the heap. */
void gp_kway_merge_put(struct gp_kway_merge *merge, size_t sequence, uint64_t number);

/* Takes out the lowest number. Returns false if the heap is empty. */
bool gp_kway_merge_take(struct gp_kway_merge *merge, struct gp_kway_merge_head *head);

/* Replaces the lowest number, heads[0], by the next one of its sequence. */
void gp_kway_merge_replace(struct gp_kway_merge *merge, uint64_t number);

#endif
