/* Formats of call stacks, with names that would break them. */
#include "tests/unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "tests/report/stack_builder.h"

static char *export(const struct gp_exporter *exporter, const struct gp_model *model)
{
	const struct gp_export_options options = {.measure = GP_STACK_METRIC_CALLS};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(gp_export_model(exporter, model, &options, out), 0);
	fclose(out);
	return text;
}

/* One call, by main > NAME. */
static struct gp_model *model_of(const char *outer, const char *name)
{
	struct build b = build_begin(1);
	uint32_t stack = build_python(&b, BUILD_OUTERMOST, "", outer, 0);

	stack = build_python(&b, stack, "", name, 0);
	build_call(&b, 100, BUILD_LAUNCH, 1000, 10, 1)->stack = stack;
	build_stacks_end(&b);
	return build_end(&b);
}

static void test_names_in_folded_stacks(void **state)
{
	static const struct {
		const char *outer, *name, *line;
	} cases[] = {
		{"main", "f", "main;f;cudaLaunchKernel 1\n"},
		{"main", "f(int, x) [y] 12", "main;f(int, x) [y] 12;cudaLaunchKernel 1\n"},
		{"main", "a;b\nc\td\x7f", "main;a:b\\nc\\td\\x7f;cudaLaunchKernel 1\n"},
		{"main",
		 "a\xff"
		 "b\xc3\xa9",
		 "main;a\\xff"
		 "b\xc3\xa9;cudaLaunchKernel 1\n"},
		{"main", "\xc2\x9b\xe2\x80\xae", "main;\\u{9b}\\u{202e};cudaLaunchKernel 1\n"},
		{"#main", "#f", "_main;#f;cudaLaunchKernel 1\n"},
		{"main", "", "main;(unnamed);cudaLaunchKernel 1\n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = model_of(cases[i].outer, cases[i].name);
		char *text = export(&gp_exporter_folded, model);

		assert_string_equal(text, cases[i].line);
		free(text);
		gp_model_free(model);
	}
}

static void test_names_in_speedscope(void **state)
{
	struct gp_model *model = model_of("main", "a\"\\\n\x01\xff;b");
	char *text = export(&gp_exporter_speedscope, model);
	json_error_t error;
	json_t *root = json_loads(text, 0, &error), *frames, *profile, *stack;

	assert_non_null(root);
	frames = json_object_get(json_object_get(root, "shared"), "frames");
	profile = json_array_get(json_object_get(root, "profiles"), 0);
	stack = json_array_get(json_object_get(profile, "samples"), 0);
	assert_int_equal(json_array_size(stack), 3);
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(frames, (size_t)json_integer_value(
								   json_array_get(stack, 1))),
				    "name")),
			    "a\"\\\n\x01\xef\xbf\xbd;b");
	json_decref(root);
	free(text);
	gp_model_free(model);
}

/* Samples of two threads, of one of them only in the outermost function. */
static struct gp_model *sampled(void)
{
	struct build b = build_begin(1);
	uint32_t outer = build_python(&b, BUILD_OUTERMOST, "", "main", 0);
	uint32_t inner = build_python(&b, outer, "", "load", 0);
	struct gp_sample *samples = calloc(3, sizeof(*samples));

	build_check(samples != NULL);
	samples[0] = build_sample(100, outer, 10, 20);
	samples[1] = build_sample(100, inner, 20, 25);
	samples[2] = build_sample(200, outer, 10, 12);
	b.model->samples = samples;
	b.model->sample_count = 3;
	build_call(&b, 100, BUILD_LAUNCH, 1000, 10, 1)->stack = inner;
	build_stacks_end(&b);
	return build_end(&b);
}

/* One for a measure; of the host's time and of all measures each thread has one, too. */
static void test_profiles_in_speedscope(void **state)
{
	static const struct {
		enum gp_stack_metric measure;
		size_t profiles, threads;
	} cases[] = {{GP_STACK_METRIC_CALLS, 1, 0},
		     {GP_STACK_METRIC_HOST_TIME, 1, 2},
		     {GP_STACK_METRICS, 5, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gp_export_options options = {.measure = cases[i].measure};
		struct gp_model *model = sampled();
		char *text = NULL;
		size_t length, at;
		FILE *out = open_memstream(&text, &length);
		json_t *root, *profiles, *profile;

		assert_int_equal(gp_export_model(&gp_exporter_speedscope, model, &options, out), 0);
		fclose(out);
		root = json_loads(text, 0, NULL);
		profiles = json_object_get(root, "profiles");
		assert_int_equal(json_array_size(profiles), cases[i].profiles + cases[i].threads);
		json_array_foreach(profiles, at, profile)
		{
			json_t *weights = json_object_get(profile, "weights");

			if (at < cases[i].profiles)
				assert_int_equal(
					json_array_size(weights),
					json_array_size(json_object_get(profile, "samples")));
		}
		if (cases[i].measure == GP_STACK_METRIC_HOST_TIME) {
			profile = json_array_get(profiles, 0);
			assert_int_equal(json_integer_value(json_object_get(profile, "endValue")),
					 17000000);
			assert_int_equal(json_integer_value(json_array_get(
						 json_object_get(profile, "weights"), 0)),
					 12000000);
		}
		json_decref(root);
		free(text);
		gp_model_free(model);
	}
}

static const struct gp_model *get_nothing(void *context, size_t index)
{
	(void)context;
	(void)index;
	return NULL;
}

static void test_no_process(void **state)
{
	static const struct gp_export_source nothing = {.count = 2, .get = get_nothing};
	static const struct gp_export_options options = {.measure = GP_STACK_METRICS};

	for (const struct gp_exporter *const *at = gp_exporters; *at; at++) {
		FILE *out = fopen("/dev/null", "w");

		assert_non_null(out);
		if ((*at)->write)
			assert_int_equal((*at)->write(&nothing, &options, out), -ENODATA);
		fclose(out);
	}
}

static void test_files_that_cannot_be_written(void **state)
{
	static const struct gp_export_options options = {.measure = GP_STACK_METRIC_CALLS};
	struct gp_model *model = model_of("main", "f");

	for (const struct gp_exporter *const *at = gp_exporters; *at; at++) {
		FILE *out = fopen("/dev/full", "w");

		assert_non_null(out);
		if ((*at)->write && gp_export_model(*at, model, &options, out) != -EIO)
			fail_msg("%s", (*at)->name);
		fclose(out);
	}
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_in_folded_stacks),
		cmocka_unit_test(test_names_in_speedscope),
		cmocka_unit_test(test_profiles_in_speedscope),
		cmocka_unit_test(test_no_process),
		cmocka_unit_test(test_files_that_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
