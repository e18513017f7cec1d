/*
 * ring_scene: a trace whose process left, or has, a ring file (gpuprof/ring_file.h): for the tests
 * of what is read from such files, and of what becomes of them.
 *
 *	struct scene *s = new_scene_of_the_dead();
 *
 *	publish(s, 0, 100);                    a call at 100 ns that only the first ring has
 *	model = load(s);                       trace and rings are written as they are now
 *	...
 *	free_scene(s);
 */
#ifndef TESTS_REPORT_RING_SCENE_H
#define TESTS_REPORT_RING_SCENE_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpuprof/ring_file.h"
#include "tests/lib/temporary.h"
#include "tests/report/trace_builder.h"

#define SLOTS 8u

struct test_ring {
	struct gp_ring_header header;
	uint8_t zero[GP_RING_HEADER_BYTES - sizeof(struct gp_ring_header)];
	uint8_t slots[SLOTS][GP_SLOT_BYTES];
};

/* A ring file in memory, as a process would have it mapped. */
struct test_file {
	struct gp_ring_file_header header;
	uint8_t zero[GP_RING_HEADER_BYTES - sizeof(struct gp_ring_file_header)];
	struct test_ring rings[3];
};

struct scene {
	struct gp_builder b;
	struct test_file file;
	char path[64]; /* of the ring file */
};

static inline void read_text(const char *path, char *text, size_t bytes)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, bytes - 1, file)] = '\0';
	text[strcspn(text, "\n")] = '\0';
	fclose(file);
}

/* Field 22 of /proc/PID/stat, in the tests' own way: the names here hold no blanks. */
static inline uint64_t start_time_of(pid_t pid)
{
	char path[64], text[1024], *at = text;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_text(path, text, sizeof(text));
	for (int field = 1; field < 22; field++)
		at = strchr(at, ' ') + 1;
	return strtoull(at, NULL, 10);
}

static inline void add_number(struct gp_builder *b, enum gp_info info, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lu", number);
	gp_builder_string(b, GP_STRING_INFO, info, 0, text);
}

/* A trace of the process pid whose ring file, of three rings without content, lies in memory. */
static inline struct scene *new_scene(uint32_t pid, uint64_t start_time)
{
	struct scene *s = calloc(1, sizeof(*s));
	int fd;

	assert_non_null(s);
	strcpy(s->path, "/tmp/gpuprof-test-rings-XXXXXX");
	fd = mkostemp(s->path, O_CLOEXEC);
	assert_true(fd >= 0);
	note_temporary(s->path);
	close(fd);
	memcpy(s->file.header.magic, GP_RING_FILE_MAGIC, 8);
	s->file.header.pid = pid;
	s->file.header.start_time = start_time;
	read_text("/proc/sys/kernel/random/boot_id", s->file.header.boot_id,
		  sizeof(s->file.header.boot_id));
	for (uint32_t i = 0; i < 3; i++)
		s->file.rings[i].header = (struct gp_ring_header){.magic = GP_RING_MAGIC,
								  .slot_count = SLOTS,
								  .ring = 4 + i,
								  .thread = 400 + i};
	gp_builder_init(&s->b);
	gp_builder_start(&s->b);
	add_number(&s->b, GP_INFO_PID, pid);
	add_number(&s->b, GP_INFO_START_TIME, start_time);
	gp_builder_string(&s->b, GP_STRING_INFO, GP_INFO_BOOT_ID, 0, s->file.header.boot_id);
	gp_builder_string(&s->b, GP_STRING_INFO, GP_INFO_RING_FILE, 0, s->path);
	return s;
}

static inline struct scene *new_scene_of_the_dead(void)
{
	return new_scene(1u << 30, 12345); /* above any pid */
}

static inline void free_scene(struct scene *s)
{
	unlink(s->path);
	gp_builder_free(&s->b);
	free(s);
}

/* Publish a synchronization of 5 ns that began at start_ns, in a ring of the file. */
static inline void publish(struct scene *s, uint32_t ring, uint64_t start_ns)
{
	struct test_ring *r = &s->file.rings[ring];
	struct gp_record_call call = {.kind = GP_RECORD_CALL,
				      .slots = 1,
				      .api = GP_TEST_SYNC,
				      .start_ticks = GP_TEST_AT_TICK(start_ns),
				      .duration_low_ticks = 5};

	memcpy(r->slots[r->header.head++ % SLOTS], &call, sizeof(call));
}

static inline void write_rings(struct scene *s)
{
	int fd = open(s->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, &s->file, sizeof(s->file)), sizeof(s->file));
	close(fd);
}

static inline struct gp_model *load(struct scene *s)
{
	char *real = realpath(gp_builder_save(&s->b), NULL);

	if (s->file.header.trace_path[0] == '\0')
		snprintf(s->file.header.trace_path, sizeof(s->file.header.trace_path), "%s", real);
	free(real);
	write_rings(s);
	return gp_builder_load(&s->b);
}

#endif
