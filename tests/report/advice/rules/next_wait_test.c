/*
 * Waits that are only moved where they are left out, because another call of the thread waits for
 * the same work.
 */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US          1000ull
#define TIMES       40u
#define THREAD      100
#define STREAM_SYNC 131

/* The call that was built last is of memory: so long from then on. */
static void set_time(struct build *b, uint64_t start_ns, uint64_t duration_ns)
{
	struct gp_call *call = &b->model->calls[b->model->call_count - 1];

	call->start_ns = start_ns;
	call->duration_ns = duration_ns;
}

/* What comes behind a wait, 10 us later. */
enum next { NOTHING, FREES, WAITS_AGAIN, ASYNC_FREES, WAITS, LAUNCH_AND_WAITS };

static void call_next(struct build *b, enum next next, uint64_t at_ns)
{
	if (next == FREES || next == ASYNC_FREES) {
		build_memory(b, GP_MEMORY_FREE, next == FREES ? GP_MEMORY_DEVICE : GP_MEMORY_ASYNC,
			     at_ns, 0x1000, 0);
		set_time(b, at_ns, US);
	}
	if (next == LAUNCH_AND_WAITS)
		build_call(b, THREAD, BUILD_LAUNCH, at_ns, US, 0);
	if (next == WAITS_AGAIN)
		build_call(b, THREAD, STREAM_SYNC, at_ns, US, 0);
	if (next == WAITS || next == LAUNCH_AND_WAITS)
		build_call(b, THREAD, BUILD_DEVICE_SYNC, at_ns + 2 * US, US, 0);
}

/*
 * A kernel of 200 us, for which a copy to the host waits, or a synchronization; then what comes
 * next, and the host does something else for 500 us.
 */
static struct gp_model *wait_for_kernels(bool by_copy, enum next next)
{
	struct build b = build_begin(1);
	uint32_t frame = build_python(&b, BUILD_OUTERMOST, "main.py", "step", 7);

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	build_api(&b, STREAM_SYNC, "cudaStreamSynchronize", GP_API_SYNC);
	for (uint32_t i = 0; i < TIMES; i++) {
		uint64_t at_ns = 1000 * US + i * 750 * US;

		build_call(&b, THREAD, BUILD_LAUNCH, at_ns, 5 * US, 2 * i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 5 * US, at_ns + 205 * US, 2 * i + 1);
		if (by_copy) {
			struct gp_op *op;

			build_call(&b, THREAD, 31, at_ns + 10 * US, 205 * US, 2 * i + 2);
			op = build_op(&b, GP_OP_COPY, 7, at_ns + 206 * US, at_ns + 208 * US,
				      2 * i + 2);
			op->copy_kind = GP_COPY_DTOH;
			op->bytes = 4;
		} else {
			build_call(&b, THREAD, STREAM_SYNC, at_ns + 10 * US, 205 * US, 0);
		}
		call_next(&b, next, at_ns + 225 * US);
		if (next == FREES || next == WAITS)
			build_stack_of_last(&b, frame);
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static void the_call_that_waits_then_is_named(void **state)
{
	static const struct {
		enum next next;
		const char *found, *change;
	} cases[] = {
		{NOTHING, NULL, NULL},
		{WAITS_AGAIN, NULL, NULL}, /* at the same place */
		{ASYNC_FREES, NULL, NULL},
		{LAUNCH_AND_WAITS, NULL, NULL},
		{FREES, " (without them, cudaFree waits at step (main.py:7))",
		 "remove cudaFree there, too; "},
		{WAITS, " (without them, cudaDeviceSynchronize waits at step (main.py:7))",
		 "remove cudaDeviceSynchronize there, too; "},
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		bool by_copy = i % 2 && cases[i / 2].next != WAITS_AGAIN;
		struct gp_model *model = wait_for_kernels(by_copy, cases[i / 2].next);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found =
			find(&advice, by_copy ? "hidden-wait" : "sync-in-loop");

		assert_non_null(found);
		assert_int_equal(strstr(found->found, " (without") != NULL,
				 cases[i / 2].found != NULL);
		if (cases[i / 2].found) {
			assert_non_null(strstr(found->found, cases[i / 2].found));
			assert_true(strncmp(found->change, cases[i / 2].change,
					    strlen(cases[i / 2].change)) == 0);
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Allocations of 20 us before a kernel of 200 us, for which the free waits: another 20 us. */
static uint64_t saved_without_allocations(enum next next)
{
	struct build b = build_begin(1);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;
	uint64_t saves_ns;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 0; i < TIMES; i++) {
		uint64_t at_ns = 1000 * US + i * 750 * US;

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns + 20 * US, 0x2000, 64);
		set_time(&b, at_ns, 20 * US);
		build_call(&b, THREAD, BUILD_LAUNCH, at_ns + 30 * US, 5 * US, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 40 * US, at_ns + 240 * US, i + 1);
		build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + 260 * US, 0x2000, 0);
		set_time(&b, at_ns + 40 * US, 220 * US);
		call_next(&b, next, at_ns + 265 * US);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "alloc-in-loop");
	assert_non_null(found);
	saves_ns = found->saves_ns;
	gp_advice_free(&advice);
	gp_model_free(model);
	return saves_ns;
}

/* What it took itself is claimed, and its wait where no other comes instead. */
static void nothing_is_claimed_of_a_free_that_waits_in_place_of_another_call(void **state)
{
	assert_in_range(saved_without_allocations(WAITS), (TIMES - 1) * 20 * US, TIMES * 20 * US);
	assert_in_range(saved_without_allocations(NOTHING), (TIMES - 2) * 240 * US,
			TIMES * 240 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_call_that_waits_then_is_named),
		cmocka_unit_test(nothing_is_claimed_of_a_free_that_waits_in_place_of_another_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
