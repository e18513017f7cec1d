/*
 * soak: records a program that works as fast as it can for long, and reads the trace while it is
 * written: no record is missing or duplicated, each call and each kernel is there at the end, or
 * counted as lost, and neither the program's memory nor its ring file grows.
 *
 * soak [SECONDS]                  O names the build folder
 *
 * Read records are cut out of the file, so that an hour needs no more disk than a minute.
 */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <time.h>

#define API_LAUNCH  (GP_API_DRIVER | 307u)
#define MAGIC_BYTES 8u
#define BLOCK_BYTES (1u << 20)
#define GROWTH_KB                                                                                  \
	(4096u + (16u << 10)) /* within which memory is taken for flat; rings may still be made */
#define WARM_UP_PART 5        /* of the time, before the first memory check */
#define PAUSE_NS     2000000

static struct scan scan;
static struct {
	uint64_t launches, allocations, kernels, ends;
	/* on a machine so busy that our threads do not get to run */
	uint64_t lost_in_full_ring, lost_without_ring, buffer_bytes;
} found;
static struct {
	uint64_t first_kb, most_kb;
} memory;

/* ---- the trace ---- */

static void take(void *unused, const struct found *f)
{
	const struct any_record *record = f->record;
	uint8_t kind = record->record.kind;

	(void)unused;
	found.launches += kind == GP_RECORD_CALL && record->call.api == API_LAUNCH;
	found.allocations += kind == GP_RECORD_MEMORY && record->memory.bytes != 0;
	found.kernels += kind == GP_RECORD_KERNEL;
	found.ends += kind == GP_RECORD_END;
	if (kind == GP_RECORD_COUNTER && record->counter.counter == GP_COUNTER_LOST_RING_FULL)
		found.lost_in_full_ring = record->counter.value;
	if (kind == GP_RECORD_COUNTER && record->counter.counter == GP_COUNTER_LOST_NO_RING)
		found.lost_without_ring = record->counter.value;
	if (kind == GP_RECORD_COUNTER && record->counter.counter == GP_COUNTER_BUFFER_BYTES)
		found.buffer_bytes = record->counter.value;
}

/* Missing records were counted. */
static void check_counts(uint64_t launches, uint64_t allocations)
{
	assert_true(found.launches <= launches && found.kernels <= launches);
	assert_true(found.allocations <= allocations);
	assert_in_range(2 * launches + allocations -
				(found.launches + found.kernels + found.allocations),
			0, found.lost_in_full_ring + found.lost_without_ring);
}

/* Returns the bytes of a whole chunk at that place, 0 = there is none yet. */
static size_t read_chunk(int file, uint64_t at)
{
	static char chunk[sizeof(struct gp_chunk_header) + GP_CHUNK_MAX_BYTES + 64]
		__attribute__((aligned(8)));
	const struct gp_chunk_header *header = (const void *)chunk;
	ssize_t bytes = pread(file, chunk, sizeof(chunk) - 64, (off_t)at);

	if (bytes <= 0 || !chunk_is_valid(chunk, (size_t)bytes))
		return 0;
	scan_chunk(&scan, header);
	return sizeof(*header) + gp_chunk_padded_bytes(header->payload_bytes);
}

static uint64_t read_more(int file, uint64_t at)
{
	static uint64_t cut;
	size_t bytes;

	while ((bytes = read_chunk(file, at)) > 0)
		at += bytes;
	if (at - cut > 2 * BLOCK_BYTES) {
		uint64_t end = at / BLOCK_BYTES * BLOCK_BYTES;

		/* the file's first block identifies it */
		if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)(cut + BLOCK_BYTES), (off_t)(end - cut - BLOCK_BYTES)) == 0)
			cut = end - BLOCK_BYTES;
	}
	return at;
}

/* ---- the program ---- */

static pid_t start(const char *seconds, const char *output)
{
	char path[300], preload[300], libraries[300], trace[300];
	pid_t child;

	snprintf(path, sizeof(path), "%s/tests/torture/steady", getenv("O"));
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/libgpuprof.so", getenv("O"));
	snprintf(libraries, sizeof(libraries), "LD_LIBRARY_PATH=%s/sim", getenv("O"));
	snprintf(trace, sizeof(trace), "GPUPROF_OUTPUT=%s", in_folder("t"));
	child = fork();
	if (child == 0) {
		char *arguments[] = {path, (char *)seconds, NULL};
		char *environment[] = {preload,
				       libraries,
				       trace,
				       "GPUPROF_SUMMARY=none",
				       "GPUPROF_CHROME=none",
				       "GPUPROF_ON_OVERLOAD=block",
				       NULL};

		if (freopen(output, "w", stdout) == NULL)
			_exit(1);
		execve(path, arguments, environment);
		_exit(1);
	}
	return child;
}

static uint64_t resident_kb(pid_t pid)
{
	unsigned long long kb = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "VmRSS: %llu", &kb) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return kb;
}

static void look_at_memory(pid_t pid, bool warm)
{
	uint64_t kb = resident_kb(pid);

	if (!warm || kb == 0)
		return;
	if (memory.first_kb == 0)
		memory.first_kb = kb;
	if (kb > memory.most_kb)
		memory.most_kb = kb;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int follow(pid_t child, double warm_at_s)
{
	const struct timespec pause = {0, PAUSE_NS};
	uint64_t at = MAGIC_BYTES;
	int file = -1, status = 0;
	bool ended = false;

	for (;;) {
		if (file < 0)
			file = open(in_folder("t.gpuprof"), O_RDWR | O_CLOEXEC);
		if (file >= 0)
			at = read_more(file, at);
		look_at_memory(child, now_s() > warm_at_s);
		if (ended)
			break;
		ended = waitpid(child, &status, WNOHANG) == child;
		nanosleep(&pause, NULL); /* the trace goes on whenever it does */
	}
	assert_true(file >= 0);
	assert_int_equal(lseek(file, 0, SEEK_END), at);
	close(file);
	return status;
}

static const char *seconds = "10";

static void nothing_is_lost_and_memory_is_flat(void **unused)
{
	unsigned long long launches, allocations;
	int status;
	FILE *said;
	pid_t child;

	(void)unused;
	case_folder = new_folder();
	scan.fn = take;
	child = start(seconds, in_folder("said"));
	status = follow(child, now_s() + atof(seconds) / WARM_UP_PART);
	said = fopen(in_folder("said"), "r");
	assert_true(status == 0 && said != NULL);
	assert_int_equal(fscanf(said, "%llu %llu", &launches, &allocations), 2);
	fclose(said);
	printf("%s s: %llu launches, %llu calls and %llu kernels recorded; %llu KiB resident, %llu "
	       "at most\n",
	       seconds, launches, (unsigned long long)found.launches,
	       (unsigned long long)found.kernels, (unsigned long long)memory.first_kb,
	       (unsigned long long)memory.most_kb);
	assert_string_equal(scan.error != NULL ? scan.error : "", "");
	assert_int_equal(found.ends, 1);
	check_counts(launches, allocations);
	assert_true(memory.most_kb <= memory.first_kb + GROWTH_KB + found.buffer_bytes / 1024);
	remove_folder(case_folder);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_and_memory_is_flat),
	};

	if (count > 1)
		seconds = arguments[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
