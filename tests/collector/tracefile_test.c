/* tracefile: the file's name, and valid chunks after any kind of failed write. */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "collector/encode.h"
#include "collector/sys.h"
#include "collector/tracefile.h"

static const char *folder;
static struct gp_encoder encoder;
static struct gp_chunk chunk;

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int set_up(void **unused)
{
	(void)unused;
	folder = new_folder();
	gp_encode_init(&encoder);
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	remove_folder(folder);
	return 0;
}

/* A chunk of `records` calls of ring 1. */
static void fill(uint32_t records)
{
	static uint32_t position;
	struct gp_record_call call = {.kind = GP_RECORD_CALL, .slots = 1};

	gp_encode_begin(&encoder, chunk.payload, sizeof(chunk.payload));
	for (uint32_t i = 0; i < records; i++) {
		call.correlation_id += i * i * 77;
		call.start_ticks = i * 0x123456789u;
		assert_true(gp_encode(&encoder, (const struct gp_record *)&call));
	}
	chunk.header.payload_bytes = gp_encode_bytes(&encoder);
	chunk.header.records = records;
	chunk.program_records = records;
	chunk.header.ring = 1;
	chunk.header.thread = 1;
	chunk.header.position = position;
	chunk.header.position_slots = records;
	position += records;
}

static void an_existing_name_gets_a_number(void **unused)
{
	struct gp_tracefile first, second, third;
	struct stat status;
	mode_t mask;

	(void)unused;
	assert_int_equal(gp_tracefile_create(&first, path_of("n")), 0);
	assert_string_equal(first.path, path_of("n.gpuprof"));
	assert_int_equal(gp_tracefile_create(&second, path_of("n")), 0);
	assert_string_equal(second.path, path_of("n.2.gpuprof"));
	assert_int_equal(symlink("/nowhere/at/all", path_of("n.3.gpuprof")), 0);
	mask = umask(0777); /* the file must still be opened again */
	assert_int_equal(gp_tracefile_create(&third, path_of("n")), 0);
	umask(mask);
	assert_string_equal(third.path, path_of("n.4.gpuprof"));
	assert_int_equal(stat(third.path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_size, 8);
}

/* The Chrome trace would overwrite the existing file. */
static void a_name_with_a_chrome_trace_is_taken(void **unused)
{
	struct gp_tracefile file;
	FILE *foreign = fopen(path_of("config.json"), "w");

	(void)unused;
	assert_non_null(foreign);
	fclose(foreign);
	assert_int_equal(gp_tracefile_create(&file, path_of("config")), 0);
	assert_string_equal(file.path, path_of("config.2.gpuprof"));
}

static void bad_names_are_refused(void **unused)
{
	struct gp_tracefile file;
	static char longest[2000];

	(void)unused;
	assert_int_equal(gp_tracefile_create(&file, "here"), -EINVAL);
	assert_string_equal(file.path, "");
	assert_int_equal(gp_tracefile_create(&file, path_of("no/such")), -ENOENT);
	memset(longest, '/', sizeof(longest) - 1);
	assert_int_equal(gp_tracefile_create(&file, longest), -ENAMETOOLONG);
	assert_string_equal(file.path, "");
}

static void chunks_can_be_read(void **unused)
{
	static struct scan scan;
	struct gp_tracefile file;

	(void)unused;
	assert_int_equal(gp_tracefile_create(&file, path_of("c")), 0);
	for (uint32_t records = 1; records < 40; records++) {
		fill(records);
		assert_int_equal(gp_tracefile_append(&file, &chunk), 0);
		if (records % 3 == 0)
			gp_tracefile_close(&file);
	}
	gp_tracefile_close(&file);
	assert_true(scan_trace(&scan, file.path));
	assert_string_equal(scan.error ? scan.error : "", "");
	assert_int_equal(scan.chunks, 39);
	assert_int_equal(scan.records, 39 * 40 / 2);
	assert_int_equal(scan.damaged_bytes + scan.cut_bytes, 0);
	assert_int_equal(file.sequence, 39);
}

static void a_removed_file_is_an_error(void **unused)
{
	struct gp_tracefile file;

	(void)unused;
	assert_int_equal(gp_tracefile_create(&file, path_of("c")), 0);
	assert_int_equal(unlink(file.path), 0);
	fill(1);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ENOENT);
	assert_int_equal(symlink("/dev/null", file.path), 0);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ELOOP);
}

static void create_one_that_stays_open(struct gp_tracefile *file)
{
	assert_int_equal(gp_tracefile_create(file, path_of("c")), 0);
	file->stays_open = true;
	fill(1);
	assert_int_equal(gp_tracefile_append(file, &chunk), 0);
	gp_tracefile_close(file);
}

/*
 * An open descriptor needs no permission and no path.  But an unlinked file is no longer a trace.
 */
static void a_file_that_stays_open(void **unused)
{
	struct gp_tracefile file;

	(void)unused;
	create_one_that_stays_open(&file);
	assert_true(file.fd >= 0);
	assert_int_equal(rename(file.path, path_of("moved")), 0);
	assert_int_equal(gp_tracefile_append(&file, &chunk), 0);
	gp_tracefile_close(&file);
	assert_int_equal(truncate(path_of("moved"), 8), 0);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ENOENT);
	assert_int_equal(file.fd, -1);
	assert_int_equal(rename(path_of("moved"), file.path), 0);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ESTALE);
}

static void a_file_that_stays_open_and_is_removed(void **unused)
{
	struct gp_tracefile file;

	(void)unused;
	create_one_that_stays_open(&file);
	assert_int_equal(unlink(file.path), 0);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ENOENT);
	assert_int_equal(file.fd, -1);
}

/* The trace was removed, and another file created under its name. */
static void a_foreign_file_is_not_touched(void **unused)
{
	struct gp_tracefile file;
	struct stat status;
	int fd;

	(void)unused;
	assert_int_equal(gp_tracefile_create(&file, path_of("s")), 0);
	assert_int_equal(rename(file.path, path_of("kept")), 0);
	fd = open(file.path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
	fill(1);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ESTALE);
	assert_int_equal(stat(file.path, &status), 0);
	assert_int_equal(status.st_size, 0);
	assert_int_equal(file.fd, -1);
	assert_int_equal(truncate(file.path, (off_t)file.bytes), 0);
	assert_int_equal(chmod(path_of("."), 0777), 0);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ESTALE);
	assert_int_equal(stat(file.path, &status), 0);
	assert_int_equal(status.st_size, file.bytes);
}

/* Some file systems give a file another inode number once nobody has it open. */
static void an_inode_number_may_change_in_a_folder_of_ours(void **unused)
{
	struct gp_tracefile file;

	(void)unused;
	assert_int_equal(gp_tracefile_create(&file, path_of("s")), 0);
	file.id.inode++;
	fill(1);
	assert_int_equal(gp_tracefile_append(&file, &chunk), 0);
	assert_int_equal(gp_tracefile_create(&file, path_of("t")), 0);
	file.id.owner++;
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ESTALE);
}

/* Whoever may write to the folder removes the trace, and puts a file of the same length there. */
static void a_file_that_stays_open_is_not_given_up_for_another(void **unused)
{
	struct gp_tracefile file;
	struct stat status;
	int fd;

	(void)unused;
	create_one_that_stays_open(&file);
	fd = open(path_of("other"), O_WRONLY | O_CREAT, 0666);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)file.bytes), 0);
	close(fd);
	assert_int_equal(chmod(path_of("."), 0777), 0);
	assert_int_equal(rename(path_of("other"), file.path), 0);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ESTALE);
	assert_int_equal(stat(file.path, &status), 0);
	assert_int_equal(status.st_size, file.bytes);
}

/* ---- writes that go wrong ---- */

static long (*real_call)(long, long, long, long, long, long, long);
static int writes;
static bool can_truncate;

/* Of ten writes, some are cut short at any position, by a signal or a full disk. */
static long bad_disk(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_ftruncate && !can_truncate)
		return -EPERM;
	if (number != SYS_write)
		return real_call(number, a, b, c, d, e, f);
	switch (writes++ % 10) {
	case 2:
	case 7: /* writes a part; the next call fails */
		return real_call(number, a, b, 1 + (writes * 7919) % (c - 1), d, e, f);
	case 3:
		return -ENOSPC;
	case 8:
		return 0;
	case 5:
		return -EINTR;
	case 9: /* writes a part; the next call continues */
		return real_call(number, a, b, c / 2, d, e, f);
	default:
		return real_call(number, a, b, c, d, e, f);
	}
}

static void write_badly(bool truncates)
{
	static struct scan scan;
	struct gp_tracefile file;
	uint64_t good = 0, failed = 0, records = 0;

	assert_int_equal(gp_tracefile_create(&file, path_of("bad")), 0);
	can_truncate = truncates;
	writes = 0;
	real_call = gp_sys.call;
	gp_sys.call = bad_disk;
	for (uint32_t i = 1; i < 300; i++) {
		fill(i);
		chunk.header.position =
			records; /* as if the records of a failed chunk were written again */
		if (gp_tracefile_append(&file, &chunk) == 0) {
			good++;
			records += i;
		} else {
			failed++;
		}
		if (i % 4 == 0)
			gp_tracefile_close(&file);
	}
	gp_tracefile_close(&file);
	gp_sys.call = real_call;
	assert_true(failed > 30);
	memset(&scan, 0, sizeof(scan));
	assert_true(scan_trace(&scan, file.path));
	assert_string_equal(scan.error ? scan.error : "", "");
	assert_int_equal(scan.chunks, good);
	assert_int_equal(scan.records, records);
	if (truncates)
		assert_int_equal(scan.damaged_bytes, 0);
	else
		assert_true(scan.damaged_bytes > 0);
}

static void a_partial_write_is_undone(void **unused)
{
	(void)unused;
	write_badly(true);
}

static void readers_find_chunks_after_a_partial_write(void **unused)
{
	(void)unused;
	write_badly(false);
}

static long full_disk(long number, long a, long b, long c, long d, long e, long f)
{
	return number == SYS_write ? -ENOSPC : real_call(number, a, b, c, d, e, f);
}

/*
 * After a short and a long chunk: the long one is removed, although it is the only one after the
 * first.
 */
static void space_is_made_down_to_the_first_chunk(void **unused)
{
	static struct scan scan;
	struct gp_tracefile file;
	uint64_t records = 0;

	(void)unused;
	assert_int_equal(gp_tracefile_create(&file, path_of("full")), 0);
	fill(3);
	assert_int_equal(gp_tracefile_append(&file, &chunk), 0);
	fill(2000);
	assert_true(chunk.header.payload_bytes > GP_TRACEFILE_RESERVED_BYTES);
	assert_int_equal(gp_tracefile_append(&file, &chunk), 0);
	real_call = gp_sys.call;
	gp_sys.call = full_disk;
	fill(10);
	assert_int_equal(gp_tracefile_append(&file, &chunk), -ENOSPC);
	gp_sys.call = real_call;
	assert_int_equal(gp_tracefile_make_space(&file, &records), 0);
	assert_int_equal(records, 2000);
	gp_tracefile_close(&file);
	memset(&scan, 0, sizeof(scan));
	assert_true(scan_trace(&scan, file.path));
	assert_int_equal(scan.chunks, 1);
	assert_int_equal(scan.records, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_existing_name_gets_a_number, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_name_with_a_chrome_trace_is_taken, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(bad_names_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(chunks_can_be_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_stays_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_stays_open_and_is_removed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_file_that_stays_open_is_not_given_up_for_another,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_foreign_file_is_not_touched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_inode_number_may_change_in_a_folder_of_ours,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_removed_file_is_an_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_partial_write_is_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(space_is_made_down_to_the_first_chunk, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(readers_find_chunks_after_a_partial_write, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
