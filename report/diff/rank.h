/*
 * rank: whether values of one kind are larger than those of another, by their order alone (Mann and
 * Whitney), exactly.
 *
 * Nothing is assumed of how they are distributed, but that both would be distributed alike.  Ties
 * count against what is to be shown, which errs on the safe side.
 */
#ifndef REPORT_DIFF_RANK_H
#define REPORT_DIFF_RANK_H

#include <stdint.h>

#define GP_RANK_MOST 64u /* values of a kind */

/*
 * The distribution of the number of pairs (one of `left` values, one of `right` values) that the
 * left one wins, where both are distributed alike.  Zeroed = of none.
 */
struct gp_rank {
	uint32_t left, right;
	double *tails; /* [w] = probability of at least w wins, w from 0 to left * right */
};

/*
 * Make it that of these sizes, each from 1 to GP_RANK_MOST; quick where it is already.  Returns 0
 * or -ENOMEM.
 */
int gp_rank_set(struct gp_rank *rank, uint32_t left, uint32_t right);
void gp_rank_free(struct gp_rank *rank);

/* Probability of at least so many wins. */
double gp_rank_tail(const struct gp_rank *rank, uint32_t wins);

/*
 * The fewest wins whose probability is at most that; left * right + 1: even all of them are
 * likelier.
 */
uint32_t gp_rank_needed(const struct gp_rank *rank, double probability);

/* The lowest probability that any outcome has: 1 / (left + right choose left). */
double gp_rank_least(uint32_t left, uint32_t right);

#endif
