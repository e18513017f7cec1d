#include "report/diff/rank.h"

#include <stdlib.h>
#include <string.h>

double gp_rank_least(uint32_t left, uint32_t right)
{
	double least = 1;

	for (uint32_t i = 1; i <= left; i++)
		least *= (double)i / (double)(right + i);
	return least;
}

void gp_rank_free(struct gp_rank *rank)
{
	free(rank->tails);
	*rank = (struct gp_rank){0};
}

/*
 * The share of all orders of the values that has w wins is the coefficient of x^w in the Gaussian
 * binomial coefficient (left + right choose left), divided by the sum of the coefficients: the product of (1 - x^(right + i))
 * / (1 - x^i).  Divided by (right + i) / i at each step it stays a distribution.
 */
static void multiply_in(double *shares, uint32_t size, uint32_t right, uint32_t i)
{
	double scale = (double)i / (double)(right + i);

	for (uint32_t w = size; w-- > right + i;)
		shares[w] -= shares[w - right - i];
	for (uint32_t w = i; w < size; w++)
		shares[w] += shares[w - i];
	for (uint32_t w = 0; w < size; w++)
		shares[w] *= scale;
}

/*
 * Sum one half of the symmetric distribution and mirror it, so that small probabilities keep all
 * their digits.
 */
static void sum_tails(double *shares, uint32_t size)
{
	for (uint32_t w = 0; w < size / 2; w++) {
		if (shares[w] < 0)
			shares[w] = 0;
		shares[size - 1 - w] = shares[w];
	}
	for (uint32_t w = size - 1; w-- > 0;) {
		shares[w] += shares[w + 1];
		if (shares[w] > 1) /* a rounding error */
			shares[w] = 1;
	}
}

void gp_rank_set(struct gp_rank *rank, uint32_t left, uint32_t right)
{
	uint32_t size = left * right + 1;
	double *shares;

	if (rank->left == left && rank->right == right)
		return;
	shares = calloc(size, sizeof(*shares));
	shares[0] = 1;
	for (uint32_t i = 1; i <= left; i++)
		multiply_in(shares, size, right, i);
	sum_tails(shares, size);
	gp_rank_free(rank);
	*rank = (struct gp_rank){left, right, shares};
}

double gp_rank_tail(const struct gp_rank *rank, uint32_t wins)
{
	return wins > rank->left * rank->right ? 0 : rank->tails[wins];
}

uint32_t gp_rank_needed(const struct gp_rank *rank, double probability)
{
	uint32_t size = rank->left * rank->right + 1, wins = size;

	while (wins > 0 && rank->tails[wins - 1] <= probability)
		wins--;
	return wins;
}
