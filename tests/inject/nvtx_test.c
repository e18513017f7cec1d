/* nvtx: the functions of the real headers, from their first call to the records in the trace. */
#include "tests/inject/nvtx_scene.h"

#include <pthread.h>
#include <wchar.h>

#include "inject/recording_gate.h"
#include "tests/lib/emulated.h"

#define THREADS 4
#define LOOPS   200u

/* ---- events ---- */

static uint32_t value_of(uint16_t space, uint32_t id)
{
	return said.strings[find_text(space, id)].value;
}

static void pushes_and_pops(void)
{
	begin("t");
	CHECK(!gp_collector_is_live());
	CHECK(nvtxRangePushA("outer") == 0);
	CHECK(gp_collector_is_live());
	CHECK(nvtxRangePushA("inner") == 1);
	CHECK(nvtxRangePop() == 1);
	CHECK(nvtxRangePop() == 0);
	CHECK(nvtxRangePop() < 0);
	nvtxMarkA("here");
	stop_and_read();
	CHECK(said.range_count == 5);
	CHECK(range_is(0, GP_RANGE_PUSH, "", "outer") && range_is(1, GP_RANGE_PUSH, "", "inner"));
	CHECK(range_is(2, GP_RANGE_POP, "", "") && range_is(3, GP_RANGE_POP, "", ""));
	CHECK(range_is(4, GP_RANGE_MARK, "", "here"));
	for (uint32_t i = 1; i < said.range_count; i++)
		CHECK(said.ranges[i].ticks >= said.ranges[i - 1].ticks);
	CHECK(said.threads[0] == (uint32_t)getpid());
}

static void domains_have_levels_of_their_own(void)
{
	nvtxDomainHandle_t one, two, same;
	nvtxEventAttributes_t event = attributes_of("a");

	begin("t");
	one = nvtxDomainCreateA("one");
	two = nvtxDomainCreateW(L"zw\u00f6lf \U0001f600");
	same = nvtxDomainCreateA("one");
	CHECK(one != NULL && two != NULL && one != two && one == same);
	CHECK(!gp_collector_is_live()); /* a domain alone starts no trace */
	CHECK(nvtxDomainRangePushEx(one, &event) == 0);
	CHECK(nvtxDomainRangePushEx(two, &event) == 0);
	CHECK(nvtxRangePushEx(&event) == 0);
	CHECK(nvtxDomainRangePushEx(one, &event) == 1);
	CHECK(nvtxDomainRangePop(two) == 0 && nvtxDomainRangePop(one) == 1);
	nvtxDomainDestroy(same);
	CHECK(nvtxDomainRangePop(one) == 0 && nvtxDomainRangePop(one) < 0);
	CHECK(nvtxDomainRangePop(NULL) == 0);
	stop_and_read();
	CHECK(said.range_count == 8);
	CHECK(range_is(0, GP_RANGE_PUSH, "one", "a"));
	CHECK(range_is(1, GP_RANGE_PUSH, "zw\xc3\xb6lf \xf0\x9f\x98\x80", "a"));
	CHECK(range_is(2, GP_RANGE_PUSH, "", "a") && range_is(3, GP_RANGE_PUSH, "one", "a"));
	CHECK(said.ranges[4].domain_id == said.ranges[1].domain_id);
}

static void more_domains_than_levels_are_counted_in(void)
{
	char name[32];
	nvtxEventAttributes_t event = attributes_of("a");
	nvtxDomainHandle_t domain = NULL;

	begin("t");
	for (int i = 0; i < GP_LEVEL_DOMAINS + 10; i++) {
		snprintf(name, sizeof(name), "domain %d", i);
		domain = nvtxDomainCreateA(name);
	}
	CHECK(nvtxDomainRangePushEx(domain, &event) == NVTX_NO_PUSH_POP_TRACKING);
	CHECK(nvtxDomainRangePop(domain) == NVTX_NO_PUSH_POP_TRACKING);
	stop_and_read();
	CHECK(said.range_count == 2 && range_is(0, GP_RANGE_PUSH, name, "a"));
}

static void messages_of_every_kind(void)
{
	nvtxDomainHandle_t domain;
	nvtxStringHandle_t kept;
	nvtxEventAttributes_t event = attributes_of(NULL);
	char text[] = "changes";
	static wchar_t long_text[5000];

	begin("t");
	domain = nvtxDomainCreateA("d");
	kept = nvtxDomainRegisterStringA(domain, text);
	strcpy(text, "CHANGED");
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = kept;
	nvtxDomainMarkEx(domain, &event);
	event.message.registered = nvtxDomainRegisterStringW(domain, L"\u4f60\u597d");
	nvtxDomainMarkEx(domain, &event);
	event.message.registered = NULL;
	nvtxDomainMarkEx(domain, &event);
	nvtxMarkW(L"wide");
	nvtxMarkA(NULL);
	nvtxMarkA("");
	nvtxMarkEx(NULL);
	wmemset(long_text, L'\u00e9', 4999);
	nvtxMarkW(long_text);
	nvtxMarkW((const wchar_t[]){0xd800, 0x110000, 0});
	event.messageType = NVTX_MESSAGE_UNKNOWN;
	nvtxMarkEx(&event);
	stop_and_read();
	CHECK(said.range_count == 10);
	CHECK(range_is(0, GP_RANGE_MARK, "d", "changes"));
	CHECK(range_is(1, GP_RANGE_MARK, "d", "\xe4\xbd\xa0\xe5\xa5\xbd"));
	CHECK(range_is(2, GP_RANGE_MARK, "d", "") && said.ranges[2].text_id == 0);
	CHECK(range_is(3, GP_RANGE_MARK, "", "wide"));
	CHECK(said.ranges[4].text_id == 0 && said.ranges[5].text_id != 0);
	CHECK(range_is(5, GP_RANGE_MARK, "", "") && said.ranges[6].text_id == 0);
	CHECK(strlen(text_of(GP_STRING_RANGE, said.ranges[7].text_id)) > 2000);
	CHECK(range_is(8, GP_RANGE_MARK, "", "\xef\xbf\xbd\xef\xbf\xbd"));
	CHECK(said.ranges[9].text_id == 0);
}

static void invalid_handles(void)
{
	static uint64_t zeros[64];
	const void *handles[] = {zeros, (const void *)8, (const void *)-8ll, "text"};
	nvtxEventAttributes_t event = attributes_of("a");
	nvtxDomainHandle_t domain;

	begin("t");
	domain = nvtxDomainCreateA("d");
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		nvtxDomainHandle_t none = (nvtxDomainHandle_t)(uintptr_t)handles[i];

		CHECK(nvtxDomainRangePushEx(none, &event) == 0 && nvtxDomainRangePop(none) == 0);
		nvtxDomainNameCategoryA(none, 7, "of the default domain");
		CHECK(nvtxDomainRegisterStringA(none, "kept") != NULL);
	}
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	for (size_t i = 0; i < sizeof(handles) / sizeof(handles[0]); i++) {
		event.message.registered = (nvtxStringHandle_t)(uintptr_t)handles[i];
		nvtxDomainMarkEx(domain, &event);
	}
	event.message.registered = (nvtxStringHandle_t)domain;
	nvtxDomainMarkEx(domain, &event);
	stop_and_read();
	CHECK(said.range_count == 13 && said.counters[GP_COUNTER_TEXTS_UNKNOWN] == 5);
	for (uint32_t i = 0; i < 8; i += 2)
		CHECK(range_is(i, GP_RANGE_PUSH, "", "a"));
	for (uint32_t i = 8; i < 13; i++)
		CHECK(range_is(i, GP_RANGE_MARK, "d", ""));
	CHECK(value_of(GP_STRING_CATEGORY, 7) == 0);
}

/* Memory is bounded: a string that does not fit has no handle, and its ranges are counted. */
static void more_registered_strings_than_are_kept(void)
{
	static char text[4000];
	nvtxEventAttributes_t event = attributes_of(NULL);
	uint32_t kept = 0;

	begin("t");
	memset(text, 'x', sizeof(text) - 1);
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	do {
		snprintf(text, 9, "%08u", kept);
		text[8] = 'x';
		event.message.registered = nvtxDomainRegisterStringA(NULL, text);
	} while (event.message.registered != NULL && ++kept < 1u << 20);
	nvtxMarkEx(&event);
	nvtxMarkA(text);
	stop_and_read();
	CHECK(kept > 1000 && kept <= GP_TEXT_TABLE_MAX_BYTES / sizeof(text));
	CHECK(said.range_count == 2 && said.ranges[0].text_id == 0);
	CHECK(range_is(1, GP_RANGE_MARK, "", text));
	CHECK(said.counters[GP_COUNTER_TEXTS_AGAIN] == 1);
	CHECK(said.counters[GP_COUNTER_TEXTS_UNKNOWN] == 1);
}

static void ranges_that_start_and_end(void)
{
	nvtxRangeId_t first, second;
	nvtxDomainHandle_t domain;
	nvtxEventAttributes_t event = attributes_of("in d");

	begin("t");
	domain = nvtxDomainCreateA("d");
	first = nvtxRangeStartA("first");
	second = nvtxDomainRangeStartEx(domain, &event);
	CHECK(first != 0 && second != 0 && first != second);
	nvtxRangeEnd(first);
	nvtxDomainRangeEnd(domain, second);
	nvtxRangeEnd(nvtxRangeStartW(L"third"));
	stop_and_read();
	CHECK(said.range_count == 6);
	CHECK(range_is(0, GP_RANGE_START, "", "first") && said.ranges[0].range_id == first);
	CHECK(range_is(1, GP_RANGE_START, "d", "in d") && said.ranges[1].range_id == second);
	CHECK(range_is(2, GP_RANGE_END, "", "") && said.ranges[2].range_id == first);
	CHECK(range_is(3, GP_RANGE_END, "d", "") && said.ranges[3].range_id == second);
	CHECK(said.ranges[4].range_id == said.ranges[5].range_id);
}

static double as_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static void colors_categories_and_payloads(void)
{
	nvtxEventAttributes_t event = attributes_of("a");

	begin("t");
	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff102030;
	event.category = 42;
	event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	event.payload.ullValue = 1ull << 63;
	nvtxMarkEx(&event);
	event.colorType = NVTX_COLOR_UNKNOWN;
	event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	event.payload.llValue = -5;
	nvtxMarkEx(&event);
	event.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	event.payload.ullValue = 0xdeadbeef00000000u;
	event.payload.iValue = -6;
	nvtxMarkEx(&event);
	event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	event.payload.ullValue = 0xdeadbeef00000007u;
	nvtxMarkEx(&event);
	event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	event.payload.dValue = 1.5;
	nvtxMarkEx(&event);
	event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	event.payload.fValue = 2.25f;
	nvtxMarkEx(&event);
	event.payloadType = 99;
	nvtxMarkEx(&event);
	stop_and_read();
	CHECK(said.range_count == 7 && said.ranges[0].category == 42);
	CHECK(said.ranges[0].flags == GP_RANGE_HAS_COLOR);
	CHECK(said.ranges[0].color_argb == 0xff102030 && said.ranges[1].flags == 0);
	CHECK(said.ranges[0].payload_kind == GP_PAYLOAD_UNSIGNED);
	CHECK(said.ranges[0].payload == 1ull << 63);
	CHECK(said.ranges[1].payload_kind == GP_PAYLOAD_SIGNED);
	CHECK((int64_t)said.ranges[1].payload == -5 && (int64_t)said.ranges[2].payload == -6);
	CHECK(said.ranges[3].payload_kind == GP_PAYLOAD_UNSIGNED && said.ranges[3].payload == 7);
	CHECK(said.ranges[4].payload_kind == GP_PAYLOAD_FLOATING);
	CHECK(as_double(said.ranges[4].payload) == 1.5 &&
	      as_double(said.ranges[5].payload) == 2.25);
	CHECK(said.ranges[6].payload_kind == GP_PAYLOAD_NONE);
}

/* Whether the program gave this name; the system's name of a thread is emitted again at its end. */
static bool was_given(uint16_t space, uint32_t id, const char *name)
{
	for (uint32_t i = 0; i < said.text_count; i++)
		if (said.strings[i].space == space && said.strings[i].id == id &&
		    said.strings[i].value == GP_NAME_GIVEN)
			return strcmp(said.texts[i], name) == 0;
	return false;
}

static void names_given_before_and_after(void)
{
	nvtxDomainHandle_t domain;
	nvtxResourceAttributes_t resource = {0};

	begin("t");
	domain = nvtxDomainCreateA("d");
	nvtxNameCategoryA(7, "early");
	nvtxDomainNameCategoryA(domain, 8, "old name");
	nvtxDomainNameCategoryW(domain, 8, L"of the domain");
	nvtxNameOsThreadA(1234, "worker");
	CHECK(!gp_collector_is_live());
	nvtxMarkA("start");
	nvtxNameCategoryW(9, L"late");
	resource.version = NVTX_VERSION;
	resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
	resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE;
	resource.identifier.ullValue = 1235;
	resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
	resource.message.ascii = "resource";
	nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &resource));
	resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX;
	resource.identifier.ullValue = (uint64_t)pthread_self();
	resource.message.ascii = "myself";
	nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &resource));
	stop_and_read();
	CHECK(strcmp(text_of(GP_STRING_CATEGORY, 7), "early") == 0);
	CHECK(value_of(GP_STRING_CATEGORY, 7) == 0);
	CHECK(strcmp(text_of(GP_STRING_CATEGORY, 8), "of the domain") == 0);
	CHECK(strcmp(text_of(GP_STRING_DOMAIN, value_of(GP_STRING_CATEGORY, 8)), "d") == 0);
	CHECK(strcmp(text_of(GP_STRING_CATEGORY, 9), "late") == 0);
	CHECK(strcmp(text_of(GP_STRING_THREAD, 1234), "worker") == 0);
	CHECK(value_of(GP_STRING_THREAD, 1234) == GP_NAME_GIVEN);
	CHECK(strcmp(text_of(GP_STRING_THREAD, 1235), "resource") == 0);
	CHECK(was_given(GP_STRING_THREAD, (uint32_t)getpid(), "myself"));
}

/* ---- threads and processes ---- */

static pthread_barrier_t barrier;

static void *push_a_lot(void *number)
{
	char text[32];

	pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < LOOPS; i++) {
		snprintf(text, sizeof(text), "%s of %u", (const char *)number, i % 10);
		CHECK(nvtxRangePushA("outer") == 0 && nvtxRangePushA(text) == 1);
		CHECK(nvtxRangePop() == 1 && nvtxRangePop() == 0);
	}
	return NULL;
}

static void run_threads(pthread_t *threads)
{
	static char *const numbers[THREADS] = {"0", "1", "2", "3"};

	CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, push_a_lot, numbers[i]) == 0);
}

static int compare_ticks(const void *left, const void *right)
{
	uint64_t a = ((const struct gp_record_range *)left)->ticks;
	uint64_t b = ((const struct gp_record_range *)right)->ticks;

	return (a > b) - (a < b);
}

/*
 * Compares the events in the order of time: a thread's first events may be in the shared ring, and
 * written after those in its own ring.
 */
static void check_thread(uint32_t thread)
{
	static const uint8_t ops[] = {GP_RANGE_PUSH, GP_RANGE_PUSH, GP_RANGE_POP, GP_RANGE_POP};
	struct gp_record_range own[4 * LOOPS];
	uint32_t count = 0;

	for (uint32_t i = 0; i < said.range_count; i++) {
		if (said.threads[i] != thread)
			continue;
		CHECK(count < 4 * LOOPS);
		own[count++] = said.ranges[i];
	}
	CHECK(count == 4 * LOOPS);
	qsort(own, count, sizeof(own[0]), compare_ticks);
	for (uint32_t i = 0; i < count; i++)
		CHECK(own[i].op == ops[i % 4]);
}

/* Records may be dropped on a machine so busy that the writer does not run in time. */
static bool was_any_dropped(void)
{
	return said.counters[GP_COUNTER_LOST_RING_FULL] + said.counters[GP_COUNTER_LOST_NO_RING] >
	       0;
}

/* All threads start at the same time: none of their early events is lost. */
static void threads_that_begin_together(void)
{
	pthread_t threads[THREADS];
	uint32_t checked = 0;

	begin("t");
	run_threads(threads);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	stop_and_read();
	if (was_any_dropped())
		return;
	CHECK(said.range_count == THREADS * LOOPS * 4);
	for (uint32_t i = 0; i < said.range_count; i++) {
		bool first = true;

		for (uint32_t before = 0; before < i && first; before++)
			first = said.threads[before] != said.threads[i];
		if (first) {
			check_thread(said.threads[i]);
			checked++;
		}
		if (said.ranges[i].op == GP_RANGE_PUSH)
			CHECK(text_of(GP_STRING_RANGE, said.ranges[i].text_id) != NULL);
	}
	CHECK(checked == THREADS);
}

static void *initialize(void *table)
{
	pthread_barrier_wait(&barrier);
	CHECK(gp_nvtx_initialize((NvtxGetExportTableFunc_t)table) == 1);
	return NULL;
}

/* Some versions of the headers initialize from several threads. */
static void threads_that_initialize_together(void)
{
	pthread_t threads[THREADS];
	void *table = (void *)(uintptr_t)NVTX_VERSIONED_IDENTIFIER(nvtxGetExportTable);

	begin("t");
	CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, initialize, table) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	nvtxMarkA("a");
	stop_and_read();
	CHECK(said.range_count == 1);
}

static void wait_for(pid_t child)
{
	int status;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(status == 0);
}

/*
 * While other threads push ranges, this thread forks children that push, too.  Each child has its
 * own trace.
 */
static void forks_beside_threads_that_push(void)
{
	pthread_t threads[THREADS];
	char parent_path[256];

	begin("t");
	nvtxDomainNameCategoryA(nvtxDomainCreateA("d"), 5, "kept");
	nvtxRangePushA("open");
	snprintf(parent_path, sizeof(parent_path), "%s", gp_collector_trace_path());
	run_threads(threads);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (child == 0) {
			CHECK(nvtxRangePushA("in the child") == 1);
			CHECK(nvtxRangePop() == 1);
			CHECK(strcmp(gp_collector_trace_path(), parent_path) != 0);
			stop_and_read();
			CHECK(said.range_count == 2);
			CHECK(range_is(0, GP_RANGE_PUSH, "", "in the child"));
			CHECK(said.threads[0] == (uint32_t)getpid());
			CHECK(strcmp(text_of(GP_STRING_CATEGORY, 5), "kept") == 0);
			_exit(0);
		}
		wait_for(child);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	nvtxRangePop();
	stop_and_read();
	CHECK(said.range_count == THREADS * LOOPS * 4 + 2 || was_any_dropped());
}

static void a_child_that_does_nothing(void)
{
	char path[256];
	pid_t child;

	begin("t");
	nvtxMarkA("a");
	snprintf(path, sizeof(path), "%s", gp_collector_trace_path());
	child = fork();
	if (child == 0) {
		CHECK(!gp_process_trace_is_live());
		gp_process_trace_close(nothing_more, GP_FOLLOWED_BY_PROGRAM);
		CHECK(strcmp(gp_collector_trace_path(), path) == 0);
		_exit(0);
	}
	wait_for(child);
	nvtxMarkA("b");
	stop_and_read();
	CHECK(said.range_count == 2);
}

static void no_trace_can_be_made(void)
{
	begin("t");
	setenv("GPUPROF_OUTPUT", "/proc/none/t", 1);
	gp_options_read(environ);
	CHECK(nvtxRangePushA("a") == 0);
	CHECK(!gp_collector_is_live());
	CHECK(nvtxRangePop() == 0 && nvtxRangePop() < 0);
}

static void ranges_that_are_off(void)
{
	InitializeInjectionNvtx2_fnptr = gp_nvtx_initialize;
	CHECK(nvtxRangePushA("a") == NVTX_NO_PUSH_POP_TRACKING);
	CHECK(!gp_collector_is_live());
}

/* ---- the gate, and the watcher of ranges ---- */

/* Ranges that began while the gate was open are recorded to their end, and no others. */
static void ranges_across_the_gate(void)
{
	nvtxRangeId_t recorded, left_out;

	begin("t");
	gp_recording_gate_init(false);
	nvtxRangePushA("before");
	left_out = nvtxRangeStartA("before");
	nvtxMarkA("before");
	CHECK(!gp_collector_is_live()); /* no trace without a recorded range */
	gp_recording_gate_set(true, GP_GATE_API);
	nvtxRangePushA("within");
	recorded = nvtxRangeStartA("within");
	gp_recording_gate_set(false, GP_GATE_API);
	nvtxRangePushA("after");
	CHECK(nvtxRangePop() == 2 && nvtxRangePop() == 1 && nvtxRangePop() == 0);
	nvtxRangeEnd(left_out);
	nvtxRangeEnd(recorded);
	stop_and_read();
	CHECK(said.range_count == 4);
	CHECK(range_is(0, GP_RANGE_PUSH, "", "within"));
	CHECK(range_is(1, GP_RANGE_START, "", "within") && said.ranges[1].range_id == recorded);
	CHECK(range_is(2, GP_RANGE_POP, "", "") && range_is(3, GP_RANGE_END, "", ""));
	CHECK(said.ranges[3].range_id == recorded);
}

static struct {
	char text[200];
	bool was_live[10];
	uint32_t count;
} seen;

static void watch(const struct gp_range_event *event)
{
	size_t length = strlen(seen.text);

	seen.was_live[seen.count++] = gp_collector_is_live();
	snprintf(seen.text + length, sizeof(seen.text) - length, "%d %s@%s %d;", (int)event->op,
		 event->message != NULL ? event->message : "", event->domain, event->level);
}

static void a_watcher_sees_ranges(void)
{
	nvtxDomainHandle_t domain;
	nvtxEventAttributes_t event = attributes_of(NULL);

	begin("t");
	gp_ranges_watch(watch);
	domain = nvtxDomainCreateA("d");
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = nvtxDomainRegisterStringA(domain, "kept");
	nvtxDomainRangePushEx(domain, &event);
	nvtxRangeEnd(nvtxRangeStartA("started"));
	nvtxMarkA("not seen");
	nvtxDomainRangePop(domain);
	gp_ranges_watch(NULL);
	nvtxRangePushA("not seen");
	CHECK(strcmp(seen.text, "1 kept@d 0;3 started@ 0;4 @ 0;2 @d 0;") == 0);
	/* the first push comes before the recording starts */
	CHECK(!seen.was_live[0] && seen.was_live[1]);
	stop_and_read();
	CHECK(said.range_count == 6);
}

/*
 * ThreadSanitizer allows no new thread in a child that was forked beside other threads.
 * AddressSanitizer may leave its allocator locked there.
 */
static bool sanitizer_forbids(void (*body)(void))
{
	return body == forks_beside_threads_that_push &&
	       (UNDER_TSAN || UNDER_ASAN || is_emulated(EMULATED_LOCK));
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		if (sanitizer_forbids(name))                                                       \
			skip();                                                                    \
		run_case(name);                                                                    \
	}
#define CASES(X)                                                                                   \
	X(pushes_and_pops)                                                                         \
	X(domains_have_levels_of_their_own)                                                        \
	X(more_domains_than_levels_are_counted_in)                                                 \
	X(messages_of_every_kind)                                                                  \
	X(invalid_handles)                                                                         \
	X(more_registered_strings_than_are_kept)                                                   \
	X(ranges_that_start_and_end)                                                               \
	X(colors_categories_and_payloads)                                                          \
	X(names_given_before_and_after)                                                            \
	X(threads_that_begin_together)                                                             \
	X(threads_that_initialize_together)                                                        \
	X(forks_beside_threads_that_push)                                                          \
	X(a_child_that_does_nothing)                                                               \
	X(no_trace_can_be_made)                                                                    \
	X(ranges_that_are_off)                                                                     \
	X(ranges_across_the_gate)                                                                  \
	X(a_watcher_sees_ranges)
CASES(CASE)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
		CASES(ROW)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
