/* Call stacks as arguments of slices in the Chrome trace. */
#include "tests/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "tests/report/stack_builder.h"

#define LIBRARY "/opt/lib/libtorch_cpu.so"

struct scene {
	struct build b;
	json_t *events;
	char *messages;
};

static void begin(struct scene *s)
{
	*s = (struct scene){.b = build_begin(1)};
}

static void launch(struct scene *s, uint32_t stack, uint64_t start_ns)
{
	uint32_t correlation_id = s->b.model->call_count + 1;

	build_call(&s->b, 100, BUILD_LAUNCH, start_ns, 10, correlation_id)->stack = stack;
	build_op(&s->b, GP_OP_KERNEL, 7, start_ns + 20, start_ns + 30, correlation_id);
}

static void export(struct scene *s, FILE *out)
{
	size_t length;
	FILE *messages = open_memstream(&s->messages, &length);
	const struct gp_export_options options = {.messages = messages};

	assert_non_null(messages);
	assert_int_equal(gp_export_model(&gp_exporter_chrome, s->b.model, &options, out), 0);
	fclose(messages);
}

static void end(struct scene *s)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_error_t error;
	json_t *root;

	assert_non_null(out);
	build_stacks_end(&s->b);
	s->b.model = build_end(&s->b);
	export(s, out);
	fclose(out);
	root = json_loads(text, 0, &error);
	assert_non_null(root);
	s->events = json_incref(json_object_get(root, "traceEvents"));
	json_decref(root);
	free(text);
}

static void leave(struct scene *s)
{
	json_decref(s->events);
	gp_model_free(s->b.model);
	free(s->messages);
}

/* An argument of the last event of that category, NULL if it has no such one. */
static const char *argument(const struct scene *s, const char *category, const char *key)
{
	const char *found = NULL;
	size_t i;
	json_t *event;

	json_array_foreach(s->events, i, event)
	{
		const char *is = json_string_value(json_object_get(event, "cat"));

		if (is && strcmp(is, category) == 0)
			found = json_string_value(
				json_object_get(json_object_get(event, "args"), key));
	}
	return found;
}

static uint32_t build_stack(struct scene *s)
{
	uint32_t stack = build_native(&s->b, BUILD_OUTERMOST, "/lib/libc.so.6", 0x11);

	stack = build_python(&s->b, stack, "/home/train.py", "train", 40);
	stack = build_python(&s->b, stack, "/opt/site-packages/torch/nn/modules/module.py",
			     "Module._call_impl", 9);
	stack = build_python(&s->b, stack, "/home/net.py", "forward", 12);
	stack = build_native(&s->b, stack, LIBRARY, 0x2000);
	return build_native(&s->b, stack, LIBRARY, 0x3000);
}

static void test_calls_have_their_stack_and_kernels_who_launched_them(void **state)
{
	struct scene s;

	begin(&s);
	launch(&s, build_stack(&s), 1000);
	end(&s);
	assert_string_equal(
		argument(&s, "cuda_runtime", "stack"),
		"libtorch_cpu.so x2 < forward (net.py:12) < Module._call_impl (module.py:9) < train (train.py:40)");
	assert_string_equal(argument(&s, "kernel", "launched by"), "forward (net.py:12)");
	leave(&s);
}

static void test_calls_without_a_stack_have_none(void **state)
{
	struct scene s;

	begin(&s);
	launch(&s, GP_NONE, 1000);
	end(&s);
	assert_null(argument(&s, "cuda_runtime", "stack"));
	assert_null(argument(&s, "kernel", "launched by"));
	leave(&s);
}

static void test_a_kernel_of_a_graph_has_the_stack_of_the_capture(void **state)
{
	struct scene s;
	uint32_t captured, launched, node;
	struct gp_op *op;

	begin(&s);
	captured = build_python(&s.b, BUILD_OUTERMOST, "a.py", "capture", 3);
	launched = build_python(&s.b, BUILD_OUTERMOST, "a.py", "replay", 4);
	build_call(&s.b, 100, BUILD_LAUNCH, 100, 10, 1)->stack = captured;
	build_call(&s.b, 100, BUILD_GRAPH_LAUNCH, 200, 10, 2)->stack = launched;
	node = BUILD_GROW(&s.b, nodes, node_count);
	s.b.model->nodes[node] = (struct gp_record_node){.node_id = 77, .correlation_id = 1};
	op = build_op(&s.b, GP_OP_KERNEL, 7, 300, 340, 2);
	build_node(&s.b, op, 77);
	end(&s);
	assert_string_equal(argument(&s, "kernel", "captured stack"), "capture (a.py:3)");
	assert_null(argument(&s, "kernel", "launched by"));
	assert_string_equal(argument(&s, "cuda_runtime", "stack"), "replay (a.py:4)");
	leave(&s);
}

static void test_deep_stacks_are_cut(void **state)
{
	struct scene s;
	uint32_t stack = BUILD_OUTERMOST;
	const char *text;
	char name[32];

	begin(&s);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "f%03d", i);
		stack = build_python(&s.b, stack, "a.py", name, 3);
	}
	stack = build_python(&s.b, stack, "a.py", "again", 3);
	stack = build_python(&s.b, stack, "a.py", "again", 3);
	launch(&s, stack, 1000);
	end(&s);
	text = argument(&s, "cuda_runtime", "stack");
	assert_true(strlen(text) < 600);
	assert_int_equal(strncmp(text, "again (a.py:3) x2 < f999 (a.py:3) < f998", 40), 0);
	assert_string_equal(text + strlen(text) - 6, " more)");
	leave(&s);
}

/* Two that call each other: where the text is full, nothing is said of either any more. */
static void test_functions_that_call_each_other_are_cut_too(void **state)
{
	char name[64];
	const char *text;
	uint32_t frames[2] = {BUILD_OUTERMOST, BUILD_OUTERMOST}, stack = BUILD_OUTERMOST;
	struct scene s;

	begin(&s);
	for (int i = 0; i < 2; i++) {
		memset(name, 'a' + i, sizeof(name));
		name[sizeof(name) - 1] = '\0';
		frames[i] = build_python(&s.b, BUILD_OUTERMOST, "a.py", name, 3);
	}
	for (int i = 0; i < 2000; i++)
		stack = build_frame(&s.b, GP_FRAME_PYTHON, stack,
				    s.b.model->frames[frames[i % 2]].origin, 0);
	launch(&s, stack, 1000);
	end(&s);
	text = strstr(argument(&s, "cuda_runtime", "stack"), ") x2");
	assert_null(text);
	text = strstr(argument(&s, "cuda_runtime", "stack"), " < (");
	assert_non_null(text);
	assert_string_equal(text, " < (1993 more)");
	leave(&s);
}

/*
 * However deep a damaged trace says that stacks are, the work for each is bounded: what lies
 * further out is only counted.
 */
static void test_the_outer_frames_of_very_deep_stacks_are_not_looked_at(void **state)
{
	uint32_t frame, stack = BUILD_OUTERMOST;
	struct scene s;

	begin(&s);
	stack = build_python(&s.b, stack, "a.py", "main", 3);
	frame = build_native(&s.b, BUILD_OUTERMOST, LIBRARY, 0x2000);
	for (int i = 0; i < 1000; i++)
		stack = build_frame(&s.b, GP_FRAME_NATIVE, stack, s.b.model->frames[frame].origin,
				    0x2000);
	launch(&s, stack, 1000);
	end(&s);
	assert_string_equal(argument(&s, "cuda_runtime", "stack"),
			    "libtorch_cpu.so x512 < (489 more)");
	leave(&s);
}

static ssize_t count_bytes(void *cookie, const char *buffer, size_t length)
{
	(void)buffer;
	*(uint64_t *)cookie += length;
	return (ssize_t)length;
}

/* A file of nothing but stacks does not grow on and on. */
static void test_all_stacks_together_are_bounded(void **state)
{
	uint64_t bytes = 0;
	FILE *out = fopencookie(&bytes, "w", (cookie_io_functions_t){.write = count_bytes});
	struct scene s;
	uint32_t stack = BUILD_OUTERMOST;

	assert_non_null(out);
	begin(&s);
	for (int i = 0; i < 60; i++)
		stack = build_python(&s.b, stack, "a.py", i % 2 ? "odd" : "even", 3);
	for (uint64_t i = 0; i < 150000; i++)
		build_call(&s.b, 100, BUILD_LAUNCH, 1000 * i, 10, (uint32_t)i + 1)->stack = stack;
	build_stacks_end(&s.b);
	s.b.model = build_end(&s.b);
	export(&s, out);
	fclose(out);
	assert_in_range(bytes, 64 << 20,
			110 << 20); /* 67 MB of stacks, the rest are 200 bytes a call */
	assert_non_null(strstr(s.messages, "whole call stacks for its first slices"));
	gp_model_free(s.b.model);
	free(s.messages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_have_their_stack_and_kernels_who_launched_them),
		cmocka_unit_test(test_calls_without_a_stack_have_none),
		cmocka_unit_test(test_a_kernel_of_a_graph_has_the_stack_of_the_capture),
		cmocka_unit_test(test_deep_stacks_are_cut),
		cmocka_unit_test(test_functions_that_call_each_other_are_cut_too),
		cmocka_unit_test(test_the_outer_frames_of_very_deep_stacks_are_not_looked_at),
		cmocka_unit_test(test_all_stacks_together_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
