/* profiler_host: asks a real libcupti about a chip without a GPU; skipped without libcupti. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "hardware/profiler_host.h"
#include "tests/unit.h"

static struct gp_profiler_host host;

static int open_config(void **state)
{
	static struct gp_profiler_config config;

	*state = &config;
	return gp_profiler_config_open(&config, &host, "GH100", GP_PROFILER_RANGE);
}

static int close_config(void **state)
{
	gp_profiler_config_close(*state);
	return 0;
}

static void test_chips_are_named(void **state)
{
	const char *const *names;
	size_t count, known = 0;
	struct gp_profiler_config config;

	assert_int_equal(gp_profiler_host_chips(&host, &names, &count), 0);
	for (size_t i = 0; i < count; i++)
		known += strcmp(names[i], "GH100") == 0;
	assert_int_equal(known, 1);
	assert_int_equal(gp_profiler_config_open(&config, &host, "GH999", GP_PROFILER_RANGE),
			 -EINVAL);
}

static void test_metrics_of_one_pass_have_an_image(void **state)
{
	static const char *const metrics[] = {"gpu__time_duration.sum", "dram__bytes_read.sum",
					      "smsp__inst_executed.sum"};
	struct gp_profiler_config *config = *state;

	assert_int_equal(gp_profiler_config_add(config, metrics, COUNT(metrics)), 0);
	assert_int_equal(gp_profiler_config_make(config), 0);
	assert_int_equal(config->passes, 1);
	assert_in_range(config->image_bytes, 200, 8000);
}

static void test_passes_are_counted(void **state)
{
	static const char *const metric = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
	struct gp_profiler_config *config = *state;

	assert_int_equal(gp_profiler_config_add(config, &metric, 1), 0);
	assert_int_equal(gp_profiler_config_make(config), 0);
	assert_int_equal(config->passes, 8);
}

static void test_an_unknown_metric_is_refused(void **state)
{
	static const char *const metrics[] = {"gpu__time_duration.sum", "gpu__nothing.sum"};

	assert_int_equal(gp_profiler_config_add(*state, metrics, COUNT(metrics)), -EINVAL);
}

static void test_metrics_that_exclude_each_other_are_refused(void **state)
{
	static const char *const metrics[] = {"pcie__read_bytes.sum", "dram__bytes_read.sum"};

	assert_int_equal(gp_profiler_config_add(*state, metrics, COUNT(metrics)), -ENOTSUP);
}

static void test_metrics_have_units(void **state)
{
	struct gp_profiler_metric metric;

	assert_int_equal(gp_profiler_describe(*state, "dram__bytes.sum.per_second", &metric), 0);
	assert_string_equal(metric.unit, "byte/second");
	assert_string_equal(metric.hardware_unit, "dram");
	assert_int_equal(metric.type, GP_PROFILER_COUNTER);
	assert_int_equal(gp_profiler_describe(*state, "gpu__nothing", &metric), -EINVAL);
}

static void test_metrics_are_listed_by_type(void **state)
{
	const char *const *names;
	size_t count;

	assert_int_equal(gp_profiler_metrics(*state, GP_PROFILER_COUNTER, &names, &count), 0);
	assert_in_range(count, 3000, 10000);
	assert_int_equal(gp_profiler_submetrics(*state, "l1tex__t_sector_hit_rate",
						GP_PROFILER_RATIO, &names, &count),
			 0);
	assert_int_equal(count, 3); /* .max_rate .pct .ratio */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chips_are_named),
		cmocka_unit_test_setup_teardown(test_metrics_of_one_pass_have_an_image, open_config,
						close_config),
		cmocka_unit_test_setup_teardown(test_passes_are_counted, open_config, close_config),
		cmocka_unit_test_setup_teardown(test_an_unknown_metric_is_refused, open_config,
						close_config),
		cmocka_unit_test_setup_teardown(test_metrics_that_exclude_each_other_are_refused,
						open_config, close_config),
		cmocka_unit_test_setup_teardown(test_metrics_have_units, open_config, close_config),
		cmocka_unit_test_setup_teardown(test_metrics_are_listed_by_type, open_config,
						close_config),
	};
	void *libcupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);

	if (!libcupti || gp_profiler_host_open(&host, libcupti, dlsym)) {
		puts("skipped: no libcupti.so.13 with libnvperf_host.so beside it, or a sanitizer");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
