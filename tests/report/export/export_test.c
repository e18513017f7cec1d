/* export: formats by name, and the options that each of them heeds. */
#include "tests/unit.h"

#include <string.h>

#include "gpuprof/count.h"
#include "report/export/export.h"

static void formats_are_found_by_name(void **state)
{
	char list[256], small[8];

	(void)state;
	gp_exporter_list(list, sizeof(list));
	gp_exporter_list(small, sizeof(small));
	assert_memory_equal(small, list, sizeof(small) - 1);
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++) {
		const char *in_list = strstr(list, (*at)->name);

		assert_ptr_equal(gp_exporter_find((*at)->name), *at);
		assert_non_null(in_list);
		assert_true(at == gp_exporters ? in_list == list
					       : memcmp(in_list - 2, ", ", 2) == 0);
	}
	assert_null(gp_exporter_find("chrom"));
}

/* Each option alone, and none. */
static void options_are_heeded_or_told(void **state)
{
	static const struct {
		struct gp_export_options options;
		unsigned heeds;
	} cases[] = {
		{{.measure = GP_STACK_METRICS, .slice_limit = 1}, GP_EXPORT_LIMIT},
		{{.measure = GP_STACK_METRIC_PEAK}, GP_EXPORT_VALUE},
		{{.measure = GP_STACK_METRICS, .choice = {.from_ns = 1}}, GP_EXPORT_PART},
		{{.measure = GP_STACK_METRICS, .ranges_on_streams = true}, GP_EXPORT_STREAM_RANGES},
		{{.measure = GP_STACK_METRICS, .counters = true}, GP_EXPORT_CURVES},
		{{.measure = GP_STACK_METRICS, .critical_path = true}, GP_EXPORT_CURVES},
	};
	static const struct gp_export_options none = {.measure = GP_STACK_METRICS};

	(void)state;
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++) {
		assert_null(gp_export_unheeded(*at, &none));
		for (size_t i = 0; i < COUNT(cases); i++)
			assert_int_equal(gp_export_unheeded(*at, &cases[i].options) == NULL,
					 ((*at)->heeds & cases[i].heeds) != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_are_found_by_name),
		cmocka_unit_test(options_are_heeded_or_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
