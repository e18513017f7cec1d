/*
 * Several processes in one Chrome trace: what each is called, when it was, and that none gets mixed
 * with another.
 */
#include "tests/unit.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/export/export.h"
#include "tests/report/model_builder.h"

#define MODELS    4
#define MINUTE_NS UINT64_C(60000000000)

struct merged {
	json_t *root, *events;
	char *messages;
};

static const struct gp_model *get(void *models, size_t index)
{
	return ((struct gp_model **)models)[index];
}

static struct merged merge(struct gp_model *const models[], size_t count, uint64_t limit)
{
	struct gp_export_source source = {.count = count, .get = get, .context = (void *)models};
	struct merged merged = {0};
	char *text;
	size_t bytes, message_bytes;
	FILE *out = open_memstream(&text, &bytes);
	FILE *messages = open_memstream(&merged.messages, &message_bytes);
	struct gp_export_options options = {.slice_limit = limit, .messages = messages};

	assert_int_equal(gp_exporter_chrome.write(&source, &options, out), 0);
	fclose(out);
	fclose(messages);
	merged.root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(merged.root);
	merged.events = json_object_get(merged.root, "traceEvents");
	free(text);
	return merged;
}

static void release(struct merged *merged, struct gp_model *const models[], size_t count)
{
	json_decref(merged->root);
	free(merged->messages);
	for (size_t i = 0; i < count; i++)
		gp_model_free(models[i]);
}

/* A process that makes one launch, on stream 7 of its device 0, one us after its beginning. */
static struct build begin(uint32_t pid, uint64_t monotonic_ns, const char *boot)
{
	struct build b = build_begin(pid);

	b.model->base_monotonic_ns = monotonic_ns;
	build_info(&b, GP_INFO_BOOT_ID, boot);
	build_info(&b, GP_INFO_PROGRAM, "train.py");
	build_info(&b, GP_INFO_HOST, "node");
	build_device(&b, 0, "H200");
	build_call(&b, 100, BUILD_LAUNCH, 1000, 100, 1);
	build_op(&b, GP_OP_KERNEL, 7, 2000, 3000, 1);
	return b;
}

static struct gp_model *simple(uint32_t pid, uint64_t monotonic_ns, const char *boot)
{
	struct build b = begin(pid, monotonic_ns, boot);

	return build_end(&b);
}

static const char *text_in(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_int_t number_in(json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* The n-th event with that value of that key. */
static json_t *find(const struct merged *merged, const char *key, const char *value, int n)
{
	json_t *event;
	size_t index;

	json_array_foreach(merged->events, index, event)
	{
		if (strcmp(text_in(event, key), value) == 0 && n-- == 0)
			return event;
	}
	return NULL;
}

static json_t *process_name(const struct merged *merged, json_int_t pid)
{
	json_t *event;

	for (int n = 0; (event = find(merged, "name", "process_name", n)) != NULL; n++)
		if (number_in(event, "pid") == pid)
			return json_object_get(event, "args");
	return NULL;
}

static uint64_t ns_of(json_t *event)
{
	return (uint64_t)llround(json_real_value(json_object_get(event, "ts")) * 1000);
}

static uint64_t call_ns(const struct merged *merged, int n)
{
	return ns_of(find(merged, "cat", "cuda_runtime", n));
}

/* ---- when ---- */

static void processes_of_one_boot_are_aligned_by_the_monotonic_clock(void **state)
{
	struct gp_model *models[] = {simple(10, 5 * MINUTE_NS, "boot"),
				     simple(11, 7 * MINUTE_NS, "boot")};
	struct merged merged;

	models[1]->base_unix_ns -= 3 * MINUTE_NS; /* the wall clock was set meanwhile */
	merged = merge(models, 2, 0);
	assert_int_equal(call_ns(&merged, 1) - call_ns(&merged, 0), 2 * MINUTE_NS);
	assert_string_equal(merged.messages, "");
	release(&merged, models, 2);
}

static void machines_are_aligned_by_the_wall_clock(void **state)
{
	struct gp_model *models[] = {simple(10, 5 * MINUTE_NS, "boot"),
				     simple(11, 1 * MINUTE_NS, "other")};
	struct merged merged;

	models[1]->base_unix_ns += MINUTE_NS;
	merged = merge(models, 2, 0);
	assert_int_equal(call_ns(&merged, 1) - call_ns(&merged, 0), MINUTE_NS);
	release(&merged, models, 2);
}

static void aligned_clocks_come_before_monotonic_ones(void **state)
{
	struct gp_model *models[] = {simple(10, 5 * MINUTE_NS, "boot"),
				     simple(11, 7 * MINUTE_NS, "boot")};
	struct merged merged;

	models[0]->clock.is_known = models[1]->clock.is_known = true;
	models[1]->base_unix_ns += 3 * MINUTE_NS;
	merged = merge(models, 2, 0);
	assert_int_equal(call_ns(&merged, 1) - call_ns(&merged, 0),
			 models[1]->base_unix_ns - models[0]->base_unix_ns);
	release(&merged, models, 2);
}

static void an_earlier_process_may_come_later(void **state)
{
	struct gp_model *models[] = {simple(10, 90 * MINUTE_NS, "boot"),
				     simple(11, 1 * MINUTE_NS, "boot")};
	struct merged merged = merge(models, 2, 0);

	assert_int_equal(call_ns(&merged, 0) - call_ns(&merged, 1), 89 * MINUTE_NS);
	release(&merged, models, 2);
}

static void a_process_of_another_age_is_left_out_and_said(void **state)
{
	struct gp_model *models[] = {simple(10, 5 * MINUTE_NS, "boot"),
				     simple(11, 5 * MINUTE_NS, "other")};
	struct merged merged;

	models[1]->base_unix_ns = 1;
	merged = merge(models, 2, 0);
	assert_null(find(&merged, "cat", "cuda_runtime", 1));
	assert_non_null(strstr(merged.messages, "is left out"));
	release(&merged, models, 2);
}

static void the_limit_is_one_of_all_processes(void **state)
{
	struct gp_model *models[] = {simple(10, 5 * MINUTE_NS, "boot"),
				     simple(11, 7 * MINUTE_NS, "boot")};
	struct merged merged = merge(models, 2, 3);

	/*
	 * the first process's call ended first: its kernel is there, and everything of the second
	 */
	assert_null(find(&merged, "cat", "cuda_runtime", 1));
	assert_non_null(find(&merged, "cat", "kernel", 1));
	assert_non_null(strstr(merged.messages, "the last 3 of 4 slices"));
	release(&merged, models, 2);
}

/* ---- where ---- */

static void a_gpu_that_two_processes_used_is_one(void **state)
{
	struct build second = begin(11, 5 * MINUTE_NS, "boot");
	struct gp_model *models[MODELS] = {simple(10, 5 * MINUTE_NS, "boot")};
	struct merged merged;
	json_t *kernels[2];

	/* it calls the same GPU 3 */
	second.model->devices[0].device_id = 3;
	second.model->ops[0].device_id = 3;
	models[1] = build_end(&second);
	merged = merge(models, 2, 0);
	for (int i = 0; i < 2; i++)
		kernels[i] = find(&merged, "cat", "kernel", i);
	assert_int_equal(number_in(kernels[0], "pid"), number_in(kernels[1], "pid"));
	assert_int_not_equal(number_in(kernels[0], "tid"), number_in(kernels[1], "tid"));
	assert_non_null(strstr(text_in(process_name(&merged, number_in(kernels[0], "pid")), "name"),
			       "GPU 0: H200"));
	assert_int_equal(json_array_size(json_object_get(merged.root, "deviceProperties")), 1);
	release(&merged, models, 2);
}

static void two_gpus_of_one_number_are_two(void **state)
{
	struct build second = begin(11, 5 * MINUTE_NS, "boot");
	struct gp_model *models[MODELS] = {simple(10, 5 * MINUTE_NS, "boot")};
	struct merged merged;
	json_t *kernels[2];

	second.model->devices[0].uuid[0]++;
	models[1] = build_end(&second);
	merged = merge(models, 2, 0);
	for (int i = 0; i < 2; i++)
		kernels[i] = find(&merged, "cat", "kernel", i);
	assert_int_not_equal(number_in(kernels[0], "pid"), number_in(kernels[1], "pid"));
	assert_non_null(strstr(text_in(process_name(&merged, number_in(kernels[1], "pid")), "name"),
			       "GPU 1: H200"));
	release(&merged, models, 2);
}

static void processes_with_one_pid_stay_apart(void **state)
{
	struct gp_model *models[] = {simple(1, 5 * MINUTE_NS, "boot"),
				     simple(1, 6 * MINUTE_NS, "other")};
	struct merged merged = merge(models, 2, 0);
	json_int_t first = number_in(find(&merged, "cat", "cuda_runtime", 0), "pid");
	json_int_t second = number_in(find(&merged, "cat", "cuda_runtime", 1), "pid");

	assert_int_equal(first, 1);
	assert_int_not_equal(second, 1);
	assert_string_equal(text_in(process_name(&merged, second), "name"),
			    "train.py, pid 1 on node");
	release(&merged, models, 2);
}

static void ranks_are_named_and_in_order(void **state)
{
	struct build first = begin(10, 5 * MINUTE_NS, "boot");
	struct build second = begin(11, 5 * MINUTE_NS, "boot");
	struct gp_model *models[MODELS];
	struct merged merged;
	json_int_t sort_indices[2] = {0};

	build_info(&first, GP_INFO_RANK, "3");
	build_info(&second, GP_INFO_RANK, "1");
	models[0] = build_end(&first);
	models[1] = build_end(&second);
	merged = merge(models, 2, 0);
	assert_string_equal(text_in(process_name(&merged, 10), "name"), "train.py, rank 3 on node");
	for (int n = 0; n < 3; n++) {
		json_t *event = find(&merged, "name", "process_sort_index", n);

		if (number_in(event, "pid") < 12)
			sort_indices[number_in(event, "pid") - 10] =
				number_in(json_object_get(event, "args"), "sort_index");
	}
	assert_true(sort_indices[1] < sort_indices[0]);
	release(&merged, models, 2);
}

static void arrows_of_two_processes_do_not_meet(void **state)
{
	struct gp_model *models[] = {simple(10, 5 * MINUTE_NS, "boot"),
				     simple(11, 5 * MINUTE_NS, "boot")};
	struct merged merged = merge(models, 2, 0);

	for (int i = 0; i < 2; i++)
		assert_int_equal(number_in(find(&merged, "ph", "s", i), "id"),
				 number_in(find(&merged, "ph", "f", i), "id"));
	assert_int_not_equal(number_in(find(&merged, "ph", "s", 0), "id"),
			     number_in(find(&merged, "ph", "s", 1), "id"));
	release(&merged, models, 2);
}

/* ---- what is not there ---- */

static void a_model_that_cannot_be_had_is_left_out(void **state)
{
	struct gp_model *models[] = {NULL, simple(11, 5 * MINUTE_NS, "boot"), NULL};
	struct merged merged = merge(models, 3, 1);
	json_t *processes = json_object_get(json_object_get(merged.root, "metadata"), "processes");

	assert_int_equal(json_array_size(processes), 1);
	assert_int_equal(number_in(json_array_get(processes, 0), "pid"), 11);
	release(&merged, &models[1], 1);
}

static void without_any_model_nothing_is_written(void **state)
{
	struct gp_model *models[] = {NULL, NULL};
	struct gp_export_source source = {.count = 2, .get = get, .context = models};
	struct gp_export_options options = {0};
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_exporter_chrome.write(&source, &options, out), -ENODATA);
	fclose(out);
	assert_int_equal(bytes, 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_of_one_boot_are_aligned_by_the_monotonic_clock),
		cmocka_unit_test(machines_are_aligned_by_the_wall_clock),
		cmocka_unit_test(aligned_clocks_come_before_monotonic_ones),
		cmocka_unit_test(an_earlier_process_may_come_later),
		cmocka_unit_test(a_process_of_another_age_is_left_out_and_said),
		cmocka_unit_test(the_limit_is_one_of_all_processes),
		cmocka_unit_test(a_gpu_that_two_processes_used_is_one),
		cmocka_unit_test(two_gpus_of_one_number_are_two),
		cmocka_unit_test(processes_with_one_pid_stay_apart),
		cmocka_unit_test(ranks_are_named_and_in_order),
		cmocka_unit_test(arrows_of_two_processes_do_not_meet),
		cmocka_unit_test(a_model_that_cannot_be_had_is_left_out),
		cmocka_unit_test(without_any_model_nothing_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
