/* record_visitor: each kind reaches its own function, and has one role. */

#include "report/trace/record_visitor.h"
#include "tests/unit.h"

/* Answers its number, for the thread that it is told. */
#define X(number, NAME, name)                                                                      \
	static int some_##name(uint32_t *thread_id, const struct gp_record_view *seen)             \
	{                                                                                          \
		*thread_id = seen->thread_id;                                                      \
		return number;                                                                     \
	}
GP_RECORD_KINDS(X)
#undef X
static GP_RECORD_VISITOR(visit_some, some, uint32_t)

	static void each_kind_reaches_its_function(void **state)
{
	for (uint8_t kind = 1; kind < GP_RECORD_KIND_LIMIT; kind++) {
		const union gp_any_record record = {.head = {.kind = kind}};
		uint32_t thread_id = 0;

		assert_int_equal(
			visit_some(&thread_id, &(struct gp_record_view){&record, NULL, 70u + kind}),
			kind);
		assert_int_equal(thread_id, 70 + kind);
	}
}

/* Events are what a part of a trace has by its time; to call a definition one would lose it. */
static void events_are_those(void **state)
{
	static const uint8_t events[] = {
		GP_RECORD_CALL,      GP_RECORD_MEMORY, GP_RECORD_KERNEL,        GP_RECORD_COPY,
		GP_RECORD_MEMSET,    GP_RECORD_GRAPH,  GP_RECORD_OVERHEAD,      GP_RECORD_SYNC,
		GP_RECORD_UNIFIED,   GP_RECORD_POOL,   GP_RECORD_HOST_FUNCTION, GP_RECORD_RANGE,
		GP_RECORD_HW_SAMPLE, GP_RECORD_STALL,
	};
	uint64_t expected = 0, found = 0;

	for (size_t i = 0; i < sizeof(events); i++)
		expected |= UINT64_C(1) << events[i];
	for (uint8_t kind = 1; kind < GP_RECORD_KIND_LIMIT; kind++) {
		const union gp_any_record record = {.head = {.kind = kind}};

		found |= (uint64_t)gp_record_is_event(&record) << kind;
		assert_true((gp_record_role(&record) == GP_ROLE_OWNER) ==
			    (kind == GP_RECORD_THREAD));
	}
	assert_int_equal(found, expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_reaches_its_function),
		cmocka_unit_test(events_are_those),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
