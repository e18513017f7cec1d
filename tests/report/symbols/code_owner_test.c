/* Whose code a frame is: by the path of its module, its function, namespace or source file. */
#include <string.h>
#include <sys/resource.h>

#include "gpuprof/count.h"
#include "report/symbols/code_owner.h"
#include "tests/unit.h"

static void modules_have_owners(void **state)
{
	assert_int_equal(gp_code_owner_of_module("/opt/app/libapp.so"), GP_CODE_OWN);
	assert_int_equal(gp_code_owner_of_module("/usr/lib/libcudart.so.13"), GP_CODE_BENEATH);
	assert_int_equal(gp_code_owner_of_module("/x/site-packages/a/b.so"), GP_CODE_FRAMEWORK);
	assert_int_equal(gp_code_owner_of_module("/opt/app/libapp.so"), GP_CODE_OWN);
}

#define OWN "/opt/app/app"

/* The first of module, function, namespace and source file that tells. */
static void native_frames_have_owners(void **state)
{
	static const struct {
		const char *module, *function, *symbol, *file;
		enum gp_code_owner owner;
	} rows[] = {
		{OWN, "run", "_ZN3app3runEv", "/src/run.cu", GP_CODE_OWN},
		{OWN, "run", NULL, "", GP_CODE_OWN},
		{"/usr/lib/libcudart.so.13", "run", NULL, "/src/run.cu", GP_CODE_BENEATH},
		{OWN, "cudaMemcpyAsync", NULL, "", GP_CODE_BENEATH},
		{OWN, "sort", "_ZN6thrust4sortEPi", "", GP_CODE_FRAMEWORK},
		{OWN, "size", "_ZNK4cuda3std4sizeEv", "", GP_CODE_FRAMEWORK},
		{OWN, "sort", "sort", "/cuda/include/thrust/sort.h", GP_CODE_FRAMEWORK},
		{OWN, "launch", "launch", "/cuda/include/cuda_runtime.h", GP_CODE_BENEATH},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct gp_place place = {.module = rows[i].module,
					       .function = rows[i].function,
					       .symbol = rows[i].symbol,
					       .file = rows[i].file,
					       .kind = GP_FRAME_NATIVE};
		struct gp_place stub = place;

		stub.is_stub = true;
		if (gp_code_owner_of_place(&place) != rows[i].owner)
			fail_msg("row %zu", i);
		assert_int_equal(gp_code_owner_of_place(&stub), GP_CODE_BENEATH);
	}
}

static void python_frames_have_owners(void **state)
{
	static const struct {
		const char *file;
		enum gp_code_owner owner;
	} rows[] = {
		{"/home/me/train.py", GP_CODE_OWN},
		{"/x/site-packages/torch/a.py", GP_CODE_FRAMEWORK},
		{"/x/site-packages/timm/models/vit.py", GP_CODE_OWN},
		{"/x/lib/python3.12/runpy.py", GP_CODE_FRAMEWORK},
		{"<frozen importlib>", GP_CODE_BENEATH},
	};
	struct gp_place place = {.function = "run", .module = "", .kind = GP_FRAME_PYTHON};

	for (size_t i = 0; i < COUNT(rows); i++) {
		place.file = rows[i].file;
		assert_int_equal(gp_code_owner_of_place(&place), rows[i].owner);
	}
	place.kind = GP_FRAME_CUT;
	assert_int_equal(gp_code_owner_of_place(&place), GP_CODE_BENEATH);
}

/* It is asked for each frame of each stack: millions of times for a file of some 100 KB. */
static void a_path_that_was_made_to_match_slowly(void **state)
{
	const struct rlimit limit = {.rlim_cur = 20, .rlim_max = RLIM_INFINITY};
	static char path[16384];

	memset(path, '/', sizeof(path) - 1);
	assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
	for (int i = 0; i < 1000000; i++)
		assert_int_equal(gp_code_owner_of_module(path), GP_CODE_OWN);
	strcpy(path + sizeof(path) - 20, "libcudart.so.13");
	assert_int_equal(gp_code_owner_of_module(path), GP_CODE_BENEATH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_owners),
		cmocka_unit_test(native_frames_have_owners),
		cmocka_unit_test(python_frames_have_owners),
		cmocka_unit_test(a_path_that_was_made_to_match_slowly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
