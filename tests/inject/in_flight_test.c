/* in_flight: launches that have no record are told, with their names, whatever has become of these; those that have one are not. */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <pthread.h>
#include <sys/mman.h>

#include "inject/cupti_decode.h"
#include "inject/cupti_versions.h"
#include "inject/in_flight.h"

#define SECOND_NS 1000000000u
#define LIMIT     20000u

static struct gp_decoder decoder = {.version = 130001};
static uint64_t now_ns = SECOND_NS;
static __thread struct gp_launches *here;

/* What the trace tells: by correlation id, which name. */
static struct {
	char names[LIMIT][16]; /* by number of the name */
	uint32_t told[LIMIT];  /* name's number, 0 = not told */
	uint32_t count;
} found;

static void begin(void)
{
	start_in(GP_RINGS_MEMORY);
	gp_emit_is_patient();
	gp_in_flight_begin();
}

static void launch(uint32_t id, const char *name)
{
	gp_in_flight_note(&here, id, name);
}

/* Its kernel's record. */
static void come(uint32_t id)
{
	static uint64_t bytes[64];
	gp_kernel_view *kernel = (gp_kernel_view *)bytes;

	kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	kernel->correlationId = id;
	kernel->name = "came";
	gp_decode(&decoder, (const CUpti_Activity *)bytes);
}

static void look_after(uint64_t ns)
{
	now_ns += ns;
	gp_in_flight_look(&decoder, now_ns, true);
}

static void note_found(void *context, const struct found *one)
{
	const struct any_record *record = one->record;

	(void)context;
	if (record->record.kind == GP_RECORD_STRING && record->string.space == GP_STRING_KERNEL) {
		CHECK(record->string.id < LIMIT && record->string.length_bytes < 16);
		memcpy(found.names[record->string.id], record->text, record->string.length_bytes);
	}
	if (record->record.kind != GP_RECORD_IN_FLIGHT)
		return;
	CHECK(record->in_flight.correlation_id < LIMIT && record->in_flight.name_id != 0);
	CHECK(record->in_flight.ticks != 0 && found.told[record->in_flight.correlation_id] == 0);
	found.told[record->in_flight.correlation_id] = record->in_flight.name_id;
	found.count++;
}

static void end(void)
{
	static struct scan scan = {.fn = note_found};

	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
}

static bool is_told(uint32_t id, const char *name)
{
	return found.told[id] != 0 && strcmp(found.names[found.told[id]], name) == 0;
}

/* ---- which launches ---- */

static void tell_overdue(void)
{
	begin();
	launch(1, "spin");
	launch(2, "after");
	launch(3, "done");
	look_after(0);
	come(3);
	look_after(SECOND_NS / 2);
	launch(4, "young");
	look_after(SECOND_NS /
		   2); /* the first two are there since the last judgement, a second ago */
	look_after(SECOND_NS);
	come(4);
	end();
	CHECK(is_told(1, "spin") && is_told(2, "after") && is_told(4, "young"));
	CHECK(found.count == 3);
}

static void tell_nothing_that_comes(void)
{
	begin();
	for (uint32_t i = 1; i < 10000; i++) {
		launch(i, "kernel");
		if (i % 100 == 0) /* of the last ones the records come with the next look */
			look_after(SECOND_NS / 4);
		if (i > 20)
			come(i - 20);
	}
	end();
	CHECK(found.count == 0);
}

static void tell_young_beside_overdue(void)
{
	begin();
	launch(1, "spin");
	look_after(0);
	look_after(SECOND_NS / 2);
	launch(2, "young");
	look_after(SECOND_NS / 2);
	end();
	CHECK(is_told(1, "spin") && is_told(2, "young"));
}

/* Others have taken its place before it is overdue. */
static void tell_overwritten(void)
{
	begin();
	launch(1, "spin");
	look_after(0);
	for (uint32_t i = 2; i < 9000; i++)
		launch(i, "after");
	look_after(SECOND_NS / 2);
	look_after(SECOND_NS / 2);
	end();
	CHECK(is_told(1, "spin") && is_told(8999, "after") && !is_told(4000, "after"));
	CHECK(found.count == 1 + 63 + GP_IN_FLIGHT_KEPT - 1 || found.count == GP_IN_FLIGHT_KEPT);
}

/* CUPTI was not asked for what it has: what a program that goes on has launched may be done. */
static void tell_unasked(void)
{
	begin();
	for (uint32_t i = 1; i <= 10; i++) {
		launch(i, "step");
		now_ns += SECOND_NS;
		gp_in_flight_look(&decoder, now_ns, false);
	}
	CHECK(gp_in_flight_noted() == 10);
	now_ns += SECOND_NS;
	gp_in_flight_look(&decoder, now_ns, false);
	end();
	CHECK(found.count == 10);
}

static void tell_all_at_the_end(void)
{
	begin();
	launch(1, "one");
	launch(2, "two");
	come(2);
	gp_in_flight_tell(&decoder);
	gp_in_flight_tell(&decoder);
	end();
	CHECK(is_told(1, "one") && found.count == 1);
}

/* Where ids do not tell launches apart, nothing comes that could be known again. */
static void tell_nothing_without_ids(void)
{
	begin();
	launch(1, "one");
	decoder.said_numberless = true;
	look_after(0);
	look_after(SECOND_NS);
	gp_in_flight_tell(&decoder);
	end();
	CHECK(found.count == 0);
}

static void before_it_begins(void)
{
	start_in(GP_RINGS_MEMORY);
	launch(1, "one");
	CHECK(here == NULL && gp_in_flight_noted() == 0);
	gp_in_flight_tell(&decoder);
	end();
	CHECK(found.count == 0);
}

/* ---- names ---- */

/* The last one of two pages that are there. */
static void names_that_are_gone(void)
{
	char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin();
	CHECK(munmap(pages + 2 * 4096, 4096) == 0);
	strcpy(pages + 4096 - 3, "across");
	strcpy(pages + 2 * 4096 - 5, "edge");
	strcpy(pages + 100, "with space");
	strcpy(pages + 200, "\303\244");
	strcpy(gone, "unloaded");
	launch(1, pages + 4096 - 3);
	launch(2, pages + 2 * 4096 - 5);
	launch(3, pages + 100);
	launch(4, pages + 200);
	launch(5, gone);
	launch(6, NULL);
	launch(7, pages + 2 * 4096);
	launch(8, pages + 300);               /* "" */
	memset(pages + 2 * 4096 - 9, 'x', 4); /* unaware of the end */
	CHECK(munmap(gone, 4096) == 0);
	gp_in_flight_tell(&decoder);
	end();
	CHECK(is_told(1, "across") && is_told(2, "edge") && found.count == 2);
}

/* ---- threads ---- */

static void *launch_one(void *id)
{
	launch((uint32_t)(uintptr_t)id, "threads");
	return here;
}

/* What an ended thread launched is told, and the next one has its memory. */
static void threads_that_end(void)
{
	void *first, *second;
	pthread_t thread;

	begin();
	CHECK(pthread_create(&thread, NULL, launch_one, (void *)1) == 0);
	pthread_join(thread, &first);
	CHECK(pthread_create(&thread, NULL, launch_one, (void *)2) == 0);
	pthread_join(thread, &second);
	launch(3, "mains");
	CHECK(first == second && first != NULL && gp_in_flight_noted() == 3);
	gp_in_flight_tell(&decoder);
	end();
	CHECK(is_told(1, "threads") && is_told(2, "threads") && is_told(3, "mains"));
}

static uint32_t may_end;

static void *launch_odd_or_even(void *first)
{
	static const char *const names[] = {"even", "odd"};

	for (uint32_t id = (uint32_t)(uintptr_t)first; gp_load32(&may_end) == 0; id += 4)
		launch(id, names[id % 2]);
	return NULL;
}

static void check_parity(void *context, const struct found *one)
{
	const struct gp_record_in_flight *record = &one->record->in_flight;

	(void)context;
	if (!is_kind(one, GP_RECORD_IN_FLIGHT)) {
		note_found(NULL, one);
		return;
	}
	CHECK(strcmp(found.names[record->name_id], record->correlation_id % 2 ? "odd" : "even") ==
	      0);
	found.count++;
}

/* Whatever is read while it is overwritten, a launch has its own name. */
static void threads_that_launch_meanwhile(void)
{
	static struct scan scan = {.fn = check_parity};
	pthread_t threads[4];

	begin();
	for (uintptr_t i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, launch_odd_or_even, (void *)(i + 1)) == 0);
	while (gp_in_flight_noted() < 20 * GP_IN_FLIGHT_KEPT)
		;
	for (uint32_t i = 0; i < 20; i++)
		gp_in_flight_tell(&decoder);
	gp_store32(&may_end, 1);
	for (uintptr_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
	CHECK(found.count > 0);
}

#define CASE(name, body)                                                                           \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		run_case(body);                                                                    \
	}

CASE(what_is_overdue_is_told_once, tell_overdue)
CASE(what_comes_is_not_told, tell_nothing_that_comes)
CASE(beside_what_is_overdue_all_are_told, tell_young_beside_overdue)
CASE(the_oldest_is_told_where_others_took_its_place, tell_overwritten)
CASE(without_a_flush_only_a_program_that_rests_tells, tell_unasked)
CASE(the_end_tells_what_has_no_record, tell_all_at_the_end)
CASE(nothing_is_told_where_ids_tell_nothing, tell_nothing_without_ids)
CASE(nothing_is_noted_before_it_begins, before_it_begins)
CASE(a_name_that_is_gone_is_no_name, names_that_are_gone)
CASE(launches_outlive_their_thread, threads_that_end)
CASE(names_belong_to_their_launches, threads_that_launch_meanwhile)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_overdue_is_told_once),
		cmocka_unit_test(what_comes_is_not_told),
		cmocka_unit_test(beside_what_is_overdue_all_are_told),
		cmocka_unit_test(the_oldest_is_told_where_others_took_its_place),
		cmocka_unit_test(without_a_flush_only_a_program_that_rests_tells),
		cmocka_unit_test(the_end_tells_what_has_no_record),
		cmocka_unit_test(nothing_is_told_where_ids_tell_nothing),
		cmocka_unit_test(nothing_is_noted_before_it_begins),
		cmocka_unit_test(a_name_that_is_gone_is_no_name),
		cmocka_unit_test(launches_outlive_their_thread),
		cmocka_unit_test(names_belong_to_their_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
