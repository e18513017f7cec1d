#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/trace/trace_read.h"
#include "tests/lib/temporary.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

#define CHUNKS 4

/* A file of CHUNKS chunks, chunk i with i + 1 calls; ends[i] is where chunk i ends. */
static void build(struct gp_builder *b, size_t ends[CHUNKS])
{
	gp_builder_init(b);
	for (uint32_t i = 0; i < CHUNKS; i++) {
		gp_builder_chunk(b, 1, 100);
		for (uint32_t call = 0; call <= i; call++)
			gp_builder_call(b, GP_TEST_SYNC, call, 100 * i + call, 1);
		gp_builder_seal(b);
		ends[i] = b->length;
	}
}

static struct gp_trace *open_trace(const char *path)
{
	char message[256] = "";
	struct gp_trace *trace = NULL;

	if (gp_trace_open(path, &trace, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	return trace;
}

/* Read to the end; returns the number of chunks, and which in a bit mask by sequence. */
static unsigned read_chunks(struct gp_trace *trace, uint64_t *which)
{
	struct gp_chunk chunk;
	unsigned count = 0;

	*which = 0;
	while (gp_trace_next(trace, &chunk) == 1) {
		*which |= 1ull << chunk.header.sequence;
		count++;
	}
	return count;
}

static void test_whole_file(void **state)
{
	struct gp_builder b;
	struct gp_trace *trace;
	size_t ends[CHUNKS];
	uint64_t which;

	build(&b, ends);
	trace = open_trace(gp_builder_save(&b));
	assert_int_equal(read_chunks(trace, &which), CHUNKS);
	assert_int_equal(gp_trace_state(trace)->chunks, CHUNKS);
	assert_int_equal(gp_trace_state(trace)->damaged_bytes, 0);
	assert_int_equal(gp_trace_state(trace)->rest_bytes, 0);
	assert_false(gp_trace_state(trace)->rest_is_cut);
	gp_trace_close(trace);
	gp_builder_free(&b);
}

/* Every byte of the chunks flipped: that chunk is lost and counted, and no other. Padding carries
 * nothing. */
static void test_flipped_byte_costs_its_chunk(void **state)
{
	struct gp_builder b;
	size_t ends[CHUNKS];

	build(&b, ends);
	for (size_t at = 8, chunk = 0; at < b.length; at++) {
		struct gp_trace *trace;
		uint64_t which, damaged;
		size_t begin;

		while (at >= ends[chunk])
			chunk++;
		begin = chunk == 0 ? 8 : ends[chunk - 1];
		b.bytes[at] ^= 0x10;
		trace = open_trace(gp_builder_save(&b));
		b.bytes[at] ^= 0x10;
		damaged = read_chunks(trace, &which) < CHUNKS ? ends[chunk] - begin : 0;
		if (damaged > 0)
			assert_int_equal(which, (1u << CHUNKS) - 1 - (1u << chunk));
		else
			assert_true(ends[chunk] - at <= 7 && b.bytes[at] == 0);
		assert_int_equal(gp_trace_state(trace)->damaged_bytes +
					 gp_trace_state(trace)->rest_bytes,
				 damaged);
		gp_trace_close(trace);
	}
	gp_builder_free(&b);
}

/* The file cut at every byte: what is before is all there, and that the rest was cut is known. */
static void test_cut_file_keeps_what_is_before(void **state)
{
	struct gp_builder b;
	size_t ends[CHUNKS], length;

	build(&b, ends);
	length = b.length;
	for (size_t cut = 8; cut < length; cut++) {
		struct gp_trace *trace;
		size_t whole = 0, begin;
		uint64_t which;
		unsigned count;

		b.length = cut;
		trace = open_trace(gp_builder_save(&b));
		while (ends[whole] <= cut)
			whole++;
		begin = whole == 0 ? 8 : ends[whole - 1];
		count = read_chunks(trace, &which);
		if (count == whole) {
			assert_int_equal(gp_trace_state(trace)->rest_bytes, cut - begin);
			assert_int_equal(gp_trace_state(trace)->rest_is_cut, cut > begin);
		} else { /* only its padding is missing */
			assert_int_equal(count, whole + 1);
			assert_true(ends[whole] - cut <= 7);
		}
		assert_int_equal(gp_trace_state(trace)->damaged_bytes, 0);
		gp_trace_close(trace);
	}
	b.length = length;
	gp_builder_free(&b);
}

/* Bytes put in between, whatever they look like, cost nothing but themselves. */
static void test_resynchronises_after_any_insertion(void **state)
{
	struct gp_chunk_header liar = {.magic = GP_CHUNK_MAGIC, .payload_bytes = 65000};
	struct gp_builder b;
	struct gp_trace *trace;
	uint64_t which;

	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, 1);
	gp_builder_call(&b, GP_TEST_SYNC, 1, 1, 1);
	gp_builder_seal(&b);
	gp_builder_raw(&b, "rubbish, 16 byte", 16);
	gp_builder_raw(&b, &liar, sizeof(liar));
	gp_builder_chunk(&b, 1, 1);
	gp_builder_call(&b, GP_TEST_SYNC, 2, 1, 1);
	trace = open_trace(gp_builder_save(&b));
	assert_int_equal(read_chunks(trace, &which), 2);
	assert_int_equal(gp_trace_state(trace)->damaged_bytes, 16 + sizeof(liar));
	gp_trace_close(trace);
	gp_builder_free(&b);
}

/* A file made of headers that all claim a long payload must not take the square of its length. */
static void test_lying_headers_cost_no_more_than_their_length(void **state)
{
	struct gp_chunk_header liar = {.magic = GP_CHUNK_MAGIC, .payload_bytes = 65536};
	struct gp_builder b;
	struct gp_trace *trace;
	uint64_t which;

	gp_builder_init(&b);
	for (size_t i = 0; i < (64u << 20) / sizeof(liar); i += 4096) {
		struct gp_chunk_header liars[4096];

		for (size_t j = 0; j < 4096; j++)
			liars[j] = liar;
		gp_builder_raw(&b, liars, sizeof(liars));
	}
	limit_processor_s(60); /* 80 GB of checksums otherwise */
	trace = open_trace(gp_builder_save(&b));
	assert_int_equal(read_chunks(trace, &which), 0);
	limit_processor_s(0);
	assert_int_equal(gp_trace_state(trace)->rest_bytes, b.length - 8);
	gp_trace_close(trace);
	gp_builder_free(&b);
}

/* While a file is written, what is not there yet is neither damaged nor skipped. */
static void test_file_that_grows(void **state)
{
	struct gp_builder b;
	struct gp_trace *trace;
	struct gp_chunk chunk;
	size_t ends[CHUNKS], length;
	int fd;

	build(&b, ends);
	length = b.length;
	b.length = ends[1] + 60; /* a header and some payload */
	trace = open_trace(gp_builder_save(&b));
	assert_int_equal(gp_trace_next(trace, &chunk), 1);
	assert_int_equal(gp_trace_next(trace, &chunk), 1);
	assert_int_equal(gp_trace_next(trace, &chunk), 0);
	assert_true(gp_trace_state(trace)->rest_is_cut);
	fd = open(b.path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, b.bytes + b.length, length - b.length), length - b.length);
	close(fd);
	assert_int_equal(gp_trace_next(trace, &chunk), 1);
	assert_int_equal(chunk.header.sequence, 2);
	assert_int_equal(gp_trace_next(trace, &chunk), 1);
	assert_int_equal(gp_trace_next(trace, &chunk), 0);
	assert_int_equal(gp_trace_state(trace)->damaged_bytes, 0);
	assert_int_equal(gp_trace_state(trace)->rest_bytes, 0);
	gp_trace_close(trace);
	gp_builder_free(&b);
}

/* ---- a circle ---- */

/* As build(), but the last chunks stand first, behind a few bytes of one that was before. */
static void build_circle(struct gp_builder *b, size_t *first_of_rest)
{
	size_t ends[CHUNKS], rest;
	uint8_t *copy;

	build(b, ends);
	copy = malloc(b->length);
	assert_non_null(copy);
	memcpy(copy, b->bytes, b->length);
	rest = b->length - ends[1];
	copy[7] = GP_TRACE_CIRCULAR;
	memcpy(copy + 8, b->bytes + ends[1], rest);
	memcpy(copy + 8 + rest, b->bytes + 8, ends[1] - 8);
	memcpy(b->bytes, copy, b->length);
	gp_builder_raw(b, copy + 8, 24);
	free(copy);
	*first_of_rest = 8 + rest;
}

static void test_circle_comes_in_its_order(void **state)
{
	struct gp_builder b;
	struct gp_trace *trace;
	struct gp_chunk chunk;
	size_t unused;

	build_circle(&b, &unused);
	trace = open_trace(gp_builder_save(&b));
	for (uint64_t i = 0; i < CHUNKS; i++) {
		assert_int_equal(gp_trace_next(trace, &chunk), 1);
		assert_int_equal(chunk.header.sequence, i);
	}
	assert_int_equal(gp_trace_next(trace, &chunk), 0);
	assert_int_equal(gp_trace_next(trace, &chunk), 0);
	assert_int_equal(gp_trace_state(trace)->chunks, CHUNKS);
	assert_int_equal(gp_trace_state(trace)->damaged_bytes, 0);
	assert_int_equal(gp_trace_state(trace)->rest_bytes, 0);
	assert_false(gp_trace_state(trace)->rest_is_cut);
	assert_int_equal(gp_trace_state(trace)->end_bytes, (b.length + 7) & ~7ul);
	gp_trace_close(trace);
	gp_builder_free(&b);
}

static void test_missing_chunk_of_a_circle_is_damage(void **state)
{
	struct gp_builder b;
	struct gp_trace *trace;
	uint64_t which;
	size_t first;

	build_circle(&b, &first);
	b.bytes[first + sizeof(struct gp_chunk_header)] ^= 1;
	trace = open_trace(gp_builder_save(&b));
	assert_int_equal(read_chunks(trace, &which), CHUNKS - 1);
	assert_int_equal(which, (1u << CHUNKS) - 2);
	assert_true(gp_trace_state(trace)->damaged_bytes > 0);
	gp_trace_close(trace);
	gp_builder_free(&b);
}

/* While it is read, a chunk makes room for a newer one. */
static void test_circle_that_goes_on(void **state)
{
	struct gp_builder b, more;
	struct gp_trace *trace;
	struct gp_chunk chunk;
	size_t first;
	uint64_t which;
	int fd;

	build_circle(&b, &first);
	gp_builder_init(&more);
	for (uint32_t i = 0; i <= CHUNKS; i++) { /* of those the last is new */
		more.length = 8;
		gp_builder_chunk(&more, 1, 100);
		gp_builder_call(&more, GP_TEST_SYNC, i, 100 * i, 1);
		gp_builder_seal(&more);
	}
	trace = open_trace(gp_builder_save(&b));
	assert_int_equal(gp_trace_next(trace, &chunk), 1);
	assert_int_equal(read_chunks(trace, &which), CHUNKS - 1);
	fd = open(b.path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, more.bytes + 8, more.length - 8, (off_t)first),
			 more.length - 8);
	close(fd);
	assert_int_equal(read_chunks(trace, &which), 1);
	assert_int_equal(which, 1u << CHUNKS);
	assert_int_equal(gp_trace_state(trace)->damaged_bytes, 0);
	gp_trace_close(trace);
	gp_builder_free(&b);
	gp_builder_free(&more);
}

/* ---- what is no trace ---- */

static void assert_refused(const char *path, int error, const char *why)
{
	char message[256] = "";
	struct gp_trace *trace = NULL;

	assert_int_equal(gp_trace_open(path, &trace, message, sizeof(message)), error);
	if (!strstr(message, why))
		fail_msg("\"%s\" does not say \"%s\"", message, why);
	assert_null(strchr(message, '\n'));
	assert_non_null(strstr(message, path));
}

static void test_what_is_no_trace_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		int error;
		const char *why;
	} files[] = {
		{"", 0, -EINVAL, "is empty"},
		{"gpuprof", 7, -EINVAL, "is not a trace of gpuprof"},
		{"\x7f"
		 "ELF\1\1\1\0\0\0",
		 10, -EINVAL, "is not a trace of gpuprof"},
		{"gpuprof\3", 8, -EPROTONOSUPPORT, "newer gpuprof"},
		{"gpuprof\377", 8, -EPROTONOSUPPORT, "trace version 255"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct gp_builder b;

		gp_builder_init(&b);
		b.length = 0;
		gp_builder_raw(&b, files[i].bytes, files[i].length);
		assert_refused(gp_builder_save(&b), files[i].error, files[i].why);
		gp_builder_free(&b);
	}
}

static void test_what_cannot_be_read_is_refused(void **state)
{
	char pipe_path[] = "/tmp/gpuprof-test-XXXXXX";

	assert_refused("/tmp/gpuprof-test-there-is-no-such.gpuprof", -ENOENT, "No such file");
	assert_refused("/tmp", -EISDIR, "directory");
	assert_non_null(temporary_folder(pipe_path));
	rmdir(pipe_path);
	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	assert_refused(pipe_path, -ESPIPE, "it is not a file"); /* and does not wait for a writer */
	unlink(pipe_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_file),
		cmocka_unit_test(test_flipped_byte_costs_its_chunk),
		cmocka_unit_test(test_cut_file_keeps_what_is_before),
		cmocka_unit_test(test_resynchronises_after_any_insertion),
		cmocka_unit_test(test_lying_headers_cost_no_more_than_their_length),
		cmocka_unit_test(test_file_that_grows),
		cmocka_unit_test(test_circle_comes_in_its_order),
		cmocka_unit_test(test_missing_chunk_of_a_circle_is_damage),
		cmocka_unit_test(test_circle_that_goes_on),
		cmocka_unit_test(test_what_is_no_trace_is_refused),
		cmocka_unit_test(test_what_cannot_be_read_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
