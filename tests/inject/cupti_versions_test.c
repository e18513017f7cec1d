/*
 * cupti_versions: later fields are read from the records of the versions that have them, and from
 * no others.
 */
#include <stdio.h>
#include <string.h>

#include "inject/cupti_versions.h"
#include "tests/unit.h"

#if CUPTI_API_VERSION >= 130000

#define OTHERWISE 77u

/* In a record of ones except for this field: the values for versions before it, and from it on. */
#define CHECK_FIELD(type, name, field, since, value)                                               \
	do {                                                                                       \
		type record;                                                                       \
                                                                                                   \
		memset(&record, 0xff, sizeof(record));                                             \
		record.name = (value);                                                             \
		assert_int_equal(gp_cupti_field((since)-1, field, &record, OTHERWISE), OTHERWISE); \
		assert_int_equal(gp_cupti_field(since, field, &record, OTHERWISE), value);         \
		assert_int_equal(gp_cupti_field(130001, field, &record, OTHERWISE), value);        \
	} while (0)

static void fields(void **state)
{
	const uint64_t wide = UINT64_C(0x0123456789abcdef);
	const uint32_t narrow = 0x12345678;

	CHECK_FIELD(CUpti_ActivityKernel10, isDeviceLaunched, GP_KERNEL_IS_DEVICE_LAUNCHED, 130000,
		    1);
	CHECK_FIELD(CUpti_ActivityKernel9, maxPotentialClusterSize, GP_KERNEL_MAX_CLUSTER, 19,
		    narrow);
	CHECK_FIELD(CUpti_ActivityKernel9, maxActiveClusters, GP_KERNEL_ACTIVE_CLUSTERS, 19,
		    narrow);
	CHECK_FIELD(CUpti_ActivityContext2, parentContextId, GP_CONTEXT_PARENT, 22, narrow);
	CHECK_FIELD(CUpti_ActivityContext2, isGreenContext, GP_CONTEXT_IS_GREEN, 22, 1);
	CHECK_FIELD(CUpti_ActivityContext2, numMultiprocessors, GP_CONTEXT_MULTIPROCESSORS, 22, 66);
	CHECK_FIELD(CUpti_ActivityMemcpy6, copyCount, GP_COPY_COUNT, 26, wide);
	CHECK_FIELD(CUpti_ActivityOverhead3, correlationId, GP_OVERHEAD_CORRELATION, 20, narrow);
	CHECK_FIELD(CUpti_ActivityGraphTrace2, endDeviceId, GP_GRAPH_END_DEVICE, 21, narrow);
	CHECK_FIELD(CUpti_ActivityGraphTrace2, endContextId, GP_GRAPH_END_CONTEXT, 21, narrow);
	CHECK_FIELD(CUpti_ActivitySynchronization2, cudaEventSyncId, GP_SYNC_EVENT_SYNC, 26, wide);
	CHECK_FIELD(CUpti_ActivityCudaEvent2, deviceId, GP_EVENT_DEVICE, 26, narrow);
	CHECK_FIELD(CUpti_ActivityCudaEvent2, deviceTimestamp, GP_EVENT_TIME, 26, wide);
	CHECK_FIELD(CUpti_ActivityCudaEvent2, cudaEventSyncId, GP_EVENT_SYNC, 26, wide);
	CHECK_FIELD(CUpti_ActivityJit2, threadId, GP_JIT_THREAD, 22, narrow);
}

#define CHECK_VIEW(view, type, field)                                                              \
	assert_int_equal(offsetof(gp_##view##_view, field), offsetof(type, field))

/* The views also fit the newest structures. */
static void views(void **state)
{
	CHECK_VIEW(kernel, CUpti_ActivityKernel10, localMemoryTotal_v2);
	CHECK_VIEW(copy, CUpti_ActivityMemcpy6, channelType);
	CHECK_VIEW(overhead, CUpti_ActivityOverhead3, end);
	CHECK_VIEW(graph, CUpti_ActivityGraphTrace2, streamId);
	CHECK_VIEW(sync, CUpti_ActivitySynchronization2, cudaEventId);
	CHECK_VIEW(event, CUpti_ActivityCudaEvent2, eventId);
	CHECK_VIEW(jit, CUpti_ActivityJit2, cacheSize);
	CHECK_VIEW(pool, CUpti_ActivityMemoryPool3, utilizedSize);
	CHECK_VIEW(unified, CUpti_ActivityUnifiedMemoryCounter3, flags);
	CHECK_VIEW(device, CUpti_ActivityDevice5, name);
	CHECK_VIEW(context, CUpti_ActivityContext3, nullStreamId);
}

/* ---- records of an unknown version ---- */

#define NOW UINT64_C(1795242552595379230)

struct longer_kernel {
	CUpti_ActivityKernel10 kernel;
	uint8_t more[64]; /* appended by later versions */
};

static struct longer_kernel a_kernel(void)
{
	struct longer_kernel record = {
		.kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
			   .start = NOW - 5000,
			   .end = NOW - 1000,
			   .deviceId = 1,
			   .contextId = 3,
			   .name = "a name"},
	};

	return record;
}

static bool looks_known(const void *record, size_t bytes)
{
	return gp_cupti_is_plausible(record, bytes, NOW);
}

static void known_versions(void **state)
{
	assert_true(gp_cupti_is_known(GP_CUPTI_OLDEST));
	assert_true(gp_cupti_is_known(130001));
	assert_true(gp_cupti_is_known(130400));
	assert_false(gp_cupti_is_known(130500));
	assert_false(gp_cupti_is_known(140000));
}

static void unchanged_records_are_plausible(void **state)
{
	struct longer_kernel record = a_kernel();
	CUpti_ActivityStream stream = {.kind = CUPTI_ACTIVITY_KIND_STREAM, .contextId = 1};

	assert_true(looks_known(&record, sizeof(record)));
	assert_true(looks_known(&record, 248)); /* the size in 13.4 */
	assert_true(gp_cupti_is_plausible((const CUpti_Activity *)&record, 248,
					  0)); /* the current time is unknown */
	record.kernel.start = record.kernel.end = 0;
	assert_true(looks_known(&record, sizeof(record)));
	record.kernel.name = NULL;
	assert_true(looks_known(&record, sizeof(record)));
	assert_true(looks_known(&stream, sizeof(stream)));
}

static void changed_records_are_not_plausible(void **state)
{
	const char *const nowhere = (const char *)0x4141414141414141; /* not a valid address */
	struct longer_kernel record = a_kernel();
	CUpti_Activity other = {.kind = CUPTI_ACTIVITY_KIND_RUNTIME};

	assert_false(looks_known(&record, 240)); /* shorter than in 13.4 */
	assert_false(looks_known(&other, 4096)); /* not a known kind: never read */
	other.kind = (CUpti_ActivityKind)4711;
	assert_false(looks_known(&other, 4096));
	record.kernel.start = 77;
	assert_false(looks_known(&record, sizeof(record)));
	record = a_kernel();
	record.kernel.end = UINT64_MAX;
	assert_false(looks_known(&record, sizeof(record)));
	record = a_kernel();
	record.kernel.deviceId = 0x7f001234;
	assert_false(looks_known(&record, sizeof(record)));
	record = a_kernel();
	record.kernel.contextId = UINT32_MAX;
	assert_false(looks_known(&record, sizeof(record)));
	record = a_kernel();
	record.kernel.name = nowhere;
	assert_false(looks_known(&record, sizeof(record)));
}

static void abilities(void **state)
{
	assert_false(gp_cupti_can(18, GP_CUPTI_NUMBERS_LAUNCHES));
	assert_true(gp_cupti_can(20, GP_CUPTI_NUMBERS_LAUNCHES));
	assert_false(gp_cupti_can(20, GP_CUPTI_BUFFERS_PER_THREAD));
	assert_true(gp_cupti_can(21, GP_CUPTI_BUFFERS_PER_THREAD));
	assert_false(gp_cupti_can(26, GP_CUPTI_KIND_OF_EVENTS));
	assert_true(gp_cupti_can(28, GP_CUPTI_KIND_OF_EVENTS));
	assert_true(gp_cupti_can(130001, GP_CUPTI_KIND_OF_EVENTS));
	assert_false(gp_cupti_can(130100, GP_CUPTI_KIND_OF_GREEN_CONTEXTS));
	assert_true(gp_cupti_can(130200, GP_CUPTI_KIND_OF_GREEN_CONTEXTS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(views),
		cmocka_unit_test(abilities),
		cmocka_unit_test(known_versions),
		cmocka_unit_test(unchanged_records_are_plausible),
		cmocka_unit_test(changed_records_are_not_plausible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("skipped: the headers are older than the newest layouts");
	return 77;
}

#endif
