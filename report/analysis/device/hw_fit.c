#include "report/analysis/device/hw_fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A level is known if its error is below this part of it, below this part of the highest sample, or
 * (in percent) below so many points. */
#define KNOWN_OF_LEVEL   0.1
#define KNOWN_OF_HIGHEST 0.02
#define KNOWN_POINTS     1000.0 /* one percent */
/* A level that is impossible by more errors than this belongs in part to other labels. */
#define BELIEVED_ERRORS 2
/* The least noise, as a part of the highest sample: few samples may fit exactly by chance. */
#define LEAST_NOISE 0.002
/* Added to the diagonal: a level that the samples do not determine gets a large error, not a wrong
 * value. */
#define RIDGE 1e-4
/*
 * Work that ran at the same time adds up to less than its levels.  Samples in which the times of all
 * work are longer than this part of the sample are left out.
 */
#define MOST_TOGETHER 1.2
/* So many samples are enough: of more, every n-th is used. */
#define MOST_SAMPLES 200000u

struct fit {
	uint32_t size;     /* number of labels; the idle GPU is the last */
	double *products;  /* size x size: sums of products of shares; later its inverse */
	double *sums;      /* size x GP_HW_METRICS: sums of share x level */
	double *shares;    /* of the current sample */
	uint32_t *present; /* labels with a share in it */
	uint32_t present_count;
	/* the work that began before the end of the current sample and may reach into it */
	const struct gp_hw_work **running;
	uint32_t running_count;
	double squares[GP_HW_METRICS], highest[GP_HW_METRICS];
	uint64_t samples[GP_HW_METRICS];
};

static void open_fit(struct fit *fit, uint32_t labels, size_t work_count)
{
	size_t size = (size_t)labels + 1;

	*fit = (struct fit){.size = (uint32_t)size};
	fit->products = calloc(size * size, sizeof(*fit->products));
	fit->sums = calloc(size * GP_HW_METRICS, sizeof(*fit->sums));
	fit->shares = calloc(size, sizeof(*fit->shares));
	fit->present = calloc(size, sizeof(*fit->present));
	fit->running = calloc(work_count + 1, sizeof(*fit->running));
}

static void close_fit(struct fit *fit)
{
	free(fit->products);
	free(fit->sums);
	free(fit->shares);
	free(fit->present);
	free(fit->running);
}

/* ---- the sums ---- */

static void add_share(struct fit *fit, uint32_t label, double share)
{
	if (fit->shares[label] == 0)
		fit->present[fit->present_count++] = label;
	fit->shares[label] += share;
}

static uint64_t overlap(const struct gp_hw_work *work, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from_ns = work->start_ns > start_ns ? work->start_ns : start_ns;
	uint64_t to_ns = work->end_ns < end_ns ? work->end_ns : end_ns;

	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Drops running work that ends before the sample. */
static void add_shares(struct fit *fit, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < fit->running_count; i++) {
		const struct gp_hw_work *work = fit->running[i];
		uint64_t ns = overlap(work, start_ns, end_ns);

		if (ns > 0)
			add_share(fit, work->label, (double)ns / (double)(end_ns - start_ns));
		if (work->end_ns > end_ns)
			fit->running[kept++] = work;
	}
	fit->running_count = kept;
	add_share(fit, fit->size - 1, 1);
}

/* Of the current sample; the idle GPU is in each. */
static bool is_additive(const struct fit *fit)
{
	double together = 0;

	for (uint32_t i = 0; i < fit->present_count; i++)
		together += fit->shares[fit->present[i]];
	return together - 1 <= MOST_TOGETHER;
}

static void clear_shares(struct fit *fit)
{
	for (uint32_t i = 0; i < fit->present_count; i++)
		fit->shares[fit->present[i]] = 0;
	fit->present_count = 0;
}

static void add_levels(struct fit *fit, const struct gp_record_hw_sample *sample, uint32_t label)
{
	for (uint32_t m = 0; m < GP_HW_METRICS; m++)
		if (gp_hw_has(sample, m))
			fit->sums[label * GP_HW_METRICS + m] +=
				fit->shares[label] * (double)gp_hw_level(sample, m);
}

static void add_sample(struct fit *fit, const struct gp_record_hw_sample *sample)
{
	for (uint32_t i = 0; i < fit->present_count; i++) {
		double *row = &fit->products[(size_t)fit->present[i] * fit->size];

		for (uint32_t j = 0; j < fit->present_count; j++)
			row[fit->present[j]] +=
				fit->shares[fit->present[i]] * fit->shares[fit->present[j]];
		add_levels(fit, sample, fit->present[i]);
	}
	for (uint32_t m = 0; m < GP_HW_METRICS; m++) {
		double level = gp_hw_has(sample, m) ? (double)gp_hw_level(sample, m) : 0;

		fit->samples[m] += gp_hw_has(sample, m);
		fit->squares[m] += level * level;
		fit->highest[m] = fmax(fit->highest[m], level);
	}
}

/* ---- the solution ---- */

/* Cholesky decomposition in place, of the lower triangle. */
static void decompose(double *a, uint32_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = a[i * n + j] + (i == j ? RIDGE : 0);

			for (size_t k = 0; k < j; k++)
				sum -= a[i * n + k] * a[j * n + k];
			a[i * n + j] = i == j ? sqrt(fmax(sum, RIDGE)) : sum / a[j * n + j];
		}
}

/* Solves a x = b in place of b, whose elements are `step` apart. */
static void solve(const double *a, uint32_t n, double *b, size_t step)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			b[i * step] -= a[i * n + k] * b[k * step];
		b[i * step] /= a[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i * step] -= a[k * n + i] * b[k * step];
		b[i * step] /= a[i * n + i];
	}
}

/* The noise of one sample: what the levels leave unexplained, per degree of freedom. */
static double noise_of(const struct fit *fit, uint32_t metric, double explained)
{
	double rest = fmax(fit->squares[metric] - explained, 0);
	double freedom = fmax((double)fit->samples[metric] - fit->size, 1);

	return fmax(sqrt(rest / freedom), LEAST_NOISE * fit->highest[metric]);
}

/* The largest error with which a level is reported. */
static double error_limit(const struct fit *fit, uint32_t metric, double level)
{
	double limit = fmax(KNOWN_OF_LEVEL * level, KNOWN_OF_HIGHEST * fit->highest[metric]);

	return gp_hw_metrics[metric].unit == GP_HW_UNIT_PERCENT ? fmax(limit, KNOWN_POINTS) : limit;
}

static void put_estimate(const struct fit *fit, uint32_t metric, double level, double error,
			 struct gp_hw_estimate *estimate)
{
	bool is_percent = gp_hw_metrics[metric].unit == GP_HW_UNIT_PERCENT;
	double possible = fmin(fmax(level, 0), is_percent ? GP_HW_ALL : (double)INFINITY);
	bool is_known = fit->samples[metric] > fit->size &&
			error <= error_limit(fit, metric, possible) &&
			fabs(level - possible) <= BELIEVED_ERRORS * error;

	estimate->error[metric] = error;
	estimate->level[metric] = is_known ? possible : (double)NAN;
}

/* A diagonal element of the inverse of the products. */
static double spread_of(const struct fit *fit, double *column, uint32_t label)
{
	memset(column, 0, fit->size * sizeof(*column));
	column[label] = 1;
	solve(fit->products, fit->size, column, 1);
	return column[label];
}

static void solve_fit(struct fit *fit, struct gp_hw_estimate *estimates)
{
	size_t sums_bytes = (size_t)fit->size * GP_HW_METRICS * sizeof(*fit->sums);
	double *levels = malloc(sums_bytes), noise[GP_HW_METRICS];

	memcpy(levels, fit->sums, sums_bytes);
	decompose(fit->products, fit->size);
	for (uint32_t m = 0; m < GP_HW_METRICS; m++) {
		double explained = 0;

		solve(fit->products, fit->size, &levels[m], GP_HW_METRICS);
		for (uint32_t i = 0; i < fit->size; i++)
			explained +=
				levels[i * GP_HW_METRICS + m] * fit->sums[i * GP_HW_METRICS + m];
		noise[m] = noise_of(fit, m, explained);
	}
	for (uint32_t i = 0; i + 1 < fit->size; i++) {
		double spread = sqrt(spread_of(fit, fit->shares, i));

		for (uint32_t m = 0; m < GP_HW_METRICS; m++)
			put_estimate(fit, m, levels[i * GP_HW_METRICS + m], noise[m] * spread,
				     &estimates[i]);
	}
	free(levels);
}

void gp_hw_fit(const struct gp_record_hw_sample *samples, uint32_t count, uint64_t offset_ns,
	       const struct gp_hw_work *work, size_t work_count, uint32_t labels,
	       struct gp_hw_estimate *estimates)
{
	uint32_t every = count / MOST_SAMPLES + 1;
	struct fit fit;
	size_t next = 0;

	open_fit(&fit, labels, work_count);
	for (uint32_t i = 0; i < count; i += every) {
		uint64_t start_ns = samples[i].start_ns + offset_ns;
		uint64_t end_ns = samples[i].end_ns + offset_ns;

		for (; next < work_count && work[next].start_ns < end_ns; next++)
			if (work[next].end_ns > start_ns)
				fit.running[fit.running_count++] = &work[next];
		add_shares(&fit, start_ns, end_ns);
		if (is_additive(&fit))
			add_sample(&fit, &samples[i]);
		clear_shares(&fit);
	}
	solve_fit(&fit, estimates);
	close_fit(&fit);
}
