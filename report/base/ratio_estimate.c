#include "report/base/ratio_estimate.h"

#include <math.h>

#define NORMAL_QUANTILE 1.959964 /* of the normal distribution, at 97.5 % */

void gp_ratio_add(struct gp_ratio *ratio, double weight, double length, double amount)
{
	ratio->count++;
	ratio->taken_length += length;
	ratio->length += weight * length;
	ratio->length_squares += weight * length * weight * length;
	gp_ratio_add_amount(ratio, weight, length, amount);
}

void gp_ratio_add_amount(struct gp_ratio *ratio, double weight, double length, double amount)
{
	amount *= weight;
	ratio->amount += amount;
	ratio->products += weight * length * amount;
	ratio->amount_squares += amount * amount;
}

/*
 * The quantile of Student's distribution at 97.5 %, from that of the normal distribution by the
 * first terms of their expansion (Abramowitz and Stegun, 26.7.5): at most 0.001 wrong from 4
 * degrees of freedom on, and exact for many.
 */
static double student_quantile(double freedom)
{
	double x = NORMAL_QUANTILE, x3 = x * x * x, x5 = x3 * x * x, x7 = x5 * x * x;
	double x9 = x7 * x * x;

	return x + (x3 + x) / (4 * freedom) + (5 * x5 + 16 * x3 + 3 * x) / (96 * pow(freedom, 2)) +
	       (3 * x7 + 19 * x5 + 17 * x3 - 15 * x) / (384 * pow(freedom, 3)) +
	       (79 * x9 + 776 * x7 + 1482 * x5 - 1920 * x3 - 945 * x) / (92160 * pow(freedom, 4));
}

/*
 * The variance of the ratio estimator of a total (Cochran, Sampling Techniques, 3rd edition, chapter
 * 6), with weights: n (1 - f) times the variance of the residuals, amount - ratio x length, of the n
 * weighted parts, where f is the part of the whole that was taken.
 */
static double error_of(const struct gp_ratio *ratio, double length)
{
	double count = ratio->count, left = 1 - fmin(ratio->taken_length / length, 1);
	double mean = ratio->amount / ratio->length;
	double residuals = ratio->amount_squares - 2 * mean * ratio->products +
			   mean * mean * ratio->length_squares;
	double variance = fmax(residuals, 0) / (count - 1);

	return student_quantile(count - 1) * sqrt(count * left * variance) * length / ratio->length;
}

struct gp_estimate gp_ratio_of_whole(const struct gp_ratio *ratio, double length)
{
	struct gp_estimate estimate = {0, (double)NAN};

	if (!(ratio->length > 0) || !(length > 0))
		return estimate;
	estimate.value = ratio->amount / ratio->length * length;
	if (ratio->count >= GP_RATIO_LEAST)
		estimate.error = error_of(ratio, length);
	return estimate;
}

struct gp_estimate gp_estimate_sum(struct gp_estimate one, struct gp_estimate other)
{
	return (struct gp_estimate){
		.value = one.value + other.value,
		.error = sqrt(one.error * one.error + other.error * other.error),
	};
}
