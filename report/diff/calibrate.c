#include "report/diff/calibrate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "report/diff/check.h"
#include "report/diff/rank.h"
#include "report/diff/thresholds.h"
#include "report/base/text/format.h"
#include "report/symbols/names.h"

double gp_noise_of(const double *values, uint32_t count)
{
	double mean = 0, squares = 0;

	for (uint32_t i = 0; i < count; i++)
		mean += values[i] / count;
	for (uint32_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return sqrt(squares / (count - 1)) * (1 + 1.645 / sqrt(2.0 * (count - 1)));
}

/* Whether all values are known, and not all are equal. */
static bool varies(const double *values, uint32_t count)
{
	bool differs = false;

	for (uint32_t i = 0; i < count; i++) {
		if (isnan(values[i]))
			return false;
		differs |= values[i] != values[0];
	}
	return differs;
}

static double share_of(double *values, uint32_t count)
{
	double noise = gp_noise_of(values, count), median = gp_median(values, count);

	return median > 0 ? noise / median : 0;
}

static double proposed(double share)
{
	return fmax(GP_CALIBRATE_FACTOR * share, GP_CALIBRATE_SHARE);
}

static void comment(FILE *out, double share, struct gp_calibration *calibration)
{
	bool is_useless = proposed(share) > GP_CALIBRATE_USELESS;

	fprintf(out, "# noise %s %%%s\n", gp_format_percent(share, 1).text,
		is_useless ? ": USELESS, see the end" : "");
	calibration->thresholds++;
	calibration->useless += is_useless;
}

static void print_metric(FILE *out, const struct gp_run_set *set, enum gp_metric metric,
			 struct gp_calibration *calibration)
{
	bool is_exact = gp_metric_rows[metric].kind == GP_METRIC_EXACT;
	bool is_time = gp_metric_rows[metric].unit == GP_UNIT_NS;
	double values[GP_RANK_MOST], share;

	gp_run_set_metric(set, metric, values);
	if (!gp_metric_rows[metric].gated || !varies(values, set->count))
		return;
	share = share_of(values, set->count);
	comment(out, share, calibration);
	gp_thresholds_print(out, metric, proposed(share),
			    is_time    ? GP_CALIBRATE_NS
			    : is_exact ? 1
				       : 0);
}

/* The share of a time in the kernel time: the median of the runs. */
static double part_of(const struct gp_run_set *set, double total_ns)
{
	double values[GP_RANK_MOST], all_ns;

	gp_run_set_metric(set, GP_METRIC_KERNEL_TIME, values);
	all_ns = gp_median(values, set->count);
	return all_ns > 0 ? total_ns / all_ns : 0;
}

static void print_kernels(FILE *out, const struct gp_run_set *set,
			  struct gp_calibration *calibration)
{
	struct gp_names *names = gp_names_new();
	double values[GP_RANK_MOST];
	const char **kernels;
	uint32_t count;

	gp_run_set_names(set, NULL, GP_NAMED_KERNEL, &kernels, &count);
	for (uint32_t i = 0; i < count; i++) {
		double share;

		gp_run_set_named(set, GP_NAMED_KERNEL, kernels[i], GP_NAMED_TOTAL, values);
		if (!varies(values, set->count))
			continue;
		share = share_of(values, set->count);
		if (part_of(set, gp_median(values, set->count)) < GP_CHECK_KERNEL_SHARE)
			continue;
		comment(out, share, calibration);
		gp_thresholds_print_kernel(out, gp_names_full(names, kernels[i]), proposed(share),
					   GP_CALIBRATE_NS);
	}
	free(kernels);
	gp_names_free(names);
}

/* Ways to reduce the noise: only the owner of the machine knows its causes. */
static void print_remedies(FILE *out, const struct gp_calibration *calibration)
{
	fprintf(out,
		"# %u of these %u thresholds are above %s %%: only large regressions would be found.\n"
		"# The runs differ too much.  To reduce the noise, the most effective first:\n"
		"#   let no other program use the GPU and the CPU: check with nvidia-smi, top\n"
		"#   run longer, with more of the same work in each run\n"
		"#   leave out startup: --delay, --capture-range, or a warm-up before the loop\n"
		"#   fix the clocks: nvidia-smi --lock-gpu-clocks; reserve CPU cores: taskset\n"
		"# Then record and calibrate again.  Switch off metrics that stay noisy (`wall off`): counts and bytes\n"
		"# are still judged.\n",
		calibration->useless, calibration->thresholds,
		gp_format_percent(GP_CALIBRATE_USELESS, 1).text);
}

void gp_calibrate(FILE *out, const struct gp_run_set *set, struct gp_calibration *calibration)
{
	*calibration = (struct gp_calibration){0};
	fprintf(out,
		"# Thresholds for `gpuprof check --thresholds`, proposed from %u runs on %s.\n"
		"# A metric or kernel, a share of the baseline's median, an amount: the larger one counts.\n"
		"# Each is %.0f times the noise, the standard deviation from run to run (its upper bound), and\n"
		"# at least %s %%.  Metrics that are not listed were equal in all runs, or keep the default.\n",
		set->count, gp_machine_fact(&set->machine, GP_MACHINE_GPUS), GP_CALIBRATE_FACTOR,
		gp_format_percent(GP_CALIBRATE_SHARE, 1).text);
	for (int metric = 0; metric < GP_METRICS; metric++)
		print_metric(out, set, (enum gp_metric)metric, calibration);
	print_kernels(out, set, calibration);
	if (calibration->useless > 0)
		print_remedies(out, calibration);
}
