#include "report/analysis/device/hw_overlap.h"

#include <math.h>

#include "report/base/array.h"

struct sums {
	struct gp_hw_average average; /* levels and errors times ns */
	double ns[GP_HW_METRICS];
};

/* inside_ns: the part of the sample within the times. */
static void add_sample(struct sums *sums, const struct gp_record_hw_sample *sample,
		       uint64_t inside_ns)
{
	double inside = (double)inside_ns;
	double all = (double)(sample->end_ns - sample->start_ns);

	sums->average.covered_ns += inside_ns;
	for (uint32_t m = 0; inside_ns > 0 && m < GP_HW_METRICS; m++) {
		double level = (double)gp_hw_level(sample, m);
		double highest = gp_hw_metrics[m].unit == GP_HW_UNIT_PERCENT ? GP_HW_ALL : INFINITY;
		double most, least;

		if (!gp_hw_has(sample, m))
			continue;
		sums->ns[m] += inside;
		sums->average.level[m] += level * inside;
		if (inside >= all)
			continue;
		most = fmin(level * all, highest * inside);
		least = fmax(0, level * all - highest * (all - inside));
		sums->average.error[m] += fmax(most - level * inside, level * inside - least);
	}
}

static bool ends_before(const void *element, const void *key)
{
	const struct gp_record_hw_sample *sample = element;
	const uint64_t *time_ns = key;

	return sample->end_ns <= *time_ns;
}

/* A sample that several times share is added with all of its parts, by the last of them. */
static void add_all(struct sums *sums, const struct gp_record_hw_sample *samples, uint32_t count,
		    uint64_t offset_ns, const struct gp_interval *times, size_t time_count)
{
	uint32_t pending = 0;
	uint64_t inside_ns = 0;

	for (size_t i = 0; i < time_count; i++) {
		uint64_t start_ns =
			times[i].start_ns > offset_ns ? times[i].start_ns - offset_ns : 0;
		uint64_t end_ns = times[i].end_ns > offset_ns ? times[i].end_ns - offset_ns : 0;
		uint32_t at = gp_array_lower_bound(samples, count, sizeof(*samples), ends_before,
						   &start_ns);

		for (; at < count && samples[at].start_ns < end_ns; at++) {
			uint64_t from_ns =
				samples[at].start_ns > start_ns ? samples[at].start_ns : start_ns;
			uint64_t to_ns = samples[at].end_ns < end_ns ? samples[at].end_ns : end_ns;

			if (at != pending) {
				add_sample(sums, &samples[pending], inside_ns);
				inside_ns = 0;
			}
			pending = at;
			inside_ns += to_ns - from_ns;
		}
	}
	if (inside_ns > 0)
		add_sample(sums, &samples[pending], inside_ns);
}

struct gp_hw_average gp_hw_average_of(const struct gp_record_hw_sample *samples, uint32_t count,
				      uint64_t offset_ns, const struct gp_interval *times,
				      size_t time_count)
{
	struct sums sums = {.average = {.covered_ns = 0}};

	add_all(&sums, samples, count, offset_ns, times, time_count);
	for (uint32_t m = 0; m < GP_HW_METRICS; m++) {
		sums.average.level[m] =
			sums.ns[m] > 0 ? sums.average.level[m] / sums.ns[m] : (double)NAN;
		sums.average.error[m] =
			sums.ns[m] > 0 ? sums.average.error[m] / sums.ns[m] : (double)NAN;
	}
	return sums.average;
}
