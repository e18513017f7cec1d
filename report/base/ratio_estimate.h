/*
 * ratio_estimate: what a whole has of something, from parts of it that were taken at random: what
 * the parts have, divided by their length, times the length of the whole.  A part may have a weight:
 * how many times its length it stands for, if parts were taken more often in one place than in
 * another.
 */
#ifndef REPORT_BASE_RATIO_ESTIMATE_H
#define REPORT_BASE_RATIO_ESTIMATE_H

#include <stdint.h>

/* Fewer parts give no error: their spread would say little about that of others. */
#define GP_RATIO_LEAST 5u

/* Sums over the parts; zeroed = none. */
struct gp_ratio {
	uint32_t count;
	double taken_length;
	double length, amount; /* these are weighted */
	double length_squares, products, amount_squares;
};

struct gp_estimate {
	double value;
	double error; /* half of the 95 % confidence interval; NAN = unknown */
};

void gp_ratio_add(struct gp_ratio *ratio, double weight, double length, double amount);

/* More of the amount of a part that was added with this weight and length, and without an amount. */
void gp_ratio_add_amount(struct gp_ratio *ratio, double weight, double length, double amount);

/* Of a whole that is at least as long as the parts together.  Without a length: 0, unknown. */
struct gp_estimate gp_ratio_of_whole(const struct gp_ratio *ratio, double length);

/* The sum of two estimates from parts that were taken independently. */
struct gp_estimate gp_estimate_sum(struct gp_estimate one, struct gp_estimate other);

#endif
