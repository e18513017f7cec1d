/* What was held of a GPU's memory when a call failed for want of it. */
#include <stdlib.h>
#include <string.h>

#include "report/analysis/memory/oom_snapshot.h"
#include "report/base/memstream.h"
#include "tests/unit.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define MIB       (UINT64_C(1) << 20)
#define HOST      30
#define FAILED_NS 1000000u

static struct build begin(void)
{
	struct build b = build_begin(1);

	build_api(&b, HOST, "cudaMallocHost", GP_API_ALLOC);
	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	b.model->devices[0].memory_bytes = 1024 * MIB;
	build_context_made_by(&b, 1, 7, 0);
	return b;
}

/* At that line; freed then, 0 = never. */
static struct gp_memory_event *allocate(struct build *b, uint32_t line, uint64_t mib,
					uint64_t time_ns, uint64_t freed_ns)
{
	uint32_t frame = build_python(b, BUILD_OUTERMOST, "/home/me/train.py", "load", line);
	uint64_t address = time_ns * 4096;

	if (freed_ns > 0)
		build_memory(b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, freed_ns, address, 0);
	build_memory(b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, time_ns, address, mib * MIB);
	build_stack_of_last(b, frame);
	return &b->model->memory[b->model->memory_count - 1];
}

/* The model's first call that failed; its text, to be freed.  NULL: nothing is known. */
static char *told_of(struct build *b)
{
	struct gp_call_sites *sites = gp_call_sites_new();
	struct gp_oom_snapshot held = {0};
	struct gp_model *model;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(sites);
	assert_non_null(out);
	build_stacks_end(b);
	model = build_end(b);
	for (uint32_t i = 0; i < model->call_count; i++)
		if (model->calls[i].status != 0) {
			gp_oom_snapshot_at(&held, model, &model->calls[i], sites);
			break;
		}
	if (held.is_known)
		gp_oom_snapshot_tell(out, &held, sites);
	assert_int_equal(gp_memstream_close(out, &text), 0);
	if (!held.is_known) {
		free(text);
		text = NULL;
	}
	gp_call_sites_free(sites);
	gp_model_free(model);
	return text;
}

static struct build failed(uint16_t api, uint16_t status)
{
	struct build b = begin();

	build_call(&b, 100, api, FAILED_NS, 100, 7)->status = status;
	return b;
}

/* Not what was freed before, or came later, nor another GPU's, nor the host's. */
static void the_places_with_most_are_told(void **state)
{
	struct build b = failed(BUILD_MALLOC, GP_OUT_OF_MEMORY);
	char *text;

	allocate(&b, 1, 100, 1000, 0);
	allocate(&b, 2, 300, 2000, FAILED_NS + 2000);
	allocate(&b, 3, 10, 3000, 0);
	allocate(&b, 1, 100, 4000, 0);
	allocate(&b, 4, 50, 5000, 0);
	allocate(&b, 5, 20, FAILED_NS, 0);
	allocate(&b, 6, 500, 7000, FAILED_NS);
	allocate(&b, 7, 500, FAILED_NS + 1000, 0);
	allocate(&b, 8, 500, 8000, 0)->device_id = 1;
	allocate(&b, 9, 500, 9000, 0)->memory_kind = GP_MEMORY_PINNED;
	text = told_of(&b);
	assert_string_equal(
		text,
		"the process held 580.0MiB of 1.000GiB then, in 6 blocks: 300.0MiB of load (train.py:2), 200.0MiB of load (train.py:1), 50.00MiB of load (train.py:4), 30.00MiB of 2 other places");
	free(text);
}

static void others_may_have_it_all(void **state)
{
	struct build b = failed(BUILD_MALLOC, GP_OUT_OF_MEMORY);
	char *text = told_of(&b);

	assert_string_equal(text, "the process held nothing of 1.000GiB then");
	free(text);
}

/*
 * Of other errors, and of the host's memory, it says nothing; nor where allocations were left out
 * or are not kept, or no context says of which GPU.
 */
static void nothing_is_told_that_is_not_known(void **state)
{
	struct build b = failed(BUILD_MALLOC, 1);

	assert_null(told_of(&b));
	b = failed(HOST, GP_OUT_OF_MEMORY);
	assert_null(told_of(&b));
	b = failed(BUILD_MALLOC, GP_OUT_OF_MEMORY);
	build_gate(&b, true, GP_GATE_API, 10);
	assert_null(told_of(&b));
	b = failed(BUILD_MALLOC, GP_OUT_OF_MEMORY);
	b.model->calls[0].context_id = 0;
	assert_null(told_of(&b));
	b = failed(BUILD_MALLOC, GP_OUT_OF_MEMORY);
	b.model->counters[GP_COUNTER_LEFT_OUT_OLD] = 1;
	assert_null(told_of(&b));
	b = failed(BUILD_MALLOC, GP_OUT_OF_MEMORY);
	build_info(&b, GP_INFO_OPTIONS, "TRACE=gpu");
	assert_null(told_of(&b));
}

/*
 * Of the first that failed, whichever thread's: another one frees 300 MiB before the second time.
 */
static void advice_tells_it_of_the_first_failure(void **state)
{
	struct build b = begin();
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	allocate(&b, 1, 300, 1000, FAILED_NS + 15);
	for (uint32_t i = 0; i < 4; i++)
		build_call(&b, i == 3 ? 200 : 100, BUILD_MALLOC, FAILED_NS + 40 - i * 10, 5, 10 + i)
			->status = GP_OUT_OF_MEMORY;
	build_stacks_end(&b);
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "failed-calls");
	assert_non_null(found);
	assert_non_null(strstr(
		found->found,
		"and the program continued; the process held 300.0MiB of 1.000GiB then, in 1 block: 300.0MiB of load"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_places_with_most_are_told),
		cmocka_unit_test(others_may_have_it_all),
		cmocka_unit_test(nothing_is_told_that_is_not_known),
		cmocka_unit_test(advice_tells_it_of_the_first_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
