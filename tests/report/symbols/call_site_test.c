#include <stdlib.h>
#include "report/symbols/call_site.h"
#include "report/symbols/frame_names.h"
#include "tests/report/stack_builder.h"
#include "tests/unit.h"

struct scene {
	struct build b;
	struct gp_call_sites *sites;
};

static int set_up(void **state)
{
	static struct scene scene;

	scene.b = build_begin(1);
	scene.sites = gp_call_sites_new();
	*state = &scene;
	return scene.sites ? 0 : -1;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	gp_call_sites_free(scene->sites);
	gp_model_free(scene->b.model);
	return 0;
}

static uint32_t find(struct scene *scene, uint32_t stack)
{
	const struct gp_call call = {.stack = stack, .api = BUILD_MALLOC};

	return gp_call_sites_find(scene->sites, scene->b.model, &call);
}

static void assert_site(struct scene *scene, uint32_t stack, const char *place, const char *callers,
			const char *owner)
{
	struct gp_call_site site = gp_call_sites_at(scene->sites, find(scene, stack));

	assert_string_equal(site.place, place);
	assert_string_equal(site.callers, callers);
	assert_string_equal(site.owner, owner);
}

static void what_stands_between_is_passed_over(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t outer, python, foreign;

	outer = build_native(b, BUILD_OUTERMOST, "/usr/bin/python3.12", 0x10);
	outer = build_python(b, outer, "/home/me/train.py", "<module>", 90);
	python = build_python(b, outer, "/home/me/train.py", "step", 12);
	foreign = build_native(b, python, "/usr/lib/python3/_ctypes.cpython-312.so", 0x20);
	foreign = build_native(b, foreign, "/usr/lib/libffi.so.8", 0x30);
	foreign = build_native(b, foreign, "/usr/local/cuda/lib64/libcudart.so.13", 0x40);
	build_stacks_end(b);
	assert_site(scene, foreign, "step (train.py:12)", "<module> (train.py:90)", "");
	assert_site(scene, outer, "<module> (train.py:90)", "", "");
}

static void a_framework_is_named_where_there_is_nothing_else(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t frame = build_native(b, BUILD_OUTERMOST, "/lib/x86_64-linux-gnu/libc.so.6", 0x10);

	frame = build_python(b, frame, "/v/lib/python3.12/site-packages/torch/nn/linear.py",
			     "forward", 7);
	frame = build_native(b, frame, "/usr/lib/libffi.so.8", 0x30);
	build_stacks_end(b);
	assert_site(scene, frame, "forward (linear.py:7)", "", "");
}

/* Entries of torch.profiler have no file. */
static void operators_without_a_file_are_of_the_framework(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t frame = build_python(b, BUILD_OUTERMOST, "train.py", "step", 12);
	uint32_t engine = build_python(b, BUILD_OUTERMOST, "", "aten::mm", 0);

	frame = build_python(b, frame, "", "aten::conv2d", 0);
	frame = build_python(b, frame, "", "aten::add_", 0);
	build_stacks_end(b);
	assert_site(scene, frame, "step (train.py:12)", "", "");
	assert_true(gp_call_sites_at(scene->sites, find(scene, frame)).is_own);
	assert_site(scene, engine, "aten::mm", "", "");
	assert_false(gp_call_sites_at(scene->sites, find(scene, engine)).is_own);
}

/* scratch() is divided: its beginning is inlined in apply(), at whose end the compiler calls the rest. */
static void the_rest_of_a_divided_function_is_no_caller(void **state)
{
	static const struct gp_elf_place rest = {"_ZNK1S7scratchEv", "/src/s.cu", 17};
	static const struct gp_elf_place inlined[] = {{"_ZNK1S7scratchEv", "/src/s.cu", 33},
						      {"_ZN1S5applyEv", "/src/s.cu", 26}};
	/* a function that calls itself does so at a line */
	static const struct gp_elf_place recursive = {"_ZN1S5solveEv", "/src/s.cu", 50};
	struct scene *scene = *state;
	struct build *b = &scene->b;
	struct gp_frame_names *names = gp_frame_names_new();
	uint32_t outer, inner, again;

	outer = build_native(b, BUILD_OUTERMOST, "/home/me/solve", 0x10);
	again = build_native(b, outer, "/home/me/solve", 0x20);
	inner = build_native(b, again, "/home/me/solve", 0x30);
	inner = build_native(b, inner, "/home/me/solve", 0x40);
	for (uint32_t i = 0; i < b->model->frame_count; i++) {
		const struct gp_frame *frame = &b->model->frames[i];
		uint32_t module = b->model->modules[frame->origin].id;
		const struct gp_elf_place *const places[] = {&recursive, &recursive, inlined,
							     &rest};

		assert_int_equal(gp_frame_names_add(names, module, frame->address, places[i],
						    i == 2 ? 2 : 1),
				 0);
	}
	assert_int_equal(gp_frame_names_pack(names, &b->model->frame_names), 0);
	build_stacks_end(b);
	assert_site(scene, inner, "S::scratch (s.cu:17)",
		    "S::apply (s.cu:26) < S::solve (s.cu:50) < S::solve (s.cu:50)", "");
	gp_frame_names_free(names);
}

static void an_allocator_between_is_the_owner(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t user, cached, direct;

	user = build_python(b, BUILD_OUTERMOST, "train.py", "step", 12);
	cached = build_python(b, user, "/x/site-packages/torch/nn/linear.py", "forward", 7);
	cached = build_native(b, cached, "/x/site-packages/torch/lib/libtorch_cuda.so", 0x10);
	cached = build_native(b, cached, "/x/site-packages/torch/lib/libc10_cuda.so", 0x20);
	direct = build_native(b, user, "/x/site-packages/torch/lib/libtorch_cuda.so", 0x30);
	direct = build_native(b, direct, "/home/me/extension.so", 0x1235);
	build_stacks_end(b);
	assert_site(scene, cached, "step (train.py:12)", "", "PyTorch");
	assert_site(scene, direct, "extension.so+0x1234", "step (train.py:12)", "");
}

/* PyTorch's backward pass has a thread of its own. */
static void an_allocator_is_the_owner_also_in_a_library_s_thread(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t frame = build_native(b, BUILD_OUTERMOST, "/lib/x86_64-linux-gnu/libc.so.6", 0x10);
	uint32_t cublas = build_native(b, frame, "/x/torch/lib/libtorch_cuda.so", 0x20);

	frame = build_native(b, frame, "/x/torch/lib/libtorch_cpu.so", 0x30);
	frame = build_native(b, frame, "/x/torch/lib/libc10_cuda.so", 0x40);
	cublas = build_native(b, cublas, "/x/nvidia/lib/libcublas.so.13", 0x50);
	build_stacks_end(b);
	assert_site(scene, frame, "libtorch_cpu.so+0x2f", "", "PyTorch");
	assert_site(scene, cublas, "libcublas.so.13+0x4f", "libtorch_cuda.so+0x1f", "cuBLAS");
}

/*
 * What a library allocates for itself is its own beneath a framework, and else the user's: the
 * handle is.
 */
static void the_inner_one_of_two_is_the_owner(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t user, torch, handle, workspace, own;

	user = build_python(b, BUILD_OUTERMOST, "train.py", "step", 12);
	torch = build_native(b, user, "/x/torch/lib/libtorch_cuda.so", 0x10);
	handle = build_native(b, torch, "/x/nvidia/lib/libcudnn_graph.so.9", 0x20);
	handle = build_native(b, handle, "/x/nvidia/lib/libcublasLt.so.13", 0x30);
	handle = build_native(b, handle, "/x/nvidia/lib/libcudart.so.13", 0x40);
	workspace = build_native(b, torch, "/x/nvidia/lib/libnccl.so.2", 0x50);
	workspace = build_native(b, workspace, "/x/torch/lib/libc10_cuda.so", 0x60);
	own = build_native(b, user, "/usr/lib/libffi.so.8", 0x70);
	own = build_native(b, own, "/x/nvidia/lib/libcublas.so.13", 0x80);
	build_stacks_end(b);
	assert_site(scene, handle, "step (train.py:12)", "", "cuBLAS");
	assert_site(scene, workspace, "step (train.py:12)", "", "PyTorch");
	assert_site(scene, own, "step (train.py:12)", "", "");
}

static void equal_lines_are_one_site(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t main = build_python(b, BUILD_OUTERMOST, "a.py", "main", 3);
	uint32_t helper = build_python(b, main, "a.py", "helper", 9);
	uint32_t again = build_python(b, main, "a.py", "helper", 9);
	uint32_t other = build_python(b, main, "a.py", "helper", 10);

	build_stacks_end(b);
	assert_int_equal(find(scene, helper), find(scene, again));
	assert_int_not_equal(find(scene, helper), find(scene, other));
}

static void only_some_callers_tell_sites_apart(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t first = build_python(b, BUILD_OUTERMOST, "a.py", "one", 1);
	uint32_t second = build_python(b, BUILD_OUTERMOST, "a.py", "two", 2);

	for (int i = 0; i < GP_SITE_CALLERS + 1; i++) {
		first = build_python(b, first, "a.py", "deeper", 5);
		second = build_python(b, second, "a.py", "deeper", 5);
	}
	build_stacks_end(b);
	assert_int_equal(find(scene, first), find(scene, second));
	assert_site(scene, first, "deeper (a.py:5)",
		    "deeper (a.py:5) < deeper (a.py:5) < deeper (a.py:5)", "");
}

static void callers_are_the_same_by_whole_names(void **state)
{
	assert_int_equal(gp_call_site_same_callers("load < main", "load < run"), 4);
	assert_int_equal(gp_call_site_same_callers("load < main", "load"), 4);
	assert_int_equal(gp_call_site_same_callers("load", "loader"), 0);
	assert_int_equal(gp_call_site_same_callers("load < main", "loader < main"), 0);
	assert_int_equal(gp_call_site_same_callers("load < main", "load < main"), 11);
	assert_int_equal(gp_call_site_same_callers("", "load"), 0);
}

/*
 * Through malloc_checked() come two callers, one of which comes from two places; through fill()
 * comes one.
 */
static void callers_tell_sites_of_a_wrapper_apart(void **state)
{
	struct scene *scene = *state;
	struct build *b = &scene->b;
	uint32_t outer = build_python(b, BUILD_OUTERMOST, "a.py", "main", 1);
	uint32_t again = build_python(b, BUILD_OUTERMOST, "a.py", "main", 2);
	const struct {
		uint32_t from;
		const char *caller, *wrapper, *callers;
		size_t apart_bytes;
	} cases[] = {
		{outer, "load", "malloc_checked", "load (a.py:9) < main (a.py:1)", 13},
		{again, "load", "malloc_checked", "load (a.py:9) < main (a.py:2)", 13},
		{outer, "step", "malloc_checked", "step (a.py:9) < main (a.py:1)", 13},
		{outer, "step", "fill", "step (a.py:9) < main (a.py:1)", 0},
		{outer, "get", "deep", "get (a.py:9) < main (a.py:1)", 28},
		{again, "get", "deep", "get (a.py:9) < main (a.py:2)", 28},
	};
	uint32_t stacks[6];

	for (size_t i = 0; i < 6; i++)
		stacks[i] =
			build_python(b, build_python(b, cases[i].from, "a.py", cases[i].caller, 9),
				     "a.py", cases[i].wrapper, 3);
	build_stacks_end(b);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(gp_call_sites_at(scene->sites, find(scene, stacks[i])).callers,
				    cases[i].callers);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(gp_call_sites_tell_apart(scene->sites, find(scene, stacks[i])),
				 cases[i].apart_bytes);
}

/*
 * Without debug information no file tells whose a function is, and a short name has no namespace:
 * its symbol does.
 */
static void functions_of_thrust_and_the_like_are_passed_over(void **state)
{
	static const char *const others[] = {
		"_ZN6thrust23THRUST_300001_SM_900_NS4copyIPKiPiEET0_T_S5_S4_",
		"_ZNK3cub23CUB_300001_SM_900_NS15DeviceRadixSort4SortEv",
		"_ZNSt6threadC2Ev",
		"_ZSt4copyv",
	};
	struct scene *scene = *state;
	struct gp_place places[2] = {
		{.function = "inner", .file = "", .module = "/home/me/app"},
		{.function = "sort_keys", .file = "", .module = "/home/me/app"}};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		uint32_t site;

		places[0].symbol = others[i];
		places[1].symbol = "_ZN7mythrust9sort_keysEv";
		places[0].kind = places[1].kind = GP_FRAME_NATIVE;
		site = gp_call_sites_of_places(scene->sites, places, 2);
		assert_string_equal(gp_call_sites_at(scene->sites, site).place, "sort_keys");
	}
}

static void a_call_without_a_stack_has_its_function_s_name(void **state)
{
	assert_site(*state, GP_NONE, "(cudaMalloc, without a call stack)", "", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_stands_between_is_passed_over, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_framework_is_named_where_there_is_nothing_else,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(operators_without_a_file_are_of_the_framework,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_rest_of_a_divided_function_is_no_caller, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_allocator_between_is_the_owner, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			an_allocator_is_the_owner_also_in_a_library_s_thread, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_inner_one_of_two_is_the_owner, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(equal_lines_are_one_site, set_up, tear_down),
		cmocka_unit_test_setup_teardown(only_some_callers_tell_sites_apart, set_up,
						tear_down),
		cmocka_unit_test(callers_are_the_same_by_whole_names),
		cmocka_unit_test_setup_teardown(callers_tell_sites_of_a_wrapper_apart, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(functions_of_thrust_and_the_like_are_passed_over,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_call_without_a_stack_has_its_function_s_name,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
