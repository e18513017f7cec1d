/*
 * trace: writes a reproducible trace of training steps, of any size, for bench/hooks, which counts
 * the instructions of reading it.
 *
 *	trace LAUNCHES FILE
 *
 * A step has 100 launches of 20 kernels, each with its own shape, in two ranges, by two threads into
 * two streams; a copy, an allocation and its free, and a wait.  Times vary pseudo-randomly from step
 * to step.  There is an anchor each second, as in a recording.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/report/trace_builder.h"

#define STEP_LAUNCHES 100u
#define KERNELS       20u
#define OTHERS        10u /* one in this many launches is of the other thread */
#define STEPS_A_CHUNK 4u  /* per ring */
#define ANCHORS_NS    1000000000u

enum { WRITER, CALLS, OTHER_CALLS, WORK }; /* rings */

struct step {
	uint64_t start_ns, launched_ns; /* start of the step, end of its last launch */
	uint64_t launch_ns[STEP_LAUNCHES];
	uint32_t launch_length_ns[STEP_LAUNCHES];
	uint32_t first; /* first correlation id */
};

static uint32_t chance = 1;

/* A pseudo-random number below `most`. */
static uint32_t by_chance(uint32_t most)
{
	chance = chance * 1664525u + 1013904223u;
	return (chance >> 8) % most;
}

static bool is_of_other(uint32_t launch)
{
	return launch % OTHERS == OTHERS - 1;
}

static void define(struct gp_builder *b)
{
	char name[64];

	gp_builder_start(b);
	gp_builder_string(b, GP_STRING_RANGE, 1, 0, "step");
	gp_builder_string(b, GP_STRING_RANGE, 2, 0, "forward");
	for (uint32_t i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "_Z14layer_kernel%02uPfS_i", i);
		gp_builder_string(b, GP_STRING_KERNEL, 2 + i, 0, name);
		gp_builder_add(b, &(struct gp_record_shape){.kind = GP_RECORD_SHAPE,
							    .id = 2 + i,
							    .registers = 32,
							    .grid = {8 + 16 * i, 1, 1},
							    .block = {128, 1, 1}});
	}
}

static void add_range(struct gp_builder *b, uint8_t op, uint32_t text, uint64_t ns)
{
	gp_builder_add(b, &(struct gp_record_range){.kind = GP_RECORD_RANGE,
						    .op = op,
						    .text_id = text,
						    .ticks = GP_TEST_AT_TICK(ns)});
}

static void plan(struct step *step, uint64_t start_ns, uint32_t first)
{
	step->start_ns = start_ns;
	step->first = first;
	step->launched_ns = start_ns + 6000;
	for (uint32_t i = 0; i < STEP_LAUNCHES; i++) {
		step->launch_ns[i] = step->launched_ns;
		step->launch_length_ns[i] = 2500 + by_chance(1500);
		step->launched_ns += step->launch_length_ns[i] + 300 + by_chance(400);
	}
}

static void add_launches(struct gp_builder *b, const struct step *step, bool of_other)
{
	for (uint32_t i = 0; i < STEP_LAUNCHES; i++)
		if (is_of_other(i) == of_other)
			gp_builder_call(b, GP_TEST_LAUNCH, step->first + i, step->launch_ns[i],
					step->launch_length_ns[i]);
}

/* The calls and ranges of the main thread. */
static void add_calls(struct gp_builder *b, const struct step *step)
{
	uint64_t start_ns = step->start_ns, launched_ns = step->launched_ns;

	add_range(b, GP_RANGE_PUSH, 1, start_ns);
	gp_builder_memory(b, GP_MEMORY_DEVICE, start_ns + 100, 0x7f0000000000, 1 << 20);
	gp_builder_call(b, GP_TEST_COPY, step->first + STEP_LAUNCHES, start_ns + 1000, 4000);
	add_range(b, GP_RANGE_PUSH, 2, start_ns + 5500);
	add_launches(b, step, false);
	add_range(b, GP_RANGE_POP, 0, launched_ns);
	gp_builder_call(b, GP_TEST_SYNC, step->first + STEP_LAUNCHES + 1, launched_ns + 200, 60000);
	gp_builder_memory(b, GP_MEMORY_DEVICE, launched_ns + 61000, 0x7f0000000000, 0);
	add_range(b, GP_RANGE_POP, 0, launched_ns + 62000);
}

static void add_work(struct gp_builder *b, const struct step *step)
{
	uint64_t free_ns[2] = {0, 0};

	gp_builder_add(b, &(struct gp_record_copy){.kind = GP_RECORD_COPY,
						   .correlation_id = step->first + STEP_LAUNCHES,
						   .start_ns = GP_TEST_CUPTI(step->start_ns + 2000),
						   .end_ns = GP_TEST_CUPTI(step->start_ns + 4500),
						   .bytes = 65536,
						   .copy_kind = GP_COPY_HTOD,
						   .source_kind = 2,
						   .destination_kind = 3,
						   .context_id = 1,
						   .stream_id = 7});
	for (uint32_t i = 0; i < STEP_LAUNCHES; i++) {
		uint64_t *stream_ns = &free_ns[is_of_other(i)];
		uint64_t start_ns = step->launch_ns[i] + 4000;

		if (start_ns < *stream_ns + 700)
			start_ns = *stream_ns + 700;
		*stream_ns = start_ns + 1500 + 100 * (i % KERNELS) + by_chance(300);
		gp_builder_add(b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
							     .correlation_id = step->first + i,
							     .start_ns = GP_TEST_CUPTI(start_ns),
							     .end_ns = GP_TEST_CUPTI(*stream_ns),
							     .name_id = 2 + i % KERNELS,
							     .shape_id = 2 + i % KERNELS,
							     .context_id = 1,
							     .stream_id = is_of_other(i) ? 8 : 7});
	}
}

/* Adds a few steps, as one chunk of each ring.  Returns their end time. */
static uint64_t add_steps(struct gp_builder *b, uint32_t number, uint64_t start_ns)
{
	struct step steps[STEPS_A_CHUNK];

	for (uint32_t i = 0; i < STEPS_A_CHUNK; i++) {
		plan(&steps[i], start_ns, 1 + (number + i) * (STEP_LAUNCHES + 2));
		start_ns = steps[i].launched_ns + 80000 + by_chance(20000);
	}
	gp_builder_chunk(b, CALLS, 100);
	for (uint32_t i = 0; i < STEPS_A_CHUNK; i++)
		add_calls(b, &steps[i]);
	gp_builder_chunk(b, OTHER_CALLS, 200);
	for (uint32_t i = 0; i < STEPS_A_CHUNK; i++)
		add_launches(b, &steps[i], true);
	gp_builder_chunk(b, WORK, 300);
	for (uint32_t i = 0; i < STEPS_A_CHUNK; i++)
		add_work(b, &steps[i]);
	return start_ns;
}

/* Writes the finished chunks to the file, so that memory does not grow with the trace. */
static bool put_away(struct gp_builder *b, FILE *file)
{
	size_t length;

	gp_builder_seal(b);
	length = b->length;
	b->length = 0;
	return fwrite(b->bytes, 1, length, file) == length;
}

static bool write_all(struct gp_builder *b, uint32_t count, FILE *file)
{
	uint64_t ns = 1000000, anchor_ns = ANCHORS_NS;
	bool is_written = true;

	define(b);
	for (uint32_t done = 0; done < count && is_written; done += STEPS_A_CHUNK) {
		is_written = put_away(b, file);
		ns = add_steps(b, done, ns);
		if (ns < anchor_ns)
			continue;
		gp_builder_chunk(b, WRITER, 0);
		gp_builder_anchor(b, ns);
		anchor_ns += ANCHORS_NS;
	}
	gp_builder_chunk(b, WRITER, 0);
	gp_builder_anchor(b, ns);
	gp_builder_end(b, ns);
	return is_written && put_away(b, file);
}

int main(int argc, char **argv)
{
	long launches = argc == 3 ? atol(argv[1]) : 0;
	struct gp_builder b;
	FILE *file;
	bool is_written;

	if (launches < 1) {
		fprintf(stderr, "usage: trace LAUNCHES FILE\n");
		return 64;
	}
	gp_builder_init(&b);
	file = fopen(argv[2], "w");
	is_written = file && write_all(&b, (uint32_t)(launches / STEP_LAUNCHES), file);
	is_written = file && fclose(file) == 0 && is_written;
	gp_builder_free(&b);
	return is_written ? 0 : 1;
}
