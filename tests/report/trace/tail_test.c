#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/trace/tail.h"
#include "tests/report/ring_scene.h"
#include "tests/unit.h"

/* A trace that grows, its process's rings, and what was read of both: starts of calls. */
struct reading {
	struct scene *scene;
	size_t written;
	struct gp_tail *tail;
	uint64_t starts[64];
	uint32_t threads[64];
	uint32_t count;
	int refusal; /* what the sink returns */
};

static int take(void *context, const struct gp_record_view *seen)
{
	struct reading *r = context;

	if (seen->record->head.kind != GP_RECORD_CALL)
		return 0;
	assert_true(r->count < 64);
	r->starts[r->count] = seen->record->call.start_ticks - GP_TEST_TICKS;
	r->threads[r->count++] = seen->thread_id;
	return r->refusal;
}

/* The file and the rings as they are now. */
static void write_on(struct reading *r)
{
	struct gp_builder *b = &r->scene->b;
	int fd;

	gp_builder_seal(b);
	write_rings(r->scene);
	fd = open(b->path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->bytes + r->written, b->length - r->written),
			 b->length - r->written);
	close(fd);
	r->written = b->length;
}

/* Reads on, and fails unless the calls that come are those. */
#define assert_read(reading, ...)                                                                  \
	assert_starts(reading, (const uint64_t[]){__VA_ARGS__ 0},                                  \
		      sizeof((uint64_t[]){__VA_ARGS__ 0}) / 8 - 1)

static void assert_starts(struct reading *r, const uint64_t *starts, size_t count)
{
	const struct gp_record_sink sink = {take, r};
	int result;

	write_on(r);
	r->count = 0;
	do
		result = gp_tail_read(r->tail, &sink);
	while (result > 0);
	assert_int_equal(result, 0);
	assert_int_equal(r->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(r->starts[i], starts[i]);
}

static struct reading *begin(struct scene *scene)
{
	struct reading *r = calloc(1, sizeof(*r));
	char message[4352], *real;

	assert_non_null(r);
	r->scene = scene;
	real = realpath(gp_builder_save(&scene->b), NULL);
	snprintf(scene->file.header.trace_path, sizeof(scene->file.header.trace_path), "%s", real);
	free(real);
	r->written = scene->b.length;
	assert_int_equal(gp_tail_open(scene->b.path, &r->tail, message, sizeof(message)), 0);
	return r;
}

static void end(struct reading *r)
{
	gp_tail_close(r->tail);
	free_scene(r->scene);
	free(r);
}

static struct reading *begin_live(void)
{
	return begin(new_scene((uint32_t)getpid(), start_time_of(getpid())));
}

static void put_call(struct reading *r, uint64_t start_ns)
{
	gp_builder_call(&r->scene->b, GP_TEST_SYNC, 0, start_ns, 5);
}

static void test_a_tail_that_rests_between(void **state)
{
	struct reading *r = begin_live();

	(void)state;
	gp_builder_chunk(&r->scene->b, 1, 100);
	put_call(r, 10);
	assert_read(r, 10, );
	gp_tail_rest(r->tail);
	assert_int_equal(gp_tail_state(r->tail)->call_count, 0);
	gp_builder_chunk(&r->scene->b, 1, 100);
	put_call(r, 20);
	assert_read(r, 20, );
	gp_tail_rest(r->tail);
	assert_read(r);
	end(r);
}

static void test_a_file_that_grows(void **state)
{
	struct reading *r = begin_live();

	assert_read(r);
	gp_builder_chunk(&r->scene->b, 1, 100);
	put_call(r, 10);
	put_call(r, 20);
	assert_read(r, 10, 20, );
	assert_int_equal(r->threads[1], 100);
	assert_true(gp_tail_state(r->tail)->live);
	assert_int_equal(gp_tail_state(r->tail)->pid, getpid());
	assert_read(r);
	gp_builder_chunk(&r->scene->b, 2, 200);
	put_call(r, 15);
	gp_builder_chunk(&r->scene->b, 0, 0);
	gp_builder_end(&r->scene->b, 900);
	assert_read(r, 15, );
	assert_true(gp_tail_state(r->tail)->closed);
	assert_false(gp_tail_state(r->tail)->live);
	assert_int_equal(gp_tail_state(r->tail)->read_bytes, r->written);
	assert_int_equal(gp_tail_state(r->tail)->file_bytes, r->written);
	gp_builder_chunk(&r->scene->b, 0, 0);
	gp_builder_add(&r->scene->b, &(struct gp_record_end){.kind = GP_RECORD_END,
							     .reason = GP_END_REPORTED,
							     .way = GP_END_STATUS});
	assert_read(r);
	assert_true(gp_tail_state(r->tail)->closed);
	end(r);
}

/*
 * A record is read from its ring first, and comes to the file later: alone, with others, or with
 * what came after.
 */
static void test_each_record_once(void **state)
{
	struct reading *r = begin_live();
	struct gp_ring_header *header = &r->scene->file.rings[0].header;

	publish(r->scene, 0, 10);
	publish(r->scene, 0, 20);
	assert_read(r, 10, 20, );
	assert_int_equal(r->threads[0], 400);
	publish(r->scene, 0, 30);
	gp_builder_chunk(&r->scene->b, 4, 400);
	put_call(r, 10); /* in the file, and still in the ring */
	assert_read(r, 30, );
	header->tail = 1;
	assert_read(r);
	publish(r->scene, 0, 40);
	gp_builder_chunk(&r->scene->b, 4, 400);
	for (uint64_t ns = 20; ns <= 50; ns += 10) /* 50 was never seen in the ring */
		put_call(r, ns);
	header->head = header->tail = 5;
	assert_read(r, 40, 50, );
	publish(r->scene, 0, 60);
	assert_read(r, 60, );
	gp_builder_chunk(&r->scene->b, 4, 400);
	put_call(r, 60);
	header->tail = 6;
	assert_read(r);
	end(r);
}

/* A definition takes as many slots of the ring as its text needs. */
static void test_a_chunk_of_which_a_part_is_known(void **state)
{
	struct reading *r = begin_live();
	struct test_ring *ring = &r->scene->file.rings[1];
	const struct gp_record_string string = {
		.kind = GP_RECORD_STRING, .space = GP_STRING_KERNEL, .id = 9, .length_bytes = 20};

	memcpy(ring->slots[0], &string, sizeof(string));
	memcpy(ring->slots[0] + sizeof(string), "twenty bytes of text", 16);
	memcpy(ring->slots[1], "text", 4);
	ring->header.head = 2;
	publish(r->scene, 1, 10);
	assert_read(r, 10, );
	gp_builder_chunk(&r->scene->b, 5, 401);
	gp_builder_string(&r->scene->b, GP_STRING_KERNEL, 9, 0, "twenty bytes of text");
	put_call(r, 10);
	put_call(r, 20);
	ring->header.head = ring->header.tail = 4;
	assert_read(r, 20, );
	end(r);
}

/* In a ring that threads share, each record says whose it is. */
static void test_threads_of_a_shared_ring(void **state)
{
	struct reading *r = begin_live();
	const struct gp_record_thread thread = {.kind = GP_RECORD_THREAD, .slots = 1, .id = 77};

	r->scene->file.rings[0].header.thread = 0;
	memcpy(r->scene->file.rings[0].slots[0], &thread, sizeof(thread));
	r->scene->file.rings[0].header.head = 1;
	publish(r->scene, 0, 10);
	publish(r->scene, 0, 20);
	assert_read(r, 10, 20, );
	assert_int_equal(r->threads[0], 77);
	assert_int_equal(r->threads[1], 0);
	gp_builder_chunk(&r->scene->b, 4, 0);
	gp_builder_add(&r->scene->b, &thread);
	put_call(r, 10);
	put_call(r, 20);
	gp_builder_add(&r->scene->b, &thread);
	put_call(r, 30);
	r->scene->file.rings[0].header.head = r->scene->file.rings[0].header.tail = 5;
	assert_read(r, 30, );
	assert_int_equal(r->threads[0], 77);
	end(r);
}

static void test_the_rings_of_the_dead(void **state)
{
	struct reading *r = begin(new_scene_of_the_dead());

	publish(r->scene, 2, 10);
	r->scene->file.rings[2].header.lost = 3;
	assert_read(r, 10, );
	assert_false(gp_tail_state(r->tail)->live);
	assert_false(gp_tail_state(r->tail)->closed);
	assert_int_equal(gp_tail_state(r->tail)->counters[GP_COUNTER_LOST_RING_FULL], 3);
	assert_read(r);
	end(r);
}

/* In a container, or on another machine: neither the process nor its rings can be seen. */
static void test_a_process_that_cannot_be_seen(void **state)
{
	const struct timespec long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
	struct reading *r = begin(new_scene_of_the_dead());
	const struct gp_record_sink sink = {take, r};

	write_on(r);
	unlink(r->scene->path);
	assert_int_equal(gp_tail_read(r->tail, &sink), 0);
	assert_true(gp_tail_state(r->tail)->live);
	assert_int_equal(utimensat(AT_FDCWD, r->scene->b.path, long_ago, 0), 0);
	assert_int_equal(gp_tail_read(r->tail, &sink), 0);
	assert_false(gp_tail_state(r->tail)->live);
	end(r);
}

/* What a thread is in is told until it has published something since, or its trace is closed. */
static void test_calls_that_wait(void **state)
{
	struct reading *r = begin_live();
	struct gp_ring_header *header = &r->scene->file.rings[1].header;

	publish(r->scene, 1, 10);
	header->call_ticks = GP_TEST_AT_TICK(20);
	header->call_head = 1;
	header->call_api = GP_TEST_SYNC;
	r->scene->file.rings[2].header.call_ticks = 7; /* of a call that has returned */
	r->scene->file.rings[2].header.call_head = 3;
	assert_read(r, 10, );
	assert_int_equal(gp_tail_state(r->tail)->call_count, 1);
	assert_int_equal(gp_tail_state(r->tail)->calls[0].start_ticks, GP_TEST_AT_TICK(20));
	assert_int_equal(gp_tail_state(r->tail)->calls[0].thread_id, 401);
	assert_int_equal(gp_tail_state(r->tail)->calls[0].api, GP_TEST_SYNC);
	publish(r->scene, 1, 20);
	assert_read(r, 20, );
	assert_int_equal(gp_tail_state(r->tail)->call_count, 0);
	end(r);
}

/* Once the rings are saved, the file tells it. */
static void test_calls_that_were_saved(void **state)
{
	struct reading *r = begin(new_scene_of_the_dead());

	gp_builder_chunk(&r->scene->b, 0, 0);
	gp_builder_add(&r->scene->b, &(struct gp_record_waiting){.kind = GP_RECORD_WAITING,
								 .slots = 1,
								 .api = GP_TEST_SYNC,
								 .thread_id = 401,
								 .start_ticks = 7});
	write_on(r);
	unlink(r->scene->path);
	assert_int_equal(gp_tail_read(r->tail, &(struct gp_record_sink){take, r}), 0);
	assert_int_equal(gp_tail_state(r->tail)->call_count, 1);
	assert_int_equal(gp_tail_state(r->tail)->calls[0].start_ticks, 7);
	assert_int_equal(gp_tail_state(r->tail)->calls[0].thread_id, 401);
	end(r);
}

static void test_more_than_is_read_at_once(void **state)
{
	struct reading *r = begin_live();
	const struct gp_record_sink sink = {take, r};

	for (uint64_t i = 0; i < 300; i++) {
		gp_builder_chunk(&r->scene->b, 0, 0);
		gp_builder_anchor(&r->scene->b, i);
	}
	gp_builder_chunk(&r->scene->b, 1, 100);
	put_call(r, 10);
	write_on(r);
	assert_int_equal(gp_tail_read(r->tail, &sink), 1);
	assert_int_equal(r->count, 0);
	assert_true(gp_tail_state(r->tail)->read_bytes < gp_tail_state(r->tail)->file_bytes);
	assert_read(r, 10, );
	end(r);
}

static void test_a_sink_that_refuses(void **state)
{
	struct reading *r = begin_live();
	const struct gp_record_sink sink = {take, r};

	r->refusal = -7;
	gp_builder_chunk(&r->scene->b, 1, 100);
	put_call(r, 10);
	write_on(r);
	assert_int_equal(gp_tail_read(r->tail, &sink), -7);
	end(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_that_grows),
		cmocka_unit_test(test_a_tail_that_rests_between),
		cmocka_unit_test(test_each_record_once),
		cmocka_unit_test(test_a_chunk_of_which_a_part_is_known),
		cmocka_unit_test(test_threads_of_a_shared_ring),
		cmocka_unit_test(test_the_rings_of_the_dead),
		cmocka_unit_test(test_a_process_that_cannot_be_seen),
		cmocka_unit_test(test_calls_that_wait),
		cmocka_unit_test(test_calls_that_were_saved),
		cmocka_unit_test(test_more_than_is_read_at_once),
		cmocka_unit_test(test_a_sink_that_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
