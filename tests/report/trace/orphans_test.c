/*
 * Ring files of the dead, beside their traces: which are saved, which are removed, and which stay.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/load/load_model.h"
#include "report/model/build/build.h"
#include "report/trace/orphans.h"
#include "tests/lib/temporary.h"
#include "tests/report/ring_scene.h"
#include "tests/unit.h"

static char folder[32], trace[64];

/*
 * The scene's trace in a folder of its own, with the ring file beside it and one call that only the
 * rings have.
 */
static struct scene *place(struct scene *s)
{
	strcpy(folder, "/tmp/gpuprof-test-XXXXXX");
	assert_non_null(temporary_folder(folder));
	snprintf(trace, sizeof(trace), "%s/t.gpuprof", folder);
	assert_int_equal(rename(gp_builder_save(&s->b), trace), 0);
	unlink(s->path);
	snprintf(s->path, sizeof(s->path), "%s/t.gpuprof.rings-1", folder);
	snprintf(s->file.header.trace_path, sizeof(s->file.header.trace_path), "%s", trace);
	publish(s, 0, 100);
	write_rings(s);
	return s;
}

static void clear(struct scene *s)
{
	unlink(trace);
	free_scene(s);
	assert_int_equal(rmdir(folder), 0);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

static uint32_t calls_in_trace(void)
{
	const struct gp_load_options options = {.save_to = -1};
	char message[256];
	struct gp_model *m;
	uint32_t calls;

	assert_int_equal(gp_model_load_with(trace, &options, &m, message, sizeof(message)), 0);
	calls = m->call_count;
	gp_model_free(m);
	return calls;
}

static void test_the_rings_of_the_dead_are_moved_into_their_trace(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());

	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0);
	assert_int_equal(calls_in_trace(), 1);
	gp_orphans_save(trace);
	assert_int_equal(calls_in_trace(), 1);
	clear(s);
}

/* How it ended is told by who waited for it, who may not have been able to save. */
static void test_a_told_end_does_not_make_a_trace_complete(void **state)
{
	struct scene *s = new_scene_of_the_dead();

	gp_builder_chunk(&s->b, 0, 0);
	gp_builder_add(&s->b, &(struct gp_record_end){.kind = GP_RECORD_END,
						      .reason = GP_END_REPORTED,
						      .way = GP_END_SIGNAL,
						      .status = 9});
	place(s);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0);
	assert_int_equal(calls_in_trace(), 1);
	clear(s);
}

static void assert_stays(struct scene *s)
{
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0600);
	unlink(s->path);
	assert_int_equal(calls_in_trace(), 0);
	clear(s);
}

static void test_those_of_a_living_process_stay(void **state)
{
	assert_stays(place(new_scene((uint32_t)getpid(), start_time_of(getpid()))));
}

static void test_those_of_another_boot_stay(void **state)
{
	struct scene *s = new_scene_of_the_dead();

	memset(s->file.header.boot_id, 'x', 36);
	assert_stays(place(s));
}

/* A process of another namespace, whose id means nothing here. */
static void test_those_that_somebody_can_write_stay(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());
	int fd = open(s->path, O_RDWR | O_CLOEXEC);
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	close(fd);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_stays(s);
	munmap(memory, 4096);
}

static void test_those_of_a_trace_that_is_being_finished_stay(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());
	int fd = open(trace, O_RDONLY | O_CLOEXEC);

	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_stays(s);
	close(fd);
}

static void test_where_the_trace_is_complete_they_are_only_removed(void **state)
{
	struct scene *s = new_scene_of_the_dead();

	gp_builder_chunk(&s->b, 0, 0);
	gp_builder_end(&s->b, 1000);
	place(s);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0);
	assert_int_equal(calls_in_trace(), 0);
	clear(s);
}

static void set_age(const char *path, time_t seconds)
{
	const struct timespec times[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* However old the file was then: the process may have lived long. */
static void test_without_their_trace_they_go_some_time_after_they_were_first_seen(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());

	unlink(trace);
	set_age(s->path, 1000000);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0400);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0400);
	set_age(s->path, 100000);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0);
	clear(s);
}

static void test_many_without_their_trace_go_at_once(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());

	unlink(trace);
	assert_int_equal(truncate(s->path, 17 << 20), 0);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0);
	clear(s);
}

/* The name was used again for another process's trace. */
static void test_they_never_go_into_the_trace_of_another_process(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());

	s->file.header.start_time++;
	write_rings(s);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0400);
	assert_int_equal(calls_in_trace(), 0);
	clear(s);
}

/* In a container the trace may have another path. */
static void test_whose_paths_are_not_ours_stay(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());

	s->file.header.mount_namespace = 1;
	write_rings(s);
	unlink(trace);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0600);
	clear(s);
}

static void test_a_file_without_a_beginning_goes(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());
	int fd = open(s->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0600); /* its maker still has it open */
	close(fd);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(s->path), 0);
	clear(s);
}

static void test_links_are_not_followed(void **state)
{
	struct scene *s = place(new_scene_of_the_dead());
	char moved[96];

	snprintf(moved, sizeof(moved), "%s/elsewhere", folder);
	assert_int_equal(rename(s->path, moved), 0);
	assert_int_equal(symlink(moved, s->path), 0);
	gp_orphans_save(trace);
	assert_int_equal(mode_of(moved), 0600);
	unlink(moved);
	clear(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_rings_of_the_dead_are_moved_into_their_trace),
		cmocka_unit_test(test_a_told_end_does_not_make_a_trace_complete),
		cmocka_unit_test(test_those_of_a_living_process_stay),
		cmocka_unit_test(test_those_of_another_boot_stay),
		cmocka_unit_test(test_those_that_somebody_can_write_stay),
		cmocka_unit_test(test_those_of_a_trace_that_is_being_finished_stay),
		cmocka_unit_test(test_where_the_trace_is_complete_they_are_only_removed),
		cmocka_unit_test(
			test_without_their_trace_they_go_some_time_after_they_were_first_seen),
		cmocka_unit_test(test_many_without_their_trace_go_at_once),
		cmocka_unit_test(test_they_never_go_into_the_trace_of_another_process),
		cmocka_unit_test(test_whose_paths_are_not_ours_stay),
		cmocka_unit_test(test_a_file_without_a_beginning_goes),
		cmocka_unit_test(test_links_are_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
