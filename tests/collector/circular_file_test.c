/*
 * circular_file: a trace that keeps only its last part.  For all dropped records and instants of a
 * kill: the rest is contiguous up to the last record, has all definitions, and counts the dropped
 * records.
 *
 * GPUPROF_TEST_KILLS sets the number of kills (default 50; under ThreadSanitizer 15).
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "collector/atomic.h"
#include "collector/encode.h"
#include "collector/sys.h"
#include "collector/tracefile.h"
#include "gpuprof/counter.h"

#define KEEP_BYTES (8u << 20)
#define MANY       1000000u /* calls, more than fit */
#define NAME_EACH  1000u    /* number of calls between definitions */

static struct scan scan;

static struct {
	uint64_t calls, first, last, gone, lost_definitions, ranges, ends, gates;
	uint64_t first_ticks; /* when the recording began */
	bool is_in_order;
	uint8_t names[MANY / NAME_EACH + 1];
	char ring_file[256];
} said;

static void take_number(uint64_t number)
{
	if (said.calls++ == 0)
		said.first = number;
	else if (number != said.last + 1)
		said.is_in_order = false;
	said.last = number;
}

static void take_string(const struct any_record *record)
{
	said.ranges += record->string.space == GP_STRING_RANGE;
	if (record->string.space == GP_STRING_KERNEL)
		said.names[record->string.id]++;
	if (record->string.space == GP_STRING_INFO && record->string.id == GP_INFO_RING_FILE)
		snprintf(said.ring_file, sizeof(said.ring_file), "%.*s",
			 (int)record->string.length_bytes, (const char *)record->text);
}

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	if (is_kind(found, GP_RECORD_CALL))
		take_number(record->call.correlation_id);
	if (is_kind(found, GP_RECORD_STRING))
		take_string(record);
	if (is_kind(found, GP_RECORD_COUNTER)) {
		if (record->counter.counter == GP_COUNTER_LEFT_OUT_OLD)
			said.gone = record->counter.value;
		if (record->counter.counter == GP_COUNTER_LOST_DEFINITIONS)
			said.lost_definitions = record->counter.value;
		if (record->counter.counter == GP_COUNTER_FIRST_TICKS)
			said.first_ticks = record->counter.value;
	}
	said.gates += is_kind(found, GP_RECORD_GATE) && record->gate.reason == GP_GATE_KEPT;
	said.ends += is_kind(found, GP_RECORD_END);
}

static bool read_circle(const char *path)
{
	memset(&scan, 0, sizeof(scan));
	memset(&said, 0, sizeof(said));
	said.is_in_order = true;
	scan.fn = take;
	if (!scan_circular(&scan, path, KEEP_BYTES))
		return false;
	CHECK(scan.error == NULL);
	return true;
}

/* ---- recording ---- */

static void start_circular(enum gp_ring_place place)
{
	struct gp_collector_config config = {
		.trace_path = in_folder("t"), .ring_place = place, .keep_last_bytes = KEEP_BYTES};

	CHECK(gp_collector_start(&config) == 0);
}

static uint32_t mixed(uint32_t number)
{
	return number * 2654435761u;
}

/* Calls with a known minimum size in the file. */
static void emit_wide(uint32_t number)
{
	struct gp_record_call call = {.kind = GP_RECORD_CALL,
				      .slots = 1,
				      .correlation_id = number,
				      .start_ticks = gp_clock_ticks(),
				      .stack_id = mixed(number),
				      .duration_low_ticks = mixed(number + 1),
				      .context_id = mixed(number + 2)};

	while (!gp_emit((const struct gp_record *)&call))
		;
}

static void emit_name(uint32_t number)
{
	char text[300];

	memset(text, 'a' + (int)(number % 26), sizeof(text));
	while (!gp_emit_string(GP_STRING_KERNEL, number, 0, text, sizeof(text)))
		;
}

static void emit_until(uint32_t count, uint64_t *published)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i % NAME_EACH == 0)
			emit_name(i / NAME_EACH);
		emit_wide(i);
		gp_store64_release(published, i + 1);
	}
}

static void check_names(uint64_t published)
{
	for (uint64_t i = 0; i < (published + NAME_EACH - 1) / NAME_EACH; i++)
		CHECK(said.names[i] == 1);
}

static void check_rest(uint64_t published)
{
	CHECK(said.is_in_order);
	CHECK(said.calls + said.gone == published);
	CHECK(said.calls == 0 || said.last == published - 1);
	CHECK(said.gone == 0 || said.first == said.gone);
	CHECK(said.lost_definitions == 0);
	check_names(published);
}

static void what_is_gone_is_counted(enum gp_ring_place place)
{
	uint64_t published = 0, began_ticks;

	start_circular(place);
	began_ticks = gp_clock_ticks();
	emit_until(MANY, &published);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(read_circle(gp_collector_trace_path()));
	CHECK(said.ends == 1 && said.gates > 0 && said.gone > MANY / 4);
	CHECK(said.first_ticks > 0 && said.first_ticks <= began_ticks);
	CHECK(said.calls > MANY / 20);
	check_rest(published);
}

static void with_rings_in_a_file(void)
{
	what_is_gone_is_counted(GP_RINGS_AUTO);
}

static void with_rings_in_memory(void)
{
	what_is_gone_is_counted(GP_RINGS_MEMORY);
}

static void nothing_is_lost_if_everything_fits(void)
{
	uint64_t published = 0;

	start_circular(GP_RINGS_AUTO);
	emit_until(5000, &published);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(read_circle(gp_collector_trace_path()));
	CHECK(said.ends == 1 && said.gates == 0 && said.gone == 0);
	check_rest(published);
}

static long (*real_call)(long, long, long, long, long, long, long);
static uint64_t room_bytes;

static long full_disk(long number, long a, long b, long c, long d, long e, long f)
{
	if (number != SYS_pwrite64 || (uint64_t)d + (uint64_t)c <= room_bytes)
		return real_call(number, a, b, c, d, e, f);
	if ((uint64_t)d >= room_bytes)
		return -ENOSPC;
	return real_call(number, a, b, (long)(room_bytes - (uint64_t)d), d, e, f);
}

/* On a full disk, the file is as large as its content. */
static void a_full_disk_limits_the_file(void)
{
	uint64_t published = 0;

	real_call = gp_sys.call;
	gp_sys.call = full_disk;
	room_bytes = 3500000;
	start_circular(GP_RINGS_AUTO);
	emit_until(MANY / 3, &published);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(read_circle(gp_collector_trace_path()));
	CHECK(said.ends == 1 && said.gone > MANY / 20 && said.calls > MANY / 50);
	check_rest(published);
}

/* Too little space even for a smaller file: further records are counted, as on any full disk. */
static void a_disk_with_hardly_any_space(void)
{
	uint64_t published = 0;
	int why;

	real_call = gp_sys.call;
	gp_sys.call = full_disk;
	room_bytes = 700000;
	start_circular(GP_RINGS_MEMORY);
	emit_until(MANY / 10, &published);
	gp_collector_stop(LONG_NS); /* the final records may or may not fit */
	CHECK(read_circle(gp_collector_trace_path()));
	CHECK(said.calls > 0 && said.first == 0 && said.gone == 0);
	CHECK(said.calls + gp_collector_unwritten(&why) >= published);
	CHECK(why == -ENOSPC);
}

/* An endless stream of definitions takes at most half of the file.  The rest is the program's. */
static void definitions_have_a_limit(void)
{
	uint64_t published = 0;

	start_circular(GP_RINGS_AUTO);
	for (uint32_t i = 0; i < 50000; i++) {
		static char text[1000];

		memset(text, 'a' + (int)(i % 26), sizeof(text));
		while (!gp_emit_string(GP_STRING_RANGE, i, 0, text, sizeof(text)))
			;
	}
	emit_until(MANY / 3, &published);
	CHECK(gp_collector_stop(LONG_NS) == 0);
	CHECK(read_circle(gp_collector_trace_path()));
	CHECK(said.is_in_order && said.last == published - 1);
	CHECK(said.lost_definitions > 0 && said.calls > 100000);
	CHECK(said.calls + said.gone == published);
	/* the lost definitions have no copy, and every other definition has one */
	CHECK(said.ranges + said.lost_definitions >= 50000);
	CHECK(said.ranges + said.lost_definitions < 50000 + MANY / NAME_EACH);
}

/* ---- single chunks ---- */

/* Append a chunk of the writer, with the floor; on a disk with space for most_bytes of it. */
static int append_chunk(struct gp_tracefile *file, uint64_t most_bytes)
{
	static struct gp_chunk chunk;
	static struct gp_encoder encoder;
	struct gp_record_counter counter = {.kind = GP_RECORD_COUNTER, .slots = 1, .value = 1};

	gp_encode_init(&encoder);
	gp_encode_begin(&encoder, chunk.payload, sizeof(chunk.payload));
	CHECK(gp_encode(&encoder, (const struct gp_record *)&counter));
	chunk.header.payload_bytes = gp_encode_bytes(&encoder);
	chunk.header.records = 1;
	chunk.header.position = file->circular.floor;
	room_bytes = file->circular.at + most_bytes;
	return gp_tracefile_append(file, &chunk);
}

static void create_alone(struct gp_tracefile *file)
{
	real_call = gp_sys.call;
	gp_sys.call = full_disk;
	CHECK(gp_tracefile_create_circular(file, in_folder("t"), KEEP_BYTES) == 0);
}

/*
 * Nothing could be written in the sixth block: the file stops growing.  Later there is space again.
 * One chunk in each block.
 */
static void a_block_without_a_chunk(void)
{
	struct gp_tracefile file;

	create_alone(&file);
	for (uint32_t i = 0; i < 30; i++) {
		if (i == 5) {
			CHECK(append_chunk(&file, 0) == -ENOSPC);
			CHECK(gp_circular_file_stop_growing(&file.circular));
		}
		CHECK(append_chunk(&file, KEEP_BYTES) == (i == 5 ? -ENOSPC : 0));
		CHECK(read_circle(file.path) && scan.chunks == (i < 5 ? i + 1 : i < 12 ? 5 : 6));
		gp_circular_file_next_block(&file.circular, file.sequence, 0);
	}
}

/* Such a chunk is valid, so it must not be written once more. */
static void a_chunk_without_its_padding(void)
{
	struct gp_tracefile file;
	uint64_t bytes;

	create_alone(&file);
	CHECK(append_chunk(&file, KEEP_BYTES) == 0);
	bytes = file.circular.at - sizeof(GP_TRACE_MAGIC);
	CHECK(append_chunk(&file, bytes - 1) == 0);
	CHECK(append_chunk(&file, KEEP_BYTES) == 0);
	CHECK(read_circle(file.path) && scan.chunks == 3);
}

/* ---- killed ---- */

static uint64_t *published_by_child;

/* The last record may have been published although the child died before it could report that. */
static bool kill_once(uint32_t us)
{
	uint64_t published;
	int status;
	pid_t child = fork();

	if (child == 0) {
		die_in(us);
		start_circular(GP_RINGS_FILE);
		emit_until(MANY, published_by_child);
		pause();
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	published = *published_by_child;
	if (read_circle(in_folder("t.gpuprof")) && said.ring_file[0] != '\0') {
		CHECK(scan_ring_file(&scan, said.ring_file, in_folder("t.gpuprof")));
		CHECK(scan.error == NULL);
		if (said.calls > 0 && said.last == published)
			published++;
		check_rest(published);
	} else {
		CHECK(published == 0);
	}
	return said.gone > 0;
}

static void killed_at_any_instant(void)
{
	const char *wanted = getenv("GPUPROF_TEST_KILLS");
	uint32_t kills = wanted != NULL             ? (uint32_t)atoi(wanted)
			 : UNDER_TSAN || UNDER_ASAN ? 15
						    : 50;
	uint32_t with_replaced = 0, longest_us = 120000;
	const char *parent = case_folder;

	published_by_child =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(published_by_child != MAP_FAILED);
	srand(5);
	for (uint32_t i = 0; i < kills || (with_replaced == 0 && i < 3 * kills); i++) {
		char folder[300];

		snprintf(folder, sizeof(folder), "%s/%u", parent, i);
		CHECK(mkdir(folder, 0700) == 0);
		case_folder = folder;
		*published_by_child = 0;
		with_replaced += kill_once((uint32_t)rand() % longest_us);
		remove_folder(folder);
		if (i % 5 == 4 && with_replaced == 0) /* a slow or busy machine: allow more time */
			longest_us *= 2;
	}
	CHECK(with_replaced > 0 || kills < 50);
	printf("%u kills, %u of them after records were replaced\n", kills, with_replaced);
	fflush(stdout);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		run_case(name);                                                                    \
	}
CASE(with_rings_in_a_file)
CASE(with_rings_in_memory)
CASE(nothing_is_lost_if_everything_fits)
CASE(a_full_disk_limits_the_file)
CASE(a_disk_with_hardly_any_space)
CASE(definitions_have_a_limit)
CASE(a_block_without_a_chunk)
CASE(a_chunk_without_its_padding)
CASE(killed_at_any_instant)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_with_rings_in_a_file),
		cmocka_unit_test(test_with_rings_in_memory),
		cmocka_unit_test(test_nothing_is_lost_if_everything_fits),
		cmocka_unit_test(test_a_full_disk_limits_the_file),
		cmocka_unit_test(test_a_disk_with_hardly_any_space),
		cmocka_unit_test(test_definitions_have_a_limit),
		cmocka_unit_test(test_a_block_without_a_chunk),
		cmocka_unit_test(test_a_chunk_without_its_padding),
		cmocka_unit_test(test_killed_at_any_instant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
