/* Copies that hold up the host: what is said of a few bytes, and of what can be saved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "report/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define US     1000u
#define TIMES  40
#define THREAD 100

/*
 * Copies of so many bytes to the host, 10 us each, in calls of 40 us; before each a kernel of so long, of which the call waits for
 * what is left of it after 10 us; and after it the host does something else for 500 us.
 */
static struct gp_model *copy_back(uint64_t bytes, uint64_t kernel_ns)
{
	struct build b = build_begin(1);
	uint64_t at_ns = 1000 * US;

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 1; i <= 2 * TIMES; i += 2) {
		uint64_t end_ns = at_ns + kernel_ns + 10 * US;
		struct gp_op *op;

		build_call(&b, THREAD, BUILD_LAUNCH, at_ns - 20 * US, 10 * US, i);
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + kernel_ns, i);
		build_call(&b, THREAD, 31, at_ns + 10 * US, kernel_ns + 30 * US, i + 1);
		op = build_op(&b, GP_OP_COPY, 7, end_ns, end_ns + 10 * US, i + 1);
		op->copy_kind = 2; /* device to host */
		op->bytes = bytes;
		at_ns = end_ns + 530 * US;
	}
	return build_end(&b);
}

static void check(uint64_t bytes, uint64_t kernel_ns, const char *rule, const char *found_part,
		  const char *change_part, uint64_t saves_ns)
{
	struct gp_model *model = copy_back(bytes, kernel_ns);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, rule);

	assert_non_null(found);
	assert_non_null(strstr(found->found, found_part));
	assert_non_null(strstr(found->change, change_part));
	assert_int_equal(found->saves_ns, saves_ns);
	assert_true((strstr(found->found, "GB/s") != NULL) == (bytes > 4096));
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void a_number_is_read_less_often(void **state)
{
	(void)state;
	check(4, 10 * US, "sync-copy", "40 synchronous DtoH copies, 160B, held up",
	      "read results less often", 1600 * US);
	check(1 << 16, 10 * US, "sync-copy", "; 6.554 GB/s", "copy with cudaMemcpyAsync in a",
	      1600 * US);
}

/* The calls' time, and the idle time after them: of these the shorter is what is claimed. */
static void what_can_be_saved_is_among_the_times_that_are_told(void **state)
{
	(void)state;
	check(4, 200 * US, "hidden-wait",
	      "held up the host for 8.970ms, 7.410ms of it for kernels that were launched before, "
	      "and then the GPU waits for the host, 20.28ms in all: of each the shorter",
	      "read results less often", 8970 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_read_less_often),
		cmocka_unit_test(what_can_be_saved_is_among_the_times_that_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
