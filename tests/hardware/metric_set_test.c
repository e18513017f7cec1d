/*
 * metric_set: the metrics of each set that a chip collects, and in how many passes, as libcupti 13.0
 * counts them; skipped without it.
 *
 * After an intended change, run METRIC_SET_TEST_WRITES=1 build/tests/hardware/metric_set_test, and
 * read the diff.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "hardware/metric_set.h"
#include "tests/unit.h"

#define GOLDEN "tests/data/metrics/sets.txt"

static const char *const chips[] = {"GH100", "GA100", "AD102", "GB100", "GB202", "TU102"};

static struct gp_profiler_host host;

static void print_fits(FILE *out, const struct gp_metric_choice *choice, size_t count,
		       enum gp_metric_fit fit, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (choice->fits[i] == fit)
			fprintf(out, "    %s %s\n", word, choice->names[i]);
}

static void print_choice(FILE *out, const char *chip, const struct gp_metric_set *set)
{
	struct gp_metric_choice choice;

	assert_int_equal(gp_metric_set_choose(&choice, &host, chip, set), 0);
	assert_non_null(choice.config.image);
	fprintf(out, "%s %s: %zu of %zu, passes: %zu\n", chip, set->name, choice.taken_count,
		set->count, choice.config.passes);
	for (size_t i = 0; i < choice.taken_count; i++) /* else it has a value in no window */
		assert_int_equal(gp_metric_passes(&host, chip, set->kind, &choice.taken[i], 1), 1);
	print_fits(out, &choice, set->count, GP_METRIC_LACKING, "lacking");
	print_fits(out, &choice, set->count, GP_METRIC_TOO_LARGE, "too large");
	print_fits(out, &choice, set->count, GP_METRIC_LEFT_OUT, "left out");
	gp_profiler_config_close(&choice.config);
}

static void test_the_sets_of_each_chip(void **state)
{
	char *text, *golden = calloc(1, 1 << 16);
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes), *file;

	for (size_t i = 0; i < COUNT(chips); i++)
		for (size_t j = 0; j < GP_METRIC_SETS; j++)
			print_choice(out, chips[i], &gp_metric_sets[j]);
	fclose(out);
	file = fopen(GOLDEN, getenv("METRIC_SET_TEST_WRITES") ? "w+" : "r");
	assert_non_null(file);
	if (getenv("METRIC_SET_TEST_WRITES"))
		fputs(text, file);
	rewind(file);
	fread(golden, 1, (1 << 16) - 1, file);
	fclose(file);
	assert_string_equal(text, golden);
	free(text);
	free(golden);
}

/* On the chip for which the sets are made, each of their metrics alone needs one pass. */
static void test_all_metrics_fit_on_gh100(void **state)
{
	for (size_t i = 0; i < GP_METRIC_SETS; i++) {
		struct gp_metric_choice choice;

		assert_int_equal(gp_metric_set_choose(&choice, &host, "GH100", &gp_metric_sets[i]),
				 0);
		assert_int_equal(choice.taken_count, gp_metric_sets[i].count);
		assert_int_equal(choice.config.passes, 1);
		gp_profiler_config_close(&choice.config);
	}
}

static void test_metrics_that_exclude_each_other(void **state)
{
	static const struct gp_metric_names metrics[] = {
		{{"dram__bytes_read.sum"}},
		{{"gpu__nothing.sum", "pcie__read_bytes.sum"}},
		{{"dram__bytes_write.sum"}},
		{{"gpu__nothing.sum"}},
	};
	static const struct gp_metric_set set = {"own", GP_PROFILER_RANGE, "", metrics, 4};
	struct gp_metric_choice choice;

	assert_int_equal(gp_metric_set_choose(&choice, &host, "GH100", &set), 0);
	assert_int_equal(choice.taken_count, 2);
	assert_string_equal(choice.taken[1], "dram__bytes_write.sum");
	assert_int_equal(choice.fits[1], GP_METRIC_LEFT_OUT);
	assert_string_equal(choice.names[1], "pcie__read_bytes.sum");
	assert_int_equal(choice.fits[3], GP_METRIC_LACKING);
	assert_int_equal(choice.config.passes, 1);
	gp_profiler_config_close(&choice.config);
}

/* Of three metrics in two passes the first is in both; one that needs two passes alone is left out. */
static void test_metrics_of_several_passes(void **state)
{
	static const struct gp_metric_names metrics[] = {
		{{"gpu__time_duration.sum"}},         {{"sm__inst_executed_pipe_fma.sum"}},
		{{"sm__inst_executed_pipe_lsu.sum"}}, {{"lts__t_sector_hit_rate.pct"}},
		{{"gpu__time_duration.sum"}},
	};
	static const struct gp_metric_set set = {"own", GP_PROFILER_RANGE, "", metrics, 5};
	struct gp_metric_choice choice;

	assert_int_equal(gp_metric_set_choose(&choice, &host, "TU102", &set), 0);
	assert_int_equal(choice.config.passes, 2);
	assert_int_equal(choice.taken_count, 3);
	assert_int_equal(choice.fits[3], GP_METRIC_TOO_LARGE);
	assert_int_equal(choice.fits[4], GP_METRIC_TAKEN);
	gp_profiler_config_close(&choice.config);
}

static void append(struct gp_metric_names *metrics, struct gp_metric_set *set,
		   enum gp_metric_set_id id)
{
	memcpy(&metrics[set->count], gp_metric_sets[id].metrics,
	       gp_metric_sets[id].count * sizeof(*metrics));
	set->count += gp_metric_sets[id].count;
}

/* Traffic of links excludes that of DRAM.  The others keep their passes. */
static void test_metrics_of_several_passes_that_exclude_each_other(void **state)
{
	static struct gp_metric_names metrics[GP_METRIC_SET_MOST];
	struct gp_metric_set set = {"own", GP_PROFILER_RANGE, "", metrics, 0};
	size_t links = gp_metric_sets[GP_METRIC_SET_LINKS].count;
	struct gp_metric_choice choice;

	append(metrics, &set, GP_METRIC_SET_PIPES);
	append(metrics, &set, GP_METRIC_SET_MEMORY);
	append(metrics, &set, GP_METRIC_SET_LINKS);
	assert_int_equal(gp_metric_set_choose(&choice, &host, "GH100", &set), 0);
	assert_in_range(choice.config.passes, 2, GP_METRIC_MOST_PASSES);
	for (size_t i = 0; i < set.count; i++) {
		bool is_time = strcmp(choice.names[i], "gpu__time_duration.sum") == 0;
		bool is_left_out = i >= set.count - links && !is_time;

		assert_int_equal(choice.fits[i],
				 is_left_out ? GP_METRIC_LEFT_OUT : GP_METRIC_TAKEN);
	}
	gp_profiler_config_close(&choice.config);
}

/* -ENOTSUP, with the reason for each metric. */
static void test_no_metric_can_be_measured(void **state)
{
	static const struct gp_metric_names metrics[] = {
		{{"gpu__nothing.sum"}},
		{{"sm__throughput.avg.pct_of_peak_sustained_elapsed"}},
	};
	struct gp_metric_set set = {"own", GP_PROFILER_RANGE, "", metrics, 1};
	struct gp_metric_choice choice;

	assert_int_equal(gp_metric_set_choose(&choice, &host, "GH100", &set), -ENOTSUP);
	assert_int_equal(choice.fits[0], GP_METRIC_LACKING);
	set.count = 2;
	assert_int_equal(gp_metric_set_choose(&choice, &host, "GH100", &set), -ENOTSUP);
	assert_int_equal(choice.fits[0], GP_METRIC_LACKING);
	assert_int_equal(choice.fits[1], GP_METRIC_TOO_LARGE); /* it needs eight passes */
	assert_null(choice.config.object);
}

static void test_a_chip_without_the_profiler_is_refused(void **state)
{
	const struct gp_metric_set *set = gp_metric_set_find("timeline");
	struct gp_metric_choice choice;

	assert_int_equal(gp_metric_set_choose(&choice, &host, "GV100", set), -ENOTSUP);
	assert_int_equal(gp_metric_set_choose(&choice, &host, "GV999", set), -EINVAL);
	assert_null(gp_metric_set_find("timelines"));
}

static uint32_t version_of(void *libcupti)
{
	int (*get_version)(uint32_t * version);
	uint32_t version = 0;

	*(void **)&get_version = dlsym(libcupti, "cuptiGetVersion");
	get_version(&version);
	return version;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sets_of_each_chip),
		cmocka_unit_test(test_all_metrics_fit_on_gh100),
		cmocka_unit_test(test_metrics_that_exclude_each_other),
		cmocka_unit_test(test_metrics_of_several_passes),
		cmocka_unit_test(test_metrics_of_several_passes_that_exclude_each_other),
		cmocka_unit_test(test_no_metric_can_be_measured),
		cmocka_unit_test(test_a_chip_without_the_profiler_is_refused),
	};
	void *libcupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);

	if (!libcupti || gp_profiler_host_open(&host, libcupti, dlsym) ||
	    version_of(libcupti) / 100 != 1300) {
		puts("skipped: no libcupti.so.13 of 13.0 with libnvperf_host.so beside it, or a sanitizer");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
