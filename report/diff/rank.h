/*
 * rank: an exact rank test (Mann and Whitney): whether the values of one group are larger than those
 * of another, by their order only.
 *
 * The hypothesis is that both groups have the same distribution; its shape does not matter.  Ties
 * count as no win, which errs on the safe side.
 */
#ifndef REPORT_DIFF_RANK_H
#define REPORT_DIFF_RANK_H

#include <stdint.h>

#define GP_RANK_MOST 64u /* values of a group */

/*
 * The distribution of the number of wins, if both groups have the same distribution: pairs of one of
 * `left` values and one of `right` values in which the left one is larger.  Zeroed = empty.
 */
struct gp_rank {
	uint32_t left, right;
	double *tails; /* [w] = probability of at least w wins, w from 0 to left * right */
};

/*
 * Compute the distribution for these sizes, each from 1 to GP_RANK_MOST; fast if it is already for
 * them.
 */
void gp_rank_set(struct gp_rank *rank, uint32_t left, uint32_t right);
void gp_rank_free(struct gp_rank *rank);

/* Probability of at least so many wins. */
double gp_rank_tail(const struct gp_rank *rank, uint32_t wins);

/*
 * The least w with a probability of at least w wins of at most that; left * right + 1: even winning
 * all pairs is more probable.
 */
uint32_t gp_rank_needed(const struct gp_rank *rank, double probability);

/* The probability of the rarest outcome: 1 / (left + right choose left). */
double gp_rank_least(uint32_t left, uint32_t right);

#endif
