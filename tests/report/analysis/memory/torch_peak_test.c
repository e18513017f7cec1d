/* What was allocated at the peak, by purpose, from the end of a history backwards. */
#include "report/analysis/memory/torch_peak.h"

#include <string.h>

#include "tests/unit.h"

#include "gpuprof/count.h"

/* The entry of an event is its category. */
static int find_category(void *context, const struct gp_torch_event *event, uint8_t *category)
{
	(void)context;
	*category = (uint8_t)event->entry;
	return 0;
}

static struct gp_torch_peak find(const struct gp_torch_event *events, uint32_t count,
				 const struct gp_torch_live *live, uint32_t live_count,
				 uint64_t reserved_bytes)
{
	const struct gp_torch_history history = {events,         live,          count, live_count,
						 reserved_bytes, find_category, NULL};
	struct gp_torch_peak peak = {0};

	assert_int_equal(gp_torch_peak_of(&peak, &history), 0);
	return peak;
}

/*
 * Parameters were there before.  A step: activations, gradients, then activations go, and the state
 * of the optimizer comes.
 */
static void the_peak_is_within_the_history(void **state)
{
	static const struct gp_torch_event events[] = {
		{0x100, 70, GP_TORCH_OTHER, GP_TORCH_ALLOC},
		{0x100, 70, 0, GP_TORCH_FREED},
		{0x100, 60, GP_TORCH_ACTIVATIONS, GP_TORCH_ALLOC},
		{0x8000, 1000, 0, GP_TORCH_RESERVE},
		{0x200, 10, GP_TORCH_GRADIENTS, GP_TORCH_ALLOC},
		{0x300, 5, GP_TORCH_WORKSPACE, GP_TORCH_ALLOC},
		/* here: 20 + 60 + 10 + 5 + 7 of before the history */
		{0x300, 5, 0, GP_TORCH_FREED},
		{0x100, 60, 0, GP_TORCH_FREED},
		{0x900, 7, 0, GP_TORCH_FREED},
		{0x100, 30, GP_TORCH_OPTIMIZER, GP_TORCH_ALLOC},
		{0x8000, 1000, 0, GP_TORCH_RELEASE},
		{0x200, 10, 0, GP_TORCH_FREED},
		{0x200, 11, GP_TORCH_OTHER, GP_TORCH_ALLOC},
	};
	static const struct gp_torch_live live[] = {
		{0x50, 20, GP_TORCH_PARAMETERS},
		{0x100, 30, GP_TORCH_OPTIMIZER},
		{0x200, 11, GP_TORCH_OTHER},
	};
	const struct gp_torch_peak peak = find(events, COUNT(events), live, COUNT(live), 500);

	assert_int_equal(peak.bytes[GP_TORCH_PARAMETERS], 20);
	assert_int_equal(peak.bytes[GP_TORCH_ACTIVATIONS], 60);
	assert_int_equal(peak.bytes[GP_TORCH_GRADIENTS], 10);
	assert_int_equal(peak.bytes[GP_TORCH_WORKSPACE], 5);
	assert_int_equal(peak.bytes[GP_TORCH_UNKNOWN], 7);
	assert_int_equal(peak.bytes[GP_TORCH_OPTIMIZER], 0);
	assert_int_equal(peak.bytes[GP_TORCH_OTHER], 0);
	assert_int_equal(peak.cached_bytes, 1500 - 102);
}

static void without_events_it_is_the_end(void **state)
{
	static const struct gp_torch_live live[] = {{0x50, 20, GP_TORCH_PARAMETERS}};
	const struct gp_torch_peak peak = find(NULL, 0, live, 1, 50);

	assert_int_equal(peak.bytes[GP_TORCH_PARAMETERS], 20);
	assert_int_equal(peak.cached_bytes, 30);
}

/* More is freed than there was. */
static void a_history_that_does_not_fit_is_survived(void **state)
{
	static const struct gp_torch_event events[] = {
		{0x100, UINT64_MAX, GP_TORCH_OTHER, GP_TORCH_ALLOC},
		{0x100, 1, 0, GP_TORCH_RELEASE},
		{0x200, 1, 0, GP_TORCH_FREED},
	};
	const struct gp_torch_peak peak = find(events, COUNT(events), NULL, 0, 0);

	assert_int_equal(peak.cached_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_peak_is_within_the_history),
		cmocka_unit_test(without_events_it_is_the_end),
		cmocka_unit_test(a_history_that_does_not_fit_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
