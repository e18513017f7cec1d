/*
 * in_flight: launches without a record are emitted with their names, even if the names' memory has
 * changed.  Launches with a record are not emitted.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "collector/sys.h"
#include "inject/cupti_decode.h"
#include "inject/cupti_versions.h"
#include "inject/in_flight.h"
#include "inject/launch_call.h"

#define SECOND_NS 1000000000u
#define LIMIT     200000u

static struct gp_decoder decoder = {.version = 130001};
static uint64_t now_ns = SECOND_NS;
static __thread struct gp_launches *here;

/* The names in the trace, by correlation id. */
static struct {
	char names[LIMIT][32];   /* by name id */
	uint32_t emitted[LIMIT]; /* id of the name, 0 = not emitted */
	uint32_t count, unflushed;
	struct gp_record_in_flight launches[16]; /* the last record of each small correlation id */
	struct gp_record_stream_wait waits[100];
	uint32_t wait_count;
} found;

static void begin(void)
{
	start_in(GP_RINGS_MEMORY);
	gp_emit_always_waits();
	gp_in_flight_begin();
}

#define LAUNCH            (GP_API_DRIVER | CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
#define LAUNCH_PER_THREAD (GP_API_DRIVER | CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz)

static void launch_into(uint64_t stream, uint32_t id, uint16_t context, uint16_t api)
{
	gp_in_flight_note(&here, (struct gp_launch){.name = (uint64_t)(uintptr_t) "into",
						    .stream = stream,
						    .correlation_id = id,
						    .context = context,
						    .api = api});
}

static void launch(uint32_t id, const char *name)
{
	gp_in_flight_note(&here, (struct gp_launch){.name = (uint64_t)(uintptr_t)name,
						    .stream = GP_LAUNCH_STREAM_IS_UNKNOWN,
						    .correlation_id = id});
}

static void wait_for(uint64_t stream, uint32_t id, uint16_t context)
{
	gp_in_flight_note_wait(&here, (struct gp_launch){.stream = stream,
							 .correlation_id = id,
							 .context = context,
							 .api = LAUNCH});
}

/* The kernel record of a launch arrives. */
static void arrive(uint32_t id)
{
	static uint64_t bytes[64];
	gp_kernel_view *kernel = (gp_kernel_view *)bytes;

	kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	kernel->correlationId = id;
	kernel->name = "came";
	gp_decode(&decoder, (const CUpti_Activity *)bytes);
}

static void scan_after(uint64_t ns)
{
	now_ns += ns;
	gp_in_flight_scan(&decoder, now_ns, true);
}

static void note_found(void *context, const struct found *one)
{
	const struct any_record *record = one->record;

	(void)context;
	if (record->record.kind == GP_RECORD_STRING && record->string.space == GP_STRING_KERNEL) {
		CHECK(record->string.id < LIMIT && record->string.length_bytes < 32);
		memcpy(found.names[record->string.id], record->text, record->string.length_bytes);
	}
	if (record->record.kind == GP_RECORD_STREAM_WAIT && found.wait_count < 100)
		found.waits[found.wait_count++] = record->stream_wait;
	if (record->record.kind != GP_RECORD_IN_FLIGHT)
		return;
	if (record->in_flight.correlation_id < 16)
		found.launches[record->in_flight.correlation_id] = record->in_flight;
	CHECK(record->in_flight.correlation_id < LIMIT && record->in_flight.name_id != 0);
	CHECK(record->in_flight.ticks != 0 && found.emitted[record->in_flight.correlation_id] == 0);
	found.emitted[record->in_flight.correlation_id] = record->in_flight.name_id;
	found.count++;
	found.unflushed += record->in_flight.unflushed;
}

static void end(void)
{
	static struct scan scan = {.fn = note_found};

	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
}

static bool is_emitted(uint32_t id, const char *name)
{
	return found.emitted[id] != 0 && strcmp(found.names[found.emitted[id]], name) == 0;
}

/* ---- which launches ---- */

static void emit_overdue(void)
{
	begin();
	launch(1, "spin");
	launch(2, "after");
	launch(3, "done");
	scan_after(0);
	arrive(3);
	scan_after(SECOND_NS / 2);
	launch(4, "young");
	scan_after(SECOND_NS /
		   2); /* the first two were launched before the last scan, a second ago */
	scan_after(SECOND_NS);
	arrive(4);
	end();
	CHECK(is_emitted(1, "spin") && is_emitted(2, "after") && is_emitted(4, "young"));
	CHECK(found.count == 3 && found.unflushed == 0);
}

static void emit_none_with_record(void)
{
	begin();
	for (uint32_t i = 1; i < 10000; i++) {
		launch(i, "kernel");
		if (i % 100 == 0) /* the records of the last launches arrive before the next scan */
			scan_after(SECOND_NS / 4);
		if (i > 20)
			arrive(i - 20);
	}
	end();
	CHECK(found.count == 0);
}

static void emit_young_with_overdue(void)
{
	begin();
	launch(1, "spin");
	scan_after(0);
	scan_after(SECOND_NS / 2);
	launch(2, "young");
	scan_after(SECOND_NS / 2);
	end();
	CHECK(is_emitted(1, "spin") && is_emitted(2, "young"));
}

/* All threads share the ids: those of an idle thread soon fall behind the received ones. */
static void emit_no_idle_threads(void)
{
	begin();
	for (uint32_t i = 1; i <= 3000; i++)
		launch(i, "setup");
	for (uint32_t i = 1; i <= 3000; i++)
		arrive(i);
	for (uint32_t i = 3001; i < 180000; i++) {
		arrive(i); /* of another thread */
		if (i % 4500 == 0)
			scan_after(SECOND_NS / 20);
	}
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.count == 0);
}

/*
 * Many records arrive, as from another GPU.  They do not hide that the thread's own record is
 * missing.
 */
static void emit_overdue_behind_many(void)
{
	begin();
	arrive(1);
	scan_after(0);
	launch(2, "spin");
	for (uint32_t i = 3; i < 180000; i++) {
		arrive(i);
		if (i % 4500 == 0)
			scan_after(SECOND_NS / 10);
	}
	end();
	CHECK(is_emitted(2, "spin") && found.count == 1);
}

static void come_late_and_out_of_order(void)
{
	begin();
	launch(2, "early");
	launch(2 + GP_DECODE_ARRIVED_KEPT, "late");
	arrive(2 + GP_DECODE_ARRIVED_KEPT);
	arrive(2);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.count == 0);
}

/* Later launches overwrite the note before it is overdue. */
static void emit_overwritten(void)
{
	begin();
	launch(1, "spin");
	scan_after(0);
	for (uint32_t i = 2; i < 9000; i++)
		launch(i, "after");
	scan_after(SECOND_NS / 2);
	scan_after(SECOND_NS / 2);
	end();
	CHECK(is_emitted(1, "spin") && is_emitted(8999, "after") && !is_emitted(4000, "after"));
	CHECK(found.count == 64 + GP_IN_FLIGHT_KEPT - 63);
}

/* CUPTI was not flushed: launches of a thread that continues may have ended. */
static void emit_unflushed(void)
{
	begin();
	for (uint32_t i = 1; i <= 10; i++) {
		launch(i, "step");
		now_ns += SECOND_NS;
		gp_in_flight_scan(&decoder, now_ns, false);
	}
	CHECK(gp_in_flight_noted() == 10);
	now_ns += SECOND_NS;
	gp_in_flight_scan(&decoder, now_ns, false);
	end();
	CHECK(found.count == 10 && found.unflushed == 10);
}

static void emit_all_at_the_end(void)
{
	begin();
	launch(1, "one");
	launch(2, "two");
	arrive(2);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(is_emitted(1, "one") && found.count == 1);
}

static void emit_until_it_is_over(void)
{
	begin();
	launch(1, "one");
	gp_in_flight_emit(&decoder, true, gp_sys_now_ns());
	end();
	CHECK(found.count == 0);
}

/* If ids do not identify launches, no record can be matched. */
static void emit_nothing_without_ids(void)
{
	begin();
	launch(1, "one");
	decoder.warned_no_ids = true;
	scan_after(0);
	scan_after(SECOND_NS);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.count == 0);
}

static void before_it_begins(void)
{
	start_in(GP_RINGS_MEMORY);
	launch(1, "one");
	CHECK(here == NULL && gp_in_flight_noted() == 0);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.count == 0);
}

/* ---- streams ---- */

static bool is_of(const struct gp_record_stream_wait *wait, uint32_t launch_id)
{
	const struct gp_record_in_flight *launch = &found.launches[launch_id];

	return launch->stream != 0 && wait->stream == launch->stream && wait->era == launch->era;
}

/* Waits are emitted after the launches, including earlier waits: the reader compares times. */
static void emit_waits_behind_launches(void)
{
	begin();
	gp_api_table_init();
	wait_for(0x700, 1, 1);
	launch_into(0x700, 2, 1, LAUNCH);
	launch_into(0x800, 3, 1, LAUNCH);
	launch(4, "somewhere");
	scan_after(0);
	wait_for(0x700, 5, 1);
	scan_after(SECOND_NS);
	scan_after(SECOND_NS);
	wait_for(0x800, 6, 1); /* after the launch was emitted */
	scan_after(SECOND_NS);
	end();
	CHECK(found.count == 3 && found.wait_count == 3);
	CHECK(found.waits[1].correlation_id == 5 && is_of(&found.waits[1], 2));
	CHECK(found.waits[2].correlation_id == 6 && is_of(&found.waits[2], 3));
	CHECK(!is_of(&found.waits[1], 3) && found.launches[4].stream == 0);
}

static void emit_no_waits_if_all_arrive(void)
{
	begin();
	launch_into(0x700, 1, 1, LAUNCH);
	arrive(1);
	wait_for(0x700, 2, 1);
	scan_after(SECOND_NS);
	scan_after(SECOND_NS);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	CHECK(gp_in_flight_noted() == 1); /* only launches count: cupti_conflict.h needs that */
	end();
	CHECK(found.count == 0 && found.wait_count == 0);
}

static void emit_the_last_waits(void)
{
	begin();
	launch_into(0x700, 1, 1, LAUNCH);
	for (uint32_t i = 2; i < 1000; i++)
		wait_for(0x800, i, 1);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.wait_count == GP_IN_FLIGHT_WAITS);
	CHECK(found.waits[GP_IN_FLIGHT_WAITS - 1].correlation_id == 999);
}

static void end_an_era(void)
{
	begin();
	launch_into(0x700, 1, 1, LAUNCH);
	gp_in_flight_end_era();
	wait_for(0x700, 2, 1); /* another stream with the same handle */
	launch_into(0x700, 3, 1, LAUNCH);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.wait_count == 1 && !is_of(&found.waits[0], 1) && is_of(&found.waits[0], 3));
}

static void *launch_per_thread(void *unused)
{
	launch_into(0, 4, 1, LAUNCH_PER_THREAD);
	return unused;
}

/* 0 and 1, and for some calls 2, are default streams of a context, or of a thread in it. */
static void emit_default_streams_apart(void)
{
	pthread_t thread;

	begin();
	gp_api_table_init();
	launch_into(0, 1, 1, LAUNCH);
	launch_into(0, 2, 2, LAUNCH);
	launch_into(0, 3, 1, LAUNCH_PER_THREAD);
	CHECK(pthread_create(&thread, NULL, launch_per_thread, NULL) == 0);
	pthread_join(thread, NULL);
	launch_into(0, 5, 1, LAUNCH);
	launch_into(2, 6, 1, LAUNCH);
	wait_for(1, 7, 1);
	wait_for(2, 8, 1);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.count == 6 && found.wait_count == 2);
	CHECK(is_of(&found.waits[0], 5) && is_of(&found.waits[1], 6));
	CHECK(found.launches[1].stream == found.waits[0].stream);
	CHECK(found.launches[2].stream != found.waits[0].stream);
	CHECK(found.launches[3].stream == found.waits[1].stream);
	CHECK(found.launches[4].stream != found.waits[1].stream);
	CHECK(found.launches[1].era != found.launches[5].era); /* because a thread has ended */
}

/* ---- names ---- */

/* The end of two mapped pages; the next page is unmapped. */
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
	strcpy(pages + 250, "{'step':1}");
	strcpy(pages + 270, "1st");
	strcpy(pages + 280, "_Z4stepPf.llvm$1");
	strcpy(gone, "unloaded");
	launch(1, pages + 4096 - 3);
	launch(2, pages + 2 * 4096 - 5);
	launch(3, pages + 100);
	launch(4, pages + 200);
	launch(5, gone);
	launch(6, NULL);
	launch(7, pages + 2 * 4096);
	launch(8, pages + 300); /* "" */
	launch(9, pages + 250);
	launch(10, pages + 270);
	launch(11, pages + 280);
	memset(pages + 2 * 4096 - 9, 'x', 4); /* without a NUL before the end */
	CHECK(munmap(gone, 4096) == 0);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(is_emitted(1, "across") && is_emitted(2, "edge") &&
	      is_emitted(11, "_Z4stepPf.llvm$1") && found.count == 3);
}

/* ---- threads ---- */

static void *launch_one(void *id)
{
	launch((uint32_t)(uintptr_t)id, "threads");
	return here;
}

/* The launches of an ended thread are emitted, and the next thread gets its memory. */
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
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(is_emitted(1, "threads") && is_emitted(2, "threads") && is_emitted(3, "mains"));
}

#define AT_ONCE 256u

static uint32_t may_end, waiting;

static void *launch_and_stay(void *id)
{
	launch((uint32_t)(uintptr_t)id, "stays");
	gp_add32_ordered(&waiting, 1);
	while (gp_load32_acquire(&may_end) == 0)
		sched_yield();
	return here;
}

/* A thread without a slot is counted, and searches again after another thread has ended. */
static void more_threads_than_places(void)
{
	pthread_t threads[AT_ONCE];

	begin();
	launch(999, "mains");
	for (uintptr_t i = 0; i < AT_ONCE; i++)
		CHECK(pthread_create(&threads[i], NULL, launch_and_stay, (void *)(i + 1)) == 0);
	while (gp_load32_acquire(&waiting) < AT_ONCE)
		sched_yield();
	CHECK(gp_in_flight_noted() == 1 + AT_ONCE); /* one of them without a slot */
	gp_store32_release(&may_end, 1);
	for (uintptr_t i = 0; i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(found.count == AT_ONCE);
}

static void *refused_then_not(void *unused)
{
	launch(1, "refused");
	launch(2, "refused");
	gp_add32_ordered(&waiting, 1);
	while (gp_load32_acquire(&may_end) < 2)
		sched_yield();
	launch(3, "noted");
	return unused;
}

static void a_place_that_is_free_again(void)
{
	pthread_t threads[AT_ONCE], late;

	begin();
	for (uintptr_t i = 0; i < AT_ONCE; i++)
		CHECK(pthread_create(&threads[i], NULL, launch_and_stay, (void *)(i + 10)) == 0);
	while (gp_load32_acquire(&waiting) < AT_ONCE)
		sched_yield();
	CHECK(pthread_create(&late, NULL, refused_then_not, NULL) == 0);
	while (gp_load32_acquire(&waiting) < AT_ONCE + 1)
		sched_yield();
	gp_store32_release(&may_end, 1);
	for (uintptr_t i = 0; i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
	gp_store32_release(&may_end, 2);
	pthread_join(late, NULL);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(is_emitted(3, "noted") && found.count == AT_ONCE + 1);
}

/* ---- concurrent reads and writes ---- */

/* The next launch in a slot has another name. */
static const char *name_of(uint32_t id)
{
	return (id / GP_IN_FLIGHT_KEPT) % 2 ? "odd" : "even";
}

#define THREAD_IDS (1u << 28)

static void *launch_on(void *first)
{
	for (uint32_t id = (uint32_t)(uintptr_t)first; gp_load32(&may_end) == 0; id++)
		launch(id, name_of(id));
	return NULL;
}

static void check_name(void *context, const struct found *one)
{
	const struct gp_record_in_flight *record = &one->record->in_flight;

	(void)context;
	if (!is_kind(one, GP_RECORD_IN_FLIGHT)) {
		note_found(NULL, one);
		return;
	}
	CHECK(strcmp(found.names[record->name_id], name_of(record->correlation_id)) == 0);
	found.count++;
}

static void check_names(void)
{
	static struct scan scan = {.fn = check_name};

	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(scan_trace(&scan, gp_collector_trace_path()) && scan.error == NULL);
	CHECK(found.count > 0);
}

static void threads_that_launch_meanwhile(void)
{
	pthread_t threads[2];

	begin();
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, launch_on,
				     (void *)((i + 1) * THREAD_IDS)) == 0);
	while (gp_in_flight_noted() < 20 * GP_IN_FLIGHT_KEPT)
		;
	for (uint32_t i = 0; i < 20; i++)
		gp_in_flight_emit(&decoder, true, UINT64_MAX);
	gp_store32(&may_end, 1);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	check_names();
}

/* An intermediate state: a slot is reserved, and not completely written. */
static void notes_that_are_being_written(void)
{
	struct gp_launch *second;

	begin();
	for (uint32_t id = 1; id <= 3; id++)
		launch(id, "whole");
	second = &here->kept[1];
	second->name = (uint64_t)(uintptr_t) "torn";
	second->written = GP_LAUNCH_IS_BEING_WRITTEN;
	here->kept[3] = *second;
	scan_after(SECOND_NS);
	second->name = (uint64_t)(uintptr_t) "whole";
	second->written = (uint32_t)(2 * sizeof(*second));
	here->noted_bytes += sizeof(*second); /* the fourth note is never written */
	scan_after(SECOND_NS);
	scan_after(SECOND_NS);
	gp_in_flight_emit(&decoder, true, UINT64_MAX);
	end();
	CHECK(is_emitted(1, "whole") && is_emitted(2, "whole") && is_emitted(3, "whole") &&
	      found.count == 3);
}

#define HANDLER_IDS (1u << 30)

static volatile uint32_t signals;

static void launch_in_handler(int number)
{
	(void)number;
	signals++;
	launch(HANDLER_IDS + signals, "handler");
}

static void check_kept(void)
{
	const struct gp_launch *kept = here->kept;

	for (uint32_t i = 0; i < GP_IN_FLIGHT_KEPT && kept[i].name != 0; i++)
		CHECK((strcmp((const char *)(uintptr_t)kept[i].name, "handler") == 0) ==
		      (kept[i].correlation_id > HANDLER_IDS));
}

/* A signal in the middle of a note leaves both notes intact. */
static void handlers_that_launch(void)
{
	const struct itimerval often = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
	sigset_t alarms;
	uint32_t id = 1;

	begin();
	launch(id, "program");
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	signal(SIGALRM, launch_in_handler);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
	while (signals < 5000) {
		for (uint32_t i = 0; i < 1000; i++)
			launch(++id, "program");
		sigprocmask(SIG_BLOCK, &alarms, NULL);
		check_kept();
		sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	}
	CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
	end();
}

#define CASE(name, body)                                                                           \
	static void name(void **state)                                                             \
	{                                                                                          \
		run_case(body);                                                                    \
	}

CASE(overdue_launches_are_emitted_once, emit_overdue)
CASE(launches_with_a_record_are_not_emitted, emit_none_with_record)
CASE(all_open_launches_are_emitted_with_overdue_ones, emit_young_with_overdue)
CASE(an_overwritten_launch_is_emitted_if_remembered, emit_overwritten)
CASE(without_a_flush_only_idle_threads_have_overdue_launches, emit_unflushed)
CASE(the_end_emits_launches_without_a_record, emit_all_at_the_end)
CASE(nothing_is_emitted_without_distinct_ids, emit_nothing_without_ids)
CASE(nothing_is_noted_before_it_begins, before_it_begins)
CASE(an_unmapped_name_is_not_a_name, names_that_are_gone)
CASE(launches_outlive_their_thread, threads_that_end)
CASE(names_belong_to_their_launches, threads_that_launch_meanwhile)
CASE(unfinished_notes_are_not_read, notes_that_are_being_written)
CASE(a_launching_handler_tears_no_note, handlers_that_launch)
CASE(a_launch_without_a_slot_is_counted, more_threads_than_places)
CASE(a_freed_slot_is_reused, a_place_that_is_free_again)
CASE(idle_threads_are_not_emitted, emit_no_idle_threads)
CASE(overdue_launches_before_many_records_are_emitted, emit_overdue_behind_many)
CASE(records_out_of_order_have_arrived, come_late_and_out_of_order)
CASE(emission_ends_in_time, emit_until_it_is_over)
CASE(waits_are_emitted_after_launches, emit_waits_behind_launches)
CASE(no_wait_is_emitted_if_all_records_arrive, emit_no_waits_if_all_arrive)
CASE(the_last_waits_are_emitted, emit_the_last_waits)
CASE(a_handle_is_of_its_era, end_an_era)
CASE(default_streams_are_distinct, emit_default_streams_apart)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overdue_launches_are_emitted_once),
		cmocka_unit_test(launches_with_a_record_are_not_emitted),
		cmocka_unit_test(all_open_launches_are_emitted_with_overdue_ones),
		cmocka_unit_test(an_overwritten_launch_is_emitted_if_remembered),
		cmocka_unit_test(without_a_flush_only_idle_threads_have_overdue_launches),
		cmocka_unit_test(the_end_emits_launches_without_a_record),
		cmocka_unit_test(nothing_is_emitted_without_distinct_ids),
		cmocka_unit_test(nothing_is_noted_before_it_begins),
		cmocka_unit_test(an_unmapped_name_is_not_a_name),
		cmocka_unit_test(launches_outlive_their_thread),
		cmocka_unit_test(names_belong_to_their_launches),
		cmocka_unit_test(unfinished_notes_are_not_read),
		cmocka_unit_test(a_launching_handler_tears_no_note),
		cmocka_unit_test(a_launch_without_a_slot_is_counted),
		cmocka_unit_test(a_freed_slot_is_reused),
		cmocka_unit_test(idle_threads_are_not_emitted),
		cmocka_unit_test(overdue_launches_before_many_records_are_emitted),
		cmocka_unit_test(records_out_of_order_have_arrived),
		cmocka_unit_test(emission_ends_in_time),
		cmocka_unit_test(waits_are_emitted_after_launches),
		cmocka_unit_test(no_wait_is_emitted_if_all_records_arrive),
		cmocka_unit_test(the_last_waits_are_emitted),
		cmocka_unit_test(a_handle_is_of_its_era),
		cmocka_unit_test(default_streams_are_distinct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
