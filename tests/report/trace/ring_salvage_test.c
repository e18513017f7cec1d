#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/finish/finish.h"
#include "report/load/load_model.h"
#include "report/trace/ring_salvage.h"
#include "tests/lib/temporary.h"
#include "tests/report/ring_scene.h"
#include "tests/unit.h"

#define FILE_BYTES (1u << 20)

static struct gp_model *load_file(const char *path, int save_to)
{
	const struct gp_load_options options = {.save_to = save_to};
	char message[256] = "";
	struct gp_model *m = NULL;

	if (gp_model_load_with(path, &options, &m, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	return m;
}

/* As `gpuprof finish` does; flags as for open(). */
static struct gp_model *load_and_save(const struct scene *s, int flags)
{
	int trace = open(s->b.path, flags | O_APPEND | O_CLOEXEC);
	struct gp_model *m;

	assert_true(trace >= 0);
	m = load_file(s->b.path, trace);
	close(trace);
	return m;
}

static size_t read_file(const char *path, uint8_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	assert_true(fd >= 0);
	got = read(fd, bytes, FILE_BYTES);
	assert_true(got >= 0 && got < (ssize_t)FILE_BYTES);
	close(fd);
	return (size_t)got;
}

/* The two models tell the same, but for where the rings' records are. */
static void assert_same(const struct gp_model *a, const struct gp_model *b)
{
	struct gp_losses a_losses = a->losses, b_losses = b->losses;

	assert_int_equal(a->call_count, b->call_count);
	for (uint32_t i = 0; i < a->call_count; i++) {
		assert_int_equal(a->calls[i].start_ns, b->calls[i].start_ns);
		assert_int_equal(a->calls[i].duration_ns, b->calls[i].duration_ns);
		assert_int_equal(a->calls[i].thread_id, b->calls[i].thread_id);
		assert_int_equal(a->calls[i].first_op, b->calls[i].first_op);
	}
	assert_int_equal(a->op_count, b->op_count);
	for (uint32_t i = 0; i < a->op_count; i++) {
		assert_int_equal(a->ops[i].start_ns, b->ops[i].start_ns);
		assert_int_equal(a->ops[i].end_ns, b->ops[i].end_ns);
		assert_int_equal(a->ops[i].call, b->ops[i].call);
		assert_int_equal(a->ops[i].name, b->ops[i].name);
	}
	assert_int_equal(a->waiting_count, b->waiting_count);
	for (uint32_t i = 0; i < a->waiting_count; i++)
		assert_memory_equal(&a->waiting[i], &b->waiting[i], sizeof(a->waiting[i]));
	assert_int_equal(a->name_count, b->name_count);
	assert_int_equal(a->thread_count, b->thread_count);
	assert_int_equal(a->note_count, b->note_count);
	assert_memory_equal(a->counters, b->counters, sizeof(a->counters));
	a_losses.in_rings = b_losses.in_rings = false;
	assert_memory_equal(&a_losses, &b_losses, sizeof(a_losses));
}

static void assert_ring_file(const struct scene *s, bool is_there)
{
	assert_int_equal(access(s->path, F_OK), is_there ? 0 : -1);
}

/* A process that left something in each of its rings. */
static struct scene *new_busy_scene(uint32_t pid, uint64_t start_time)
{
	struct scene *s = new_scene(pid, start_time);
	struct gp_record_thread thread = {.kind = GP_RECORD_THREAD, .slots = 1, .id = 77};
	struct gp_record_kernel kernel = {.kind = GP_RECORD_KERNEL,
					  .slots = 2,
					  .name_id = 1,
					  .start_ns = GP_TEST_CUPTI(50),
					  .end_ns = GP_TEST_CUPTI(60)};
	struct test_ring *across = &s->file.rings[1], *shared = &s->file.rings[2];

	gp_builder_chunk(&s->b, 4, 400);
	gp_builder_call(&s->b, GP_TEST_SYNC, 0, 100, 5);
	for (uint64_t ns = 100; ns <= 300; ns += 100)
		publish(s, 0, ns); /* the first one is in the chunk */
	across->header.head = across->header.tail = 2 * SLOTS + 6;
	publish(s, 1, 400);
	memcpy(across->slots[7], &kernel, GP_SLOT_BYTES);
	memcpy(across->slots[0], (char *)&kernel + GP_SLOT_BYTES, GP_SLOT_BYTES);
	across->header.head += 2;
	shared->header.thread = 0;
	memcpy(shared->slots[shared->header.head++], &thread, sizeof(thread));
	publish(s, 2, 500);
	across->header.call_ticks = GP_TEST_AT_TICK(600);
	across->header.call_head = across->header.head;
	across->header.call_api = 9;
	across->header.lost = 3;
	shared->header.hooks = 50;
	return s;
}

static struct scene *new_busy_scene_of_the_dead(void)
{
	return new_busy_scene(1u << 30, 12345);
}

/* ---- what is saved ---- */

static void test_saved_trace_is_complete_by_itself(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();
	struct gp_model *before = load(s), *saving, *after;
	char elsewhere[] = "/tmp/gpuprof-test-elsewhere-XXXXXX";

	assert_ring_file(s, true); /* reading alone changes nothing */
	saving = load_and_save(s, O_RDWR);
	assert_ring_file(s, false);
	close(mkostemp(elsewhere, O_CLOEXEC));
	note_temporary(elsewhere);
	assert_int_equal(rename(s->b.path, elsewhere), 0);
	after = load_file(elsewhere, -1);
	unlink(elsewhere);
	assert_int_equal(before->call_count, 5);
	assert_int_equal(before->calls[0].thread_id, 77);
	assert_int_equal(before->op_count, 1);
	assert_int_equal(before->waiting_count, 1);
	assert_int_equal(before->waiting[0].start_ns, 600);
	assert_int_equal(before->waiting[0].thread_id, 401);
	assert_string_equal(gp_model_api(after, after->waiting[0].api).name, "runtime cbid 9");
	assert_int_equal(before->losses.recovered_records, 6);
	assert_int_equal(before->counters[GP_COUNTER_LOST_RING_FULL], 3);
	assert_int_equal(before->counters[GP_COUNTER_HOOKS], 50);
	assert_same(before, saving);
	assert_same(before, after);
	assert_false(after->losses.closed);
	assert_int_equal(after->note_count, 0);
	gp_model_free(before);
	gp_model_free(saving);
	gp_model_free(after);
	free_scene(s);
}

/* A saver killed at any byte of what it writes, or before it has removed the ring file. */
static void test_saving_goes_on_where_it_was_stopped(void **state)
{
	static uint8_t first[FILE_BYTES], again[FILE_BYTES];
	struct scene *s = new_busy_scene_of_the_dead();
	struct gp_model *whole, *m = load(s);
	size_t unsaved = read_file(s->b.path, first), length;

	gp_model_free(m);
	whole = load_and_save(s, O_RDWR);
	length = read_file(s->b.path, first);
	for (size_t cut = length; cut >= unsaved; cut--) {
		assert_int_equal(truncate(s->b.path, (off_t)cut), 0);
		write_rings(s);
		m = load_and_save(s, O_RDWR);
		assert_same(whole, m);
		gp_model_free(m);
		assert_ring_file(s, false);
		assert_int_equal(read_file(s->b.path, again), length);
		assert_memory_equal(first, again, length);
	}
	gp_model_free(whole);
	free_scene(s);
}

/* Half a saving and no ring file: something may be missing, and that is said. */
static void test_half_a_saving_alone_is_not_taken_for_all(void **state)
{
	static uint8_t bytes[FILE_BYTES];
	struct scene *s = new_busy_scene_of_the_dead();
	struct gp_model *m = load(s);

	gp_model_free(m);
	gp_model_free(load_and_save(s, O_RDWR));
	assert_int_equal(truncate(s->b.path, (off_t)read_file(s->b.path, bytes) - 8), 0);
	m = load_file(s->b.path, -1);
	assert_int_equal(m->losses.recovered_records, 6);
	assert_int_equal(m->note_count, 1);
	assert_non_null(strstr(m->notes[0], "is gone"));
	gp_model_free(m);
	free_scene(s);
}

/* A writer killed at any byte of its last chunk, whose records are still in the ring. */
static void test_chunk_cut_by_the_kill(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();
	struct gp_model *whole = load(s), *m;
	size_t from = s->b.length, length;

	gp_builder_chunk(&s->b, 4, 400);
	gp_builder_call(&s->b, GP_TEST_SYNC, 0, 200, 5);
	gp_builder_seal(&s->b);
	length = s->b.length;
	while (s->b.bytes[length - 1] == 0) /* down to where only padding is missing */
		length--;
	for (; length >= from; length--) {
		s->b.length = length;
		m = load(s);
		assert_int_equal(m->call_count, 5);
		gp_model_free(m);
		gp_model_free(load_and_save(s, O_RDWR));
		assert_ring_file(s, false);
		m = load_file(s->b.path, -1);
		m->losses.recovered_records = 6; /* one less, where the chunk is whole */
		assert_same(whole, m);
		gp_model_free(m);
	}
	gp_model_free(whole);
	free_scene(s);
}

static void test_damage_at_the_end_stays_and_is_counted(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();
	struct gp_model *m;
	char garbage[99];

	memset(garbage, 'x', sizeof(garbage));
	gp_builder_seal(&s->b);
	gp_builder_raw(&s->b, garbage, sizeof(garbage));
	gp_model_free(load(s));
	gp_model_free(load_and_save(s, O_RDWR));
	m = load_file(s->b.path, -1);
	assert_int_equal(m->call_count, 5);
	assert_int_equal(m->losses.damaged_bytes, (sizeof(garbage) + 7) & ~7u);
	gp_model_free(m);
	free_scene(s);
}

/* What the program overwrote cannot be read before, nor after; nor does it keep the file there. */
static void test_ring_that_the_program_overwrote(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();
	struct gp_model *before, *saved, *again;

	memset(s->file.rings[0].slots[1], 0, GP_SLOT_BYTES);
	before = load(s);
	assert_int_equal(before->losses.unknown_records, 1);
	assert_int_equal(before->call_count, 3);
	saved = load_and_save(s, O_RDWR);
	assert_ring_file(s, false);
	write_rings(s);
	again = load_and_save(s, O_RDWR);
	assert_ring_file(s, false);
	assert_same(before, saved);
	assert_same(before, again);
	gp_model_free(before);
	gp_model_free(saved);
	gp_model_free(again);
	free_scene(s);
}

/* ---- rings of more than one chunk ---- */

#define MANY_PAIRS 4000u

/*
 * One call by nobody in particular, then pairs of whose the next call is and the call, one slot
 * each.
 */
static void fill_shared_ring(uint8_t *slots)
{
	struct gp_record_call call = {.kind = GP_RECORD_CALL, .slots = 1, .api = GP_TEST_SYNC};
	struct gp_record_thread thread = {.kind = GP_RECORD_THREAD, .slots = 1};

	memcpy(slots, &call, sizeof(call));
	slots += GP_SLOT_BYTES;
	for (uint32_t i = 1; i <= MANY_PAIRS; i++) {
		thread.id = i;
		call.correlation_id = i;
		memcpy(slots, &thread, sizeof(thread));
		memcpy(slots + GP_SLOT_BYTES, &call, sizeof(call));
		slots += 2 * GP_SLOT_BYTES;
	}
}

static void save_directly(struct scene *s, struct gp_ring *ring)
{
	const uint64_t counters[GP_COUNTERS] = {0};
	struct gp_rings rings = {.rings = ring, .count = 1};
	struct gp_trace_state end = {.end_bytes = s->b.length};
	uint64_t sequence = s->b.sequence;
	int trace = open(s->b.path, O_RDWR | O_APPEND | O_CLOEXEC);
	const struct gp_ring_saving saving = {.trace = trace,
					      .state = &end,
					      .sequence = &sequence,
					      .ring_path = s->path,
					      .ring_file = gp_rings_open(s->path),
					      .rings = &rings,
					      .counters = counters};

	assert_int_equal(gp_save_rings(&saving), 0);
	close(saving.ring_file);
	close(trace);
}

static void test_no_chunk_ends_between_a_thread_and_its_record(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_ring ring = {.ring = 9, .count = 2 * MANY_PAIRS + 1};
	struct gp_model *m;

	ring.slots = malloc(ring.count * GP_SLOT_BYTES);
	assert_non_null(ring.slots);
	fill_shared_ring(ring.slots);
	gp_builder_save(&s->b);
	save_directly(s, &ring);
	m = load_file(s->b.path, -1);
	assert_int_equal(m->call_count, MANY_PAIRS + 1);
	for (uint32_t i = 0; i < m->call_count; i++)
		assert_int_equal(m->calls[i].thread_id, m->calls[i].correlation_id);
	assert_int_equal(m->losses.recovered_records, ring.count);
	assert_int_equal(m->losses.unknown_records, 0);
	gp_model_free(m);
	free(ring.slots);
	free_scene(s);
}

/* Whatever is in a ring, saving comes to an end. */
static void test_ring_of_nothing_but_threads(void **state)
{
	struct scene *s = new_scene_of_the_dead();
	struct gp_ring ring = {.ring = 9, .count = 5000};
	struct gp_record_thread thread = {.kind = GP_RECORD_THREAD, .slots = 1, .id = 3};
	struct gp_model *m;

	ring.slots = malloc(ring.count * GP_SLOT_BYTES);
	assert_non_null(ring.slots);
	for (uint64_t i = 0; i < ring.count; i++)
		memcpy(ring.slots + i * GP_SLOT_BYTES, &thread, sizeof(thread));
	gp_builder_save(&s->b);
	save_directly(s, &ring);
	m = load_file(s->b.path, -1);
	assert_int_equal(m->losses.recovered_records, ring.count);
	gp_model_free(m);
	free(ring.slots);
	free_scene(s);
}

/* ---- what is left alone ---- */

/* Saving changes neither file, and tells the same. */
static void assert_not_saved(const struct scene *s, int flags)
{
	static uint8_t first[FILE_BYTES], again[FILE_BYTES];
	struct gp_model *before = load_file(s->b.path, -1), *m;
	size_t length = read_file(s->b.path, first);

	m = load_and_save(s, flags);
	assert_ring_file(s, true);
	assert_int_equal(read_file(s->b.path, again), length);
	assert_memory_equal(first, again, length);
	assert_same(before, m);
	gp_model_free(before);
	gp_model_free(m);
}

static void assert_untouched(struct scene *s, int flags)
{
	gp_model_free(load(s));
	assert_not_saved(s, flags);
	free_scene(s);
}

static void test_live_process(void **state)
{
	assert_untouched(new_busy_scene((uint32_t)getpid(), start_time_of(getpid())), O_RDWR);
}

/*
 * Whoever can still write into the rings lives, though we cannot see it: in another pid namespace.
 */
static void test_ring_file_that_somebody_has_mapped(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();
	int fd = open(s->path, O_RDWR | O_CLOEXEC);
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	close(fd);
	assert_untouched(s, O_RDWR);
	munmap(memory, 4096);
}

static void test_process_of_another_machine_or_boot(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();

	memset(s->file.header.boot_id, 'a', 36);
	gp_builder_chunk(&s->b, 0, 0);
	gp_builder_string(&s->b, GP_STRING_INFO, GP_INFO_BOOT_ID, 0, s->file.header.boot_id);
	assert_untouched(s, O_RDWR);
}

static void test_ring_file_of_another(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();

	s->file.header.pid++;
	assert_untouched(s, O_RDWR);
	s = new_busy_scene_of_the_dead();
	strcpy(s->file.header.trace_path, "/proc/self/exe");
	assert_untouched(s, O_RDWR);
}

/* The ring file is the original's, though a copy of the same name may read it. */
static void test_copy_of_a_trace_that_is_still_there(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();
	char folder[] = "/tmp/gpuprof-test-copy-XXXXXX", original[128];

	assert_non_null(temporary_folder(folder));
	snprintf(original, sizeof(original), "%s%s", folder, strrchr(gp_builder_save(&s->b), '/'));
	close(open(original, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	strcpy(s->file.header.trace_path, original);
	assert_untouched(s, O_RDWR);
	unlink(original);
	rmdir(folder);
}

static void test_closed_trace(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();

	gp_builder_end(&s->b, 900);
	assert_untouched(s, O_RDWR);
}

static void test_trace_that_cannot_be_written(void **state)
{
	assert_untouched(new_busy_scene_of_the_dead(), O_RDONLY);
}

/* Room for the first chunk that is saved, not for the last. */
static void test_no_room(void **state)
{
	struct scene *s = new_busy_scene_of_the_dead();
	struct rlimit before, limit;

	gp_model_free(load(s));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){s->b.length + 500, before.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_not_saved(s, O_RDWR);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	gp_model_free(load_and_save(s, O_RDWR));
	assert_ring_file(s, false);
	free_scene(s);
}

/* ---- finishing ---- */

static void test_finishing_saves_under_the_lock(void **state)
{
	const struct gp_finish_options options = {
		.summary = "none", .chrome = "none", .quiet = true, .progress_fd = -1};
	struct scene *s = new_busy_scene_of_the_dead();
	int other;

	gp_model_free(load(s));
	other = open(s->b.path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(other, LOCK_EX), 0);
	assert_int_equal(gp_finish(&s->b.path, 1, &options), -EBUSY);
	assert_ring_file(s, true);
	close(other);
	assert_int_equal(gp_finish(&s->b.path, 1, &options), 0);
	assert_ring_file(s, false);
	free_scene(s);
}

static void test_finishing_a_trace_that_cannot_be_written(void **state)
{
	const struct gp_finish_options options = {
		.summary = "none", .chrome = "none", .quiet = true, .progress_fd = -1};
	struct scene *s = new_busy_scene_of_the_dead();
	char path[] = "/proc/self/fd/0000000000", *trace = path;
	int sealed = memfd_create("trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	gp_model_free(load(s));
	assert_int_equal(write(sealed, s->b.bytes, s->b.length), s->b.length);
	assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK), 0);
	assert_int_equal(unlink(s->b.path), 0); /* moved to where even root cannot write */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", sealed);
	assert_int_equal(gp_finish(&trace, 1, &options), 0);
	assert_ring_file(s, true);
	close(sealed);
	free_scene(s);
}

/* ---- what somebody else may have written ---- */

static struct gp_model *load_chunk(uint32_t form, const void *payload, size_t bytes,
				   uint32_t records)
{
	struct gp_builder b;
	struct gp_model *m;

	gp_builder_init(&b);
	gp_builder_start(&b);
	gp_builder_chunk(&b, 4, 400);
	b.header.form = form;
	b.header.records = records;
	gp_builder_raw(&b, payload, bytes);
	gp_builder_chunk(&b, 4, 400);
	gp_builder_call(&b, GP_TEST_SYNC, 0, 100, 5);
	m = gp_builder_load(&b);
	gp_builder_free(&b);
	assert_int_equal(m->call_count, 1); /* the next chunk is read whatever this one is */
	return m;
}

static void assert_unknown(uint32_t form, const void *payload, size_t bytes, uint32_t records,
			   uint64_t unknown)
{
	struct gp_model *m = load_chunk(form, payload, bytes, records);

	assert_int_equal(m->losses.unknown_records, unknown);
	gp_model_free(m);
}

static void test_saved_chunks_that_cannot_be(void **state)
{
	const struct gp_record_string string = {
		.kind = GP_RECORD_STRING, .space = GP_STRING_KERNEL, .id = 5, .length_bytes = 100};
	uint8_t cut_string[40] = {0};
	const uint8_t zeros[64] = {0}, kernel[32] = {GP_RECORD_KERNEL, 1}, later[64] = {200, 2};

	memcpy(cut_string, &string, sizeof(string));
	assert_unknown(GP_CHUNK_SLOTS, zeros, 64, 2, 1);
	assert_unknown(GP_CHUNK_SLOTS, zeros, 7, 1, 1);
	assert_unknown(GP_CHUNK_SLOTS, kernel, 32, 1, 1); /* a kernel of one slot */
	assert_unknown(GP_CHUNK_SLOTS, later, 64, 1, 1);
	assert_unknown(GP_CHUNK_SLOTS, cut_string, 40, 1, 2); /* more than is there, and a rest */
	assert_unknown(7, zeros, 64, 5, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_saved_trace_is_complete_by_itself),
		cmocka_unit_test(test_saving_goes_on_where_it_was_stopped),
		cmocka_unit_test(test_half_a_saving_alone_is_not_taken_for_all),
		cmocka_unit_test(test_chunk_cut_by_the_kill),
		cmocka_unit_test(test_damage_at_the_end_stays_and_is_counted),
		cmocka_unit_test(test_ring_that_the_program_overwrote),
		cmocka_unit_test(test_no_chunk_ends_between_a_thread_and_its_record),
		cmocka_unit_test(test_ring_of_nothing_but_threads),
		cmocka_unit_test(test_live_process),
		cmocka_unit_test(test_ring_file_that_somebody_has_mapped),
		cmocka_unit_test(test_process_of_another_machine_or_boot),
		cmocka_unit_test(test_ring_file_of_another),
		cmocka_unit_test(test_copy_of_a_trace_that_is_still_there),
		cmocka_unit_test(test_closed_trace),
		cmocka_unit_test(test_trace_that_cannot_be_written),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_finishing_saves_under_the_lock),
		cmocka_unit_test(test_finishing_a_trace_that_cannot_be_written),
		cmocka_unit_test(test_saved_chunks_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
