/* Stacks of several processes in one tree. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <link.h>
#include <unistd.h>

#include "report/symbols/call_tree.h"
#include "tests/report/stack_builder.h"
#include "tests/unit.h"

#define FILE_NAME "/src/a.py"

/* "c (a.py:7) < b (a.py:6) < a (a.py:5)" */
static const char *path_of(const struct gp_call_tree *tree, uint32_t node)
{
	static char text[256];
	char label[GP_SITE_LABEL_BYTES];

	text[0] = '\0';
	for (; node != GP_NONE; node = tree->nodes[node].parent) {
		if (text[0])
			strcat(text, " < ");
		strcat(text, gp_site_label(gp_call_tree_site(tree, node), label));
	}
	return text;
}

static void open_tree(struct gp_call_tree *tree, bool with_lines, struct build *build)
{
	build_stacks_end(build);
	assert_int_equal(gp_call_tree_open(tree, with_lines), 0);
	assert_int_equal(gp_call_tree_use(tree, build->model), 0);
}

static void test_equal_stacks_are_one_node(void **state)
{
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	static const char *const names[3] = {"a", "b", "c"};
	uint32_t stacks[2][3];

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++)
			stacks[i][j] = build_python(&build, j > 0 ? stacks[i][j - 1] : GP_NONE,
						    FILE_NAME, names[j], (uint8_t)(5 + j));
	open_tree(&tree, true, &build);
	assert_string_equal(path_of(&tree, gp_call_tree_find(&tree, stacks[0][2])),
			    "c (a.py:7) < b (a.py:6) < a (a.py:5)");
	assert_int_equal(gp_call_tree_find(&tree, stacks[1][2]),
			 gp_call_tree_find(&tree, stacks[0][2]));
	assert_int_equal(tree.nodes[gp_call_tree_find(&tree, stacks[0][2])].parent,
			 gp_call_tree_find(&tree, stacks[0][1]));
	assert_int_equal(tree.node_count, 4); /* the one without a stack is there always */
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_lines_are_kept_apart_or_not(void **state)
{
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	uint32_t five = build_python(&build, GP_NONE, FILE_NAME, "a", 5);
	uint32_t nine = build_python(&build, GP_NONE, FILE_NAME, "a", 9);

	open_tree(&tree, true, &build);
	assert_int_not_equal(gp_call_tree_find(&tree, five), gp_call_tree_find(&tree, nine));
	gp_call_tree_close(&tree);
	assert_int_equal(gp_call_tree_open(&tree, false), 0);
	assert_int_equal(gp_call_tree_use(&tree, build.model), 0);
	assert_int_equal(gp_call_tree_find(&tree, five), gp_call_tree_find(&tree, nine));
	assert_string_equal(path_of(&tree, gp_call_tree_find(&tree, five)), "a (a.py)");
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_a_call_without_a_stack(void **state)
{
	struct build build = build_begin(1);
	struct gp_call_tree tree;

	open_tree(&tree, true, &build);
	assert_int_equal(gp_call_tree_find(&tree, GP_NONE), GP_CALL_TREE_NO_STACK);
	assert_string_equal(path_of(&tree, GP_CALL_TREE_NO_STACK), "(no call stack)");
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_models_may_go(void **state)
{
	struct gp_call_tree tree;
	uint32_t first = GP_NONE;

	assert_int_equal(gp_call_tree_open(&tree, true), 0);
	for (int i = 0; i < 3; i++) {
		struct build build = build_begin(1);
		uint32_t a = build_python(&build, GP_NONE, FILE_NAME, "a", 5), node;
		uint32_t b = build_python(&build, a, FILE_NAME, "b", 6);

		build_stacks_end(&build);
		assert_int_equal(gp_call_tree_use(&tree, build.model), 0);
		node = gp_call_tree_find(&tree, b);
		first = i == 0 ? node : first;
		assert_int_equal(node, first);
		assert_int_equal(gp_call_tree_use(&tree, NULL), 0);
		gp_model_free(build.model);
	}
	assert_string_equal(path_of(&tree, first), "b (a.py:6) < a (a.py:5)");
	gp_call_tree_close(&tree);
}

/* What tells whose a function is, in a table that is made once all models are gone. */
static void test_texts_may_go(void **state)
{
	char function[] = "thrust::sort()", symbol[] = "_ZN6thrust4sortEv", file[] = "sort.h",
	     module[] = "/bin/app";
	const struct gp_place place = {.function = function,
				       .symbol = symbol,
				       .file = file,
				       .module = module,
				       .kind = GP_FRAME_NATIVE};
	const struct gp_place *site;
	struct gp_call_tree tree;
	uint32_t node;

	assert_int_equal(gp_call_tree_open(&tree, true), 0);
	node = gp_call_tree_add(&tree, GP_NONE, &place);
	function[0] = symbol[0] = file[0] = module[0] = '?';
	site = gp_call_tree_site(&tree, node);
	assert_string_equal(site->function, "thrust::sort()");
	assert_string_equal(site->symbol, "_ZN6thrust4sortEv");
	assert_string_equal(site->file, "sort.h");
	assert_string_equal(site->module, "/bin/app");
	gp_call_tree_close(&tree);
}

static void test_callers_that_are_missing_are_said(void **state)
{
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	uint32_t a = build_python(&build, GP_NONE, FILE_NAME, "a", 5);

	build.model->frames[a].has_no_root = true;
	open_tree(&tree, false, &build);
	assert_string_equal(path_of(&tree, gp_call_tree_find(&tree, a)),
			    "a (a.py) < (callers are missing in the trace)");
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_what_a_function_did_hangs_below_it(void **state)
{
	static const struct gp_place launch = {"cudaLaunchKernel", NULL,     "",   "", 0,
					       GP_SITE_CALL,       GP_NAMED, false};
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	uint32_t a = build_python(&build, GP_NONE, FILE_NAME, "a", 5), node;

	open_tree(&tree, false, &build);
	node = gp_call_tree_add(&tree, gp_call_tree_find(&tree, a), &launch);
	assert_int_equal(gp_call_tree_add(&tree, gp_call_tree_find(&tree, a), &launch), node);
	assert_string_equal(path_of(&tree, node), "cudaLaunchKernel < a (a.py)");
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_frames_of_cuda_are_left_out(void **state)
{
	static const char *const paths[] = {
		"/none/program",          "/none/libcudart.so.12",  "/none/libcudart-a1b2.so.12",
		"/none/libcuda.so.1",     "/none/libcupti.so.2025", "/none/libgpuprof.so",
		"/none/libcudart_mine.so"};
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	uint32_t frame = GP_NONE;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		frame = build_native(&build, frame, paths[i], 0x11);
	open_tree(&tree, false, &build);
	assert_string_equal(path_of(&tree, gp_call_tree_find(&tree, frame)),
			    "libcudart_mine.so+0x10 < program+0x10");
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

/*
 * What a program has of CUDA's in its own file: the runtime as a static library, and what the
 * compiler makes of a launch.
 */
void libcudart_static_0a1b(void);
void libcudart_static_0a1b(void)
{
}
void __cudart42(void);
void __cudart42(void)
{
}
void __device_stub__Z4gemmv(void);
void __device_stub__Z4gemmv(void)
{
}
void cudaLaunchKernel(void);
void cudaLaunchKernel(void)
{
}
void cudaHelper(void); /* the program's own: no API call is called so */
void cudaHelper(void)
{
}

static int find_own_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1; /* the program comes first */
}

static void test_frames_of_cuda_in_the_programs_file_are_left_out(void **state)
{
	static void (*const functions[])(void) = {cudaHelper, __device_stub__Z4gemmv,
						  cudaLaunchKernel, libcudart_static_0a1b,
						  __cudart42};
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	uint32_t frame = GP_NONE, node;
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(length > 0);
	path[length] = '\0';
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		frame = build_native(&build, frame, path, (uintptr_t)functions[i] + 1);
		dl_iterate_phdr(find_own_bias,
				&build.model->modules[build.model->module_count - 1].bias);
	}
	open_tree(&tree, false, &build);
	node = gp_call_tree_find(&tree, frame);
	assert_string_equal(gp_call_tree_site(&tree, node)->function, "cudaHelper");
	assert_int_equal(tree.nodes[node].parent, GP_NONE);
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_a_stack_of_nothing_but_cuda_is_none(void **state)
{
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	uint32_t frame = build_native(&build, GP_NONE, "/none/libcuda.so.1", 0x11);

	open_tree(&tree, false, &build);
	assert_int_equal(gp_call_tree_find(&tree, frame), GP_CALL_TREE_NO_STACK);
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_parents_come_before_their_children(void **state)
{
	struct build build = build_begin(1);
	struct gp_call_tree tree;
	uint32_t frame = GP_NONE, depth = 0, node, length;
	const uint32_t *path;

	for (uint32_t i = 0; i < GP_FRAME_DEPTH; i++)
		frame = build_python(&build, frame, FILE_NAME, "a", 5);
	open_tree(&tree, true, &build);
	node = gp_call_tree_find(&tree, frame);
	path = gp_call_tree_path(&tree, node, &length);
	assert_non_null(path);
	assert_int_equal(length, GP_FRAME_DEPTH);
	for (; node != GP_NONE; node = tree.nodes[node].parent) {
		assert_int_equal(path[length - 1 - depth++], node);
		assert_true(tree.nodes[node].parent == GP_NONE || tree.nodes[node].parent < node);
	}
	gp_call_tree_close(&tree);
	gp_model_free(build.model);
}

static void test_labels(void **state)
{
	static const struct {
		struct gp_place place;
		const char *label;
	} cases[] = {
		{{"f", NULL, "", "", 0, GP_FRAME_NATIVE, GP_NAMED, false}, "f"},
		{{"f", NULL, "/x/f.c", "", 0, GP_FRAME_NATIVE, GP_NAMED, false}, "f"},
		{{"f", NULL, "/x/f.c", "", 12, GP_FRAME_NATIVE, GP_NAMED, false}, "f (f.c:12)"},
		{{"f", NULL, "f.py", "", 0, GP_FRAME_PYTHON, GP_NAMED, false}, "f (f.py)"},
		{{"f", NULL, "/x/f.py", "", 12, GP_FRAME_PYTHON, GP_NAMED, false}, "f (f.py:12)"},
		{{"f", NULL, "/x/y/__init__.py", "", 3, GP_FRAME_PYTHON, GP_NAMED, false},
		 "f (y/__init__.py:3)"},
		{{"f", NULL, "y/__main__.py", "", 0, GP_FRAME_PYTHON, GP_NAMED, false},
		 "f (y/__main__.py)"},
		{{"f", NULL, "/__init__.py", "", 0, GP_FRAME_PYTHON, GP_NAMED, false},
		 "f (__init__.py)"},
		{{"f", NULL, "__init__.py", "", 0, GP_FRAME_PYTHON, GP_NAMED, false},
		 "f (__init__.py)"},
	};
	char label[GP_SITE_LABEL_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(gp_site_label(&cases[i].place, label), cases[i].label);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_stacks_are_one_node),
		cmocka_unit_test(test_lines_are_kept_apart_or_not),
		cmocka_unit_test(test_a_call_without_a_stack),
		cmocka_unit_test(test_models_may_go),
		cmocka_unit_test(test_texts_may_go),
		cmocka_unit_test(test_callers_that_are_missing_are_said),
		cmocka_unit_test(test_what_a_function_did_hangs_below_it),
		cmocka_unit_test(test_frames_of_cuda_are_left_out),
		cmocka_unit_test(test_frames_of_cuda_in_the_programs_file_are_left_out),
		cmocka_unit_test(test_a_stack_of_nothing_but_cuda_is_none),
		cmocka_unit_test(test_parents_come_before_their_children),
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
