#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/load/load_model.h"
#include "report/trace/recover.h"
#include "tests/report/ring_scene.h"
#include "tests/unit.h"

static void assert_starts(const struct gp_model *m, const uint64_t *starts, uint32_t count)
{
	assert_int_equal(m->call_count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(m->calls[i].start_ns, starts[i]);
}

static void test_what_no_chunk_has_is_recovered(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	const uint64_t starts[] = {100, 200, 300, 700};
	struct gp_model *m;

	gp_builder_chunk(&s->b, 4, 400);
	gp_builder_call(&s->b, GP_TEST_SYNC, 0, 100, 5);
	for (uint64_t ns = 100; ns <= 300; ns += 100)
		publish(s, 0, ns); /* the first one is in the chunk, though tail does not say so */
	publish(s, 2, 700);
	s->file.rings[0].header.lost = 3;
	s->file.rings[2].header.lost = 4;
	s->file.rings[1].header.hooks = 50;
	s->file.rings[0].header.counters[GP_COUNTER_HOOKS] = 1;
	s->file.rings[0].header.counters[GP_COUNTER_LOST_NESTED] = 6;
	m = load(s);
	assert_starts(m, starts, 4);
	assert_int_equal(m->calls[0].thread_id, 400);
	assert_int_equal(m->calls[3].thread_id, 402);
	assert_int_equal(m->losses.recovered_records, 3);
	assert_int_equal(m->losses.unknown_records, 0);
	assert_int_equal(m->counters[GP_COUNTER_LOST_RING_FULL], 7);
	assert_int_equal(m->counters[GP_COUNTER_HOOKS], 51);
	assert_int_equal(m->counters[GP_COUNTER_LOST_NESTED], 6);
	assert_false(m->losses.live);
	assert_false(m->losses.closed);
	assert_int_equal(m->note_count, 0);
	gp_model_free(m);
	free_scene(s);
}

/*
 * As two busy threads leave them: what has been read of each ring is known however many chunks
 * there are.
 */
static void test_many_chunks_of_rings_by_turns(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	const uint64_t chunks = 3000; /* of each */
	struct gp_model *m;

	for (uint64_t i = 0; i < 2 * chunks; i++) {
		uint32_t ring = i % 2;

		gp_builder_chunk(&s->b, 4 + ring, 400 + ring);
		gp_builder_call(&s->b, GP_TEST_SYNC, 0, 100 + 10 * i, 5);
		publish(s, ring, 100 + 10 * i);
	}
	publish(s, 1, 100 + 20 * chunks);
	for (uint32_t i = 0; i < 2; i++)
		s->file.rings[i].header.tail = s->file.rings[i].header.head - SLOTS;
	m = load(s);
	assert_int_equal(m->call_count, 2 * chunks + 1);
	assert_int_equal(m->losses.recovered_records, 1);
	assert_int_equal(m->calls[2 * chunks].start_ns, 100 + 20 * chunks);
	assert_int_equal(m->calls[2 * chunks].thread_id, 401);
	gp_model_free(m);
	free_scene(s);
}

/* A thread is in a call as long as it has published nothing since. */
static void test_calls_that_had_not_returned(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_ring_header *header = &s->file.rings[1].header;
	struct gp_model *m;

	publish(s, 0, 100);
	publish(s, 1, 200);
	s->file.rings[0].header.call_ticks = GP_TEST_AT_TICK(90); /* has returned */
	header->call_ticks = GP_TEST_AT_TICK(300);
	header->call_head = 1;
	header->call_api = 9;
	m = load(s);
	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->waiting_count, 1);
	assert_int_equal(m->waiting[0].start_ns, 300);
	assert_int_equal(m->waiting[0].thread_id, 401);
	assert_string_equal(gp_model_api(m, m->waiting[0].api).name, "runtime cbid 9");
	gp_model_free(m);
	free_scene(s);
}

/* Positions have gone round the ring, and a record of several slots lies across its end. */
static void test_records_across_the_end_of_the_ring(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_record_kernel kernel = {.kind = GP_RECORD_KERNEL,
					  .slots = 2,
					  .start_ns = GP_TEST_CUPTI(50),
					  .end_ns = GP_TEST_CUPTI(60)};
	struct test_ring *r = &s->file.rings[1];
	struct gp_model *m;

	r->header.head = r->header.tail = 2 * SLOTS + 6;
	publish(s, 1, 100);
	memcpy(r->slots[7], &kernel, GP_SLOT_BYTES);
	memcpy(r->slots[0], (char *)&kernel + GP_SLOT_BYTES, GP_SLOT_BYTES);
	r->header.head += 2;
	publish(s, 1, 200);
	m = load(s);
	assert_int_equal(m->call_count, 2);
	assert_int_equal(m->op_count, 1);
	assert_int_equal(m->ops[0].start_ns, 50);
	assert_int_equal(m->losses.recovered_records, 3);
	gp_model_free(m);
	free_scene(s);
}

/* What the writer has given back may be overwritten, whatever became of its chunk. */
static void test_slots_before_tail_are_not_touched(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	const uint64_t starts[] = {300};
	struct gp_model *m;

	for (uint64_t ns = 100; ns <= 300; ns += 100)
		publish(s, 0, ns);
	s->file.rings[0].header.tail = 2;
	m = load(s);
	assert_starts(m, starts, 1);
	gp_model_free(m);
	free_scene(s);
}

static void test_rings_that_cannot_be(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	const uint64_t starts[] = {300};
	struct gp_model *m;

	publish(s, 0, 100);
	publish(s, 1, 200);
	publish(s, 2, 300);
	s->file.rings[0].header.tail = UINT64_MAX - 5; /* more slots than the ring has */
	s->file.rings[1].header.ring = 0;              /* never used */
	m = load(s);
	assert_starts(m, starts, 1);
	gp_model_free(m);
	/* a size that is no power of two, or far too large, ends the file */
	s->file.rings[1].header.slot_count = 7;
	m = load(s);
	assert_int_equal(m->call_count, 0);
	gp_model_free(m);
	s->file.rings[1].header.slot_count = 1u << 31;
	m = load(s);
	assert_int_equal(m->call_count, 0);
	gp_model_free(m);
	free_scene(s);
}

/* ---- whose file it is ---- */

static void assert_not_taken(struct scene *s, const char *why)
{
	struct gp_model *m;

	publish(s, 0, 100);
	m = load(s);
	assert_int_equal(m->call_count, 0);
	assert_int_equal(m->losses.recovered_records, 0);
	assert_int_equal(m->note_count, 1);
	if (!strstr(m->notes[0], why))
		fail_msg("\"%s\" does not say \"%s\"", m->notes[0], why);
	gp_model_free(m);
	free_scene(s);
}

static void test_ring_file_of_another(void **state)
{
	struct scene *s = new_scene_of_the_dead();

	s->file.header.pid++;
	assert_not_taken(s, "belongs to another process");
	s = new_scene_of_the_dead();
	s->file.header.start_time++;
	assert_not_taken(s, "belongs to another process");
	s = new_scene_of_the_dead();
	s->file.header.boot_id[0] ^= 1;
	assert_not_taken(s, "belongs to another process");
	s = new_scene_of_the_dead();
	strcpy(s->file.header.trace_path, "/proc/self/exe"); /* there, and not our trace */
	assert_not_taken(s, "belongs to another process");
	s = new_scene_of_the_dead();
	s->file.header.magic[0] = 'x';
	assert_not_taken(s, "cannot be read");
}

static void test_ring_file_that_is_gone(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_model *m;

	unlink(s->path);
	m = gp_builder_load(&s->b);
	assert_int_equal(m->note_count, 1);
	assert_non_null(strstr(m->notes[0], "is gone"));
	gp_model_free(m);
	free_scene(s);
}

static void test_trace_that_was_moved(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_model *m;

	strcpy(s->file.header.trace_path, "/tmp/gpuprof-test-where-it-was.gpuprof");
	publish(s, 0, 100);
	m = load(s);
	assert_int_equal(m->losses.recovered_records, 1);
	gp_model_free(m);
	free_scene(s);
}

/* Where the trace says that it is complete, rings are of no interest. */
static void test_closed_trace_leaves_rings_alone(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_model *m;

	publish(s, 0, 100);
	gp_builder_end(&s->b, 500);
	m = load(s);
	assert_int_equal(m->call_count, 0);
	assert_int_equal(m->note_count, 0);
	assert_true(m->losses.closed);
	gp_model_free(m);
	free_scene(s);
}

/* A path in a trace may name anything: what is no plain file is not opened for long. */
/* Whoever owns its folder may put another file at its name. */
static void test_only_the_opened_file_is_removed(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	char beside[80];
	int file;

	write_rings(s);
	file = gp_rings_open(s->path);
	snprintf(beside, sizeof(beside), "%s-moved", s->path);
	assert_int_equal(rename(s->path, beside), 0);
	write_rings(s);
	gp_rings_remove(s->path, file);
	assert_int_equal(access(s->path, F_OK), 0);
	assert_int_equal(unlink(s->path), 0);
	assert_int_equal(symlink(beside, s->path), 0);
	gp_rings_remove(s->path, file);
	assert_int_equal(access(beside, F_OK), 0);
	gp_rings_remove(beside, file);
	assert_int_equal(access(beside, F_OK), -1);
	close(file);
	free_scene(s);
}

static void test_ring_path_that_is_no_file(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_model *m;

	gp_builder_string(&s->b, GP_STRING_INFO, GP_INFO_RING_FILE, 0, "/dev/zero");
	m = load(s);
	assert_non_null(strstr(m->notes[0], "cannot be read"));
	gp_model_free(m);
	free_scene(s);
}

/* ---- live processes ---- */

static void test_live_process(void **state)
{
	struct scene *s = new_scene((uint32_t)getpid(), start_time_of(getpid()));
	const uint64_t starts[] = {100};
	struct gp_model *m;

	publish(s, 0, 100);
	m = load(s);
	assert_true(m->losses.live);
	assert_true(m->rings_monotonic_ns > 0);
	assert_starts(m, starts, 1);
	assert_int_equal(m->losses.recovered_records, 0); /* nothing had to be */
	gp_model_free(m);
	free_scene(s);
}

static void test_another_process_with_its_pid(void **state)
{
	struct scene *s = new_scene((uint32_t)getpid(), start_time_of(getpid()) + 1);
	struct gp_model *m;

	m = load(s);
	assert_false(m->losses.live);
	gp_model_free(m);
	free_scene(s);
}

static void test_process_that_was_not_reaped_is_dead(void **state)
{
	pid_t pid = fork();
	struct gp_process process = {.pid = (uint32_t)pid};
	char boot_id[40];
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	process.start_time = start_time_of(pid);
	read_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	process.boot_id = boot_id;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_false(gp_process_is_live(&process));
	waitpid(pid, NULL, 0);
}

static void test_process_before_the_last_boot(void **state)
{
	struct gp_process process = {(uint32_t)getpid(), start_time_of(getpid()),
				     "00000000-0000-0000-0000-000000000000"};

	assert_false(gp_process_is_live(&process));
	process.boot_id = NULL;
	assert_false(gp_process_is_live(&process));
}

/* ---- the order of ring and file ---- */

/* The writer may move slots to the file after the rings were read: the file then counts. */
static void test_chunks_written_meanwhile_are_not_doubled(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_process process = {s->file.header.pid, s->file.header.start_time,
				     s->file.header.boot_id};
	struct gp_rings rings;
	const uint8_t *slots;
	int file;

	for (uint64_t ns = 100; ns <= 500; ns += 100)
		publish(s, 1, ns);
	strcpy(s->file.header.trace_path, "/tmp/gone");
	write_rings(s);
	file = gp_rings_open(s->path);
	assert_int_equal(gp_rings_read(file, "/tmp/other", &process, &rings), 0);
	close(file);
	assert_int_equal(rings.count, 1);
	assert_int_equal(gp_ring_left(&rings.rings[0], &slots), 5);
	gp_rings_cover(&rings, 5, 3);
	gp_rings_cover(&rings, 5, 2);  /* chunks of one ring may come late after damage */
	gp_rings_cover(&rings, 4, 99); /* other rings */
	gp_rings_cover(&rings, 6, 99);
	assert_int_equal(gp_ring_left(&rings.rings[0], &slots), 2);
	assert_ptr_equal(slots, rings.rings[0].slots + 3 * GP_SLOT_BYTES);
	gp_rings_cover(&rings, 5, 1000);
	assert_int_equal(gp_ring_left(&rings.rings[0], &slots), 0);
	gp_rings_free(&rings);
	free_scene(s);
}

/* ---- a process at work ---- */

#define CALLS_AT_WORK 5000u

/* Move up to SLOTS calls of a ring to the file, as a writer does: one write(), then the slots are
 * given back. */
static void drain(struct scene *s, struct test_ring *ring, int trace)
{
	size_t written = s->b.length;

	gp_builder_chunk(&s->b, ring->header.ring, ring->header.thread);
	for (uint64_t at = ring->header.tail; at < ring->header.head; at++)
		gp_builder_add(&s->b, ring->slots[at % SLOTS]);
	gp_builder_seal(&s->b);
	if (write(trace, s->b.bytes + written, s->b.length - written) < 0)
		_exit(1);
	__atomic_store_n(&ring->header.tail, ring->header.head, __ATOMIC_RELEASE);
}

/* In the child: publish calls 0, 1, 2, ... and drain now and then; then wait to be killed. */
static void work(struct scene *s, struct test_file *shared, int trace)
{
	struct test_ring *ring = &shared->rings[0];

	for (uint32_t i = 0; i < CALLS_AT_WORK; i++) {
		struct gp_record_call call = {.kind = GP_RECORD_CALL,
					      .slots = 1,
					      .api = GP_TEST_SYNC,
					      .correlation_id = i,
					      .start_ticks = GP_TEST_AT_TICK(10 * i)};

		memcpy(ring->slots[ring->header.head % SLOTS], &call, sizeof(call));
		__atomic_store_n(&ring->header.head, ring->header.head + 1, __ATOMIC_RELEASE);
		if (ring->header.head - ring->header.tail == SLOTS || i % 13 == 0)
			drain(s, ring, trace);
	}
	for (;;)
		pause();
}

static pid_t start_work(struct scene *s)
{
	int rings = open(s->path, O_RDWR | O_CLOEXEC), ready[2];
	int trace = open(gp_builder_save(&s->b), O_WRONLY | O_APPEND | O_CLOEXEC);
	struct test_file *shared;
	char byte;
	pid_t pid;

	write_rings(s);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, rings, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		size_t written = s->b.length;

		shared->header.pid = (uint32_t)getpid();
		shared->header.start_time = start_time_of(getpid());
		gp_builder_chunk(&s->b, 0, 0);
		add_number(&s->b, GP_INFO_PID, shared->header.pid);
		add_number(&s->b, GP_INFO_START_TIME, shared->header.start_time);
		gp_builder_seal(&s->b);
		if (write(trace, s->b.bytes + written, s->b.length - written) < 0 ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		work(s, shared, trace);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(rings);
	close(trace);
	munmap(shared, sizeof(*shared));
	return pid;
}

/* Every call from the first to some last one is there, once. */
static uint32_t assert_no_gap(struct scene *s, bool live)
{
	char message[256] = "";
	struct gp_model *m = NULL;
	uint32_t count;

	if (gp_model_load(s->b.path, &m, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	count = m->call_count;
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(m->calls[i].correlation_id, i);
	assert_int_equal(m->losses.live, live);
	assert_int_equal(m->losses.damaged_bytes, 0);
	assert_int_equal(m->losses.unknown_records, 0);
	gp_model_free(m);
	return count;
}

static void test_process_at_work_is_read_without_gap(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	uint32_t count = 0, before;
	pid_t pid;

	strcpy(s->file.header.trace_path, "/tmp/gpuprof-test-where-it-was.gpuprof");
	pid = start_work(s);
	do {
		before = count;
		count = assert_no_gap(s, true);
		assert_true(count >= before);
	} while (count < CALLS_AT_WORK);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(assert_no_gap(s, false), CALLS_AT_WORK);
	free_scene(s);
}

static void test_process_killed_at_work_has_no_gap(void **state)
{
	for (int i = 0; i < 10; i++) {
		struct scene *s = new_scene_of_the_dead();
		pid_t pid;

		strcpy(s->file.header.trace_path, "/tmp/gpuprof-test-where-it-was.gpuprof");
		pid = start_work(s);
		while (assert_no_gap(s, true) < 50u * (uint32_t)i)
			;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_no_gap(s, false);
		free_scene(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_no_chunk_has_is_recovered),
		cmocka_unit_test(test_many_chunks_of_rings_by_turns),
		cmocka_unit_test(test_calls_that_had_not_returned),
		cmocka_unit_test(test_records_across_the_end_of_the_ring),
		cmocka_unit_test(test_slots_before_tail_are_not_touched),
		cmocka_unit_test(test_rings_that_cannot_be),
		cmocka_unit_test(test_ring_file_of_another),
		cmocka_unit_test(test_ring_file_that_is_gone),
		cmocka_unit_test(test_trace_that_was_moved),
		cmocka_unit_test(test_closed_trace_leaves_rings_alone),
		cmocka_unit_test(test_only_the_opened_file_is_removed),
		cmocka_unit_test(test_ring_path_that_is_no_file),
		cmocka_unit_test(test_live_process),
		cmocka_unit_test(test_another_process_with_its_pid),
		cmocka_unit_test(test_process_that_was_not_reaped_is_dead),
		cmocka_unit_test(test_process_before_the_last_boot),
		cmocka_unit_test(test_chunks_written_meanwhile_are_not_doubled),
		cmocka_unit_test(test_process_at_work_is_read_without_gap),
		cmocka_unit_test(test_process_killed_at_work_has_no_gap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
