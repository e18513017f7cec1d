/* The Chrome trace of a process in parts: a track has one number and one name for all parts. */
#include "tests/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "tests/report/model_builder.h"

#define PART_NS 10000u

/* Two parallel kernels of stream 7, on lanes of their own; in the last part one of stream 9, too. */
static struct gp_model *build_part(uint32_t part)
{
	struct build b = build_begin(42);
	uint64_t start_ns = part * PART_NS + 1000;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	build_thread(&b, 100, "main");
	build_name(&b, "k");
	for (uint32_t i = 0; i < 2 + part; i++) {
		uint32_t id = 10 * part + i + 1;

		build_call(&b, 100, BUILD_LAUNCH, start_ns + 100 * i, 10, id);
		build_op(&b, GP_OP_KERNEL, i < 2 ? 7 : 9, start_ns + 500 + 10 * i,
			 start_ns + 900 + 10 * i, id)
			->name = 0;
	}
	model = build_end(&b);
	model->part = (struct gp_part){true, part * PART_NS, (part + 1) * PART_NS};
	return model;
}

static const struct gp_model *get(void *context, size_t index)
{
	return ((struct gp_model **)context)[index];
}

static json_t *export_parts(struct gp_model **models, size_t count)
{
	const struct gp_export_source source = {
		.count = count, .get = get, .context = models, .are_parts = true};
	const struct gp_export_options options = {.measure = GP_STACK_METRICS};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_t *root;

	assert_int_equal(gp_exporter_chrome.write(&source, &options, out), 0);
	fclose(out);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static const char *text_of(const json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : "";
}

static json_int_t number_of(const json_t *event, const char *key)
{
	return json_integer_value(json_object_get(event, key));
}

static void tracks_go_on_in_the_next_part(void **state)
{
	struct gp_model *models[] = {build_part(0), build_part(1)};
	json_t *root = export_parts(models, 2), *event, *names = json_array();
	json_int_t tids[5] = {0}, host_tids[5] = {0}, gpu_pids[5] = {0};
	size_t kernels = 0, calls = 0, i, k;

	(void)state;
	json_array_foreach(json_object_get(root, "traceEvents"), i, event)
	{
		if (strcmp(text_of(event, "cat"), "kernel") == 0) {
			assert_in_range(kernels, 0, 4);
			gpu_pids[kernels] = number_of(event, "pid");
			tids[kernels++] = number_of(event, "tid");
		} else if (strcmp(text_of(event, "cat"), "cuda_runtime") == 0) {
			assert_in_range(calls, 0, 4);
			host_tids[calls++] = number_of(event, "tid");
		} else if (strcmp(text_of(event, "name"), "thread_name") == 0) {
			json_array_append(names, event);
		}
	}
	assert_int_equal(kernels, 5);
	assert_int_equal(calls, 5);
	assert_int_not_equal(tids[0], tids[1]);
	assert_int_equal(tids[2], tids[0]);
	assert_int_equal(tids[3], tids[1]);
	assert_true(tids[4] != tids[0] && tids[4] != tids[1]);
	for (i = 1; i < 5; i++) {
		assert_int_equal(host_tids[i], host_tids[0]);
		assert_int_equal(gpu_pids[i], gpu_pids[0]);
	}
	/* the thread, two lanes of stream 7, stream 9 */
	assert_int_equal(json_array_size(names), 4);
	for (i = 0; i < json_array_size(names); i++)
		for (k = 0; k < i; k++) {
			const json_t *a = json_array_get(names, i), *b = json_array_get(names, k);

			assert_true(number_of(a, "pid") != number_of(b, "pid") ||
				    number_of(a, "tid") != number_of(b, "tid"));
		}
	json_decref(names);
	json_decref(root);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tracks_go_on_in_the_next_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
