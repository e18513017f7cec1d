/* What threads do at the same time could save that time once. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/unit.h"

#define US      1000u
#define THREADS 3
#define COPY    31

static struct build begin(void)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_api(&b, COPY, "cudaMemcpyAsync", GP_API_COPY);
	return b;
}

static void copy(struct build *b, uint32_t thread, uint64_t at_ns, uint64_t duration_ns,
		 uint64_t bytes)
{
	uint32_t id = b->model->call_count + 1;
	struct gp_op *op;

	build_call(b, 100 + thread, COPY, at_ns, duration_ns, id);
	op = build_op(b, GP_OP_COPY, 7 + thread, at_ns, at_ns + duration_ns, id);
	op->copy_kind = GP_COPY_HTOD;
	op->source_kind = GP_COPY_PAGEABLE;
	op->bytes = bytes;
}

static void expect_saved(struct build *b, const char *rule, uint64_t count, uint64_t saves_ns)
{
	struct gp_model *model = build_end(b);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, rule);

	assert_non_null(found);
	assert_int_equal(found->count, count);
	assert_in_range(found->saves_ns, saves_ns - US, saves_ns + US);
	assert_true(found->time_ns > found->saves_ns);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/*
 * Each thread makes 10 rows of 10 copies, 10 us each: as one copy each row would take 10 us of 100.
 */
static void tiny_copies(void **state)
{
	struct build b = begin();

	for (uint32_t thread = 0; thread < THREADS; thread++)
		for (uint64_t row = 0; row < 10; row++) {
			uint64_t at_ns = (1 + row) * 1000 * US;

			for (uint64_t i = 0; i < 10; i++)
				copy(&b, thread, at_ns + i * 10 * US, 10 * US, 64);
			build_call(&b, 100 + thread, BUILD_DEVICE_SYNC, at_ns + 100 * US, US, 0);
		}
	expect_saved(&b, "tiny-copies", THREADS * 100, 900 * US);
}

/* Each thread copies the same 40 times, 200 us each, but for the first time. */
static void repeated_copies(void **state)
{
	struct build b = begin();

	for (uint32_t thread = 0; thread < THREADS; thread++)
		for (uint64_t i = 0; i < 41; i++) {
			uint64_t at_ns = 1000 * US + i * 205 * US;

			copy(&b, thread, at_ns, 200 * US, 1 << 20);
			build_call(&b, 100 + thread, BUILD_LAUNCH, at_ns + 200 * US, 5 * US, 0);
		}
	expect_saved(&b, "repeated-copy", THREADS * 40, 8000 * US);
}

/* A call of cudaMalloc or cudaFree, 20 us long, and what it does. */
static void call_for_memory(struct build *b, enum gp_memory_op op, uint32_t thread, uint64_t at_ns)
{
	struct gp_call *call;

	build_memory(b, op, GP_MEMORY_DEVICE, at_ns + 20 * US, 0x1000 * (1 + thread), 64);
	call = &b->model->calls[b->model->call_count - 1];
	call->start_ns = at_ns;
	call->duration_ns = 20 * US;
	call->thread_id = 100 + thread;
}

/* Each thread allocates and frees a block 40 times; of all but three that would be spared. */
static void allocations(void **state)
{
	struct build b = begin();

	for (uint64_t i = 0; i < 40; i++) {
		for (uint32_t thread = 0; thread < THREADS; thread++)
			call_for_memory(&b, GP_MEMORY_ALLOC, thread, (2 + 2 * i) * 500 * US);
		for (uint32_t thread = 0; thread < THREADS; thread++)
			call_for_memory(&b, GP_MEMORY_FREE, thread, (3 + 2 * i) * 500 * US);
	}
	expect_saved(&b, "alloc-in-loop", THREADS * 40 - 3, 40ull * 40 * US * 117 / 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tiny_copies),
		cmocka_unit_test(repeated_copies),
		cmocka_unit_test(allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
