#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "report/advice.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

static struct gp_advice ask(struct gp_model *const *models, size_t count)
{
	struct gp_advice advice;

	assert_int_equal(gp_advice_of(models, count, &advice), 0);
	return advice;
}

static const struct gp_finding *find(const struct gp_advice *advice, const char *rule)
{
	for (uint32_t i = 0; i < advice->count; i++)
		if (strcmp(advice->findings[i].rule->id, rule) == 0)
			return &advice->findings[i];
	return NULL;
}

#define DYNAMO  "/x/torch/_dynamo/convert_frame.py"
#define CUPY    "/x/cupy/cuda/compiler.py"
#define IMPORTS "<frozen importlib._bootstrap>"
#define BENCH   "/x/torch/_inductor/runtime/benchmarking.py"

/* The file of a function on the stack of each call; NULL = the user's own is all that there is. */
struct calls {
	const char *before, *within, *after;
};

/* A kernel, 500 ms of which the host has one call in the middle, and a kernel. */
static struct gp_model *wait_for_host(const struct calls *calls)
{
	struct build b = build_begin(1);
	const char *const files[] = {calls->before, calls->within, calls->after};
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);

	build_device(&b, 0, "GPU");
	build_thread(&b, 100, "python3");
	build_api(&b, 98, "cuModuleLoadData", GP_API_MODULE);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t at_ns = MS + i * 250 * MS;
		uint32_t stack = user;

		if (files[i])
			stack = build_python(&b, user, files[i],
					     strcmp(files[i], IMPORTS) ? "f" : "_find_and_load", 2);
		build_call(&b, 100, i == 1 ? 98 : BUILD_LAUNCH, at_ns, i == 1 ? 60 * MS : 10000,
			   i + 1);
		build_stack_of_last(&b, stack);
		if (i != 1)
			build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 50000, i + 1);
	}
	build_stacks_end(&b);
	return build_end(&b);
}

/* What gpu-gaps says of it holds these texts, and not that one. */
static void check(const struct calls *calls, const char *found_part, const char *change_part,
		  const char *not_found)
{
	struct gp_model *model = wait_for_host(calls);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "gpu-gaps");

	assert_non_null(found);
	assert_non_null(strstr(found->found, found_part));
	assert_non_null(strstr(found->change, change_part));
	if (not_found)
		assert_null(strstr(found->found, not_found));
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void compilers_are_told_by_stacks(void **state)
{
	(void)state;
	check(&(struct calls){.before = DYNAMO}, "torch.compile was compiling when it began",
	      "TORCHINDUCTOR_CACHE_DIR", "ended");
	check(&(struct calls){.before = DYNAMO, .after = DYNAMO},
	      "torch.compile was compiling when it began and when it ended",
	      "TORCHINDUCTOR_CACHE_DIR", NULL);
	check(&(struct calls){.within = CUPY}, "CuPy was compiling in it", "CUPY_CACHE_DIR", NULL);
	check(&(struct calls){.after = BENCH},
	      "what comes then is of PyTorch Inductor's benchmarks", "TORCHINDUCTOR_CACHE_DIR",
	      "compiling");
	check(&(struct calls){.within = IMPORTS, .after = DYNAMO},
	      "torch.compile was compiling when it ended", "TORCHINDUCTOR_CACHE_DIR", "importing");
}

/* A program that is run by an import is in it all the time. */
static void imports_count_where_they_are_new(void **state)
{
	(void)state;
	check(&(struct calls){.after = IMPORTS}, "Python was importing when it ended",
	      "import modules before", NULL);
	check(&(struct calls){.before = IMPORTS, .within = IMPORTS, .after = IMPORTS},
	      "loading code took 60.00ms", "py-spy record", "importing");
}

static void what_is_not_known_is_not_said(void **state)
{
	(void)state;
	check(&(struct calls){0}, "; loading code took 60.00ms of it",
	      "gpuprof records calls of CUDA, not what the host computes", "compil");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compilers_are_told_by_stacks),
		cmocka_unit_test(imports_count_where_they_are_new),
		cmocka_unit_test(what_is_not_known_is_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
