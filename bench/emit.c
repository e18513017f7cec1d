/*
 * emit: measures the cost of a record, from gp_emit() to the bytes in the file.
 *
 *   bench/emit [ROUNDS]
 *
 * The stream is a training step as seen on a real program: 900 launches, 120 kernels, 60 shapes,
 * the times jittered; a call record (1 slot) and a kernel record (2 slots) for each launch.  Prints
 * the median, lowest and highest of ROUNDS rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/collector.h"
#include "collector/encode.h"

#define LAUNCHES   900u
#define STEPS      20u
#define CHUNK      65536u
#define MAX_ROUNDS 1000u

struct launch {
	struct gp_record_call call;
	struct gp_record_kernel kernel;
};

static struct launch launches[LAUNCHES * STEPS];
static volatile bool sink;

static uint32_t jitter(uint32_t limit)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)state * limit >> 32);
}

static void make_launches(void)
{
	uint64_t ticks = 1ull << 40, ns = 1700000000000000000u;

	for (uint32_t i = 0; i < LAUNCHES * STEPS; i++) {
		uint32_t place = i % LAUNCHES;
		struct launch *launch = &launches[i];

		ticks += 8000 + jitter(4000);
		launch->call = (struct gp_record_call){
			.kind = GP_RECORD_CALL,
			.slots = 1,
			.api = 211,
			.correlation_id = 9 * i + (place % 7 == 0),
			.start_ticks = ticks,
			.duration_low_ticks = 7000 + jitter(2000),
			.context_id = 1,
		};
		ns += 1200 + jitter(600);
		launch->kernel = (struct gp_record_kernel){
			.kind = GP_RECORD_KERNEL,
			.slots = 2,
			.correlation_id = launch->call.correlation_id,
			.start_ns = ns,
			.end_ns = ns + 2000 + place * 13 % 5000 + jitter(300),
			.name_id = 1 + place * 31 % 120,
			.shape_id = 1 + place * 17 % 60,
			.context_id = 1,
			.stream_id = 7,
			.channel_id = 8,
			.channel_type = 1,
		};
		ticks += launch->call.duration_low_ticks;
		ns = launch->kernel.end_ns;
	}
}

/* ---- measuring ---- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/*
 * Measures `work`, which repeats an operation `count` times.  Between rounds the writer empties the
 * ring.
 */
static void measure(const char *what, void (*work)(void), uint32_t count, uint32_t rounds)
{
	double ns[MAX_ROUNDS];

	for (uint32_t i = 0; i < rounds; i++) {
		uint64_t start;

		usleep(70000);
		start = now_ns();
		work();
		ns[i] = (double)(now_ns() - start) / count;
	}
	qsort(ns, rounds, sizeof(ns[0]), compare);
	printf("%-44s %8.2f %8.2f %8.2f\n", what, ns[rounds / 2], ns[0], ns[rounds - 1]);
}

#define EMITS 10000u

static void emit_calls(void)
{
	for (uint32_t i = 0; i < EMITS; i++)
		sink = gp_emit((const struct gp_record *)&launches[i % LAUNCHES].call);
}

static void emit_kernels(void)
{
	for (uint32_t i = 0; i < EMITS / 2; i++)
		sink = gp_emit((const struct gp_record *)&launches[i % LAUNCHES].kernel);
}

static void emit_fresh_calls(void)
{
	for (uint32_t i = 0; i < EMITS; i++) {
		struct gp_record_call call = launches[0].call;

		call.correlation_id = i;
		call.start_ticks = gp_clock_ticks();
		sink = gp_emit((const struct gp_record *)&call);
	}
}

static void read_clock(void)
{
	for (uint32_t i = 0; i < EMITS; i++)
		sink = gp_clock_ticks() & 1;
}

static struct gp_encoder encoder;
static uint64_t encoded_bytes;

/* Calls and kernels come from different rings, and so go into different chunks. */
static void encode_all(bool kernels)
{
	static uint8_t payload[CHUNK];

	gp_encode_begin(&encoder, payload, sizeof(payload));
	for (uint32_t i = 0; i < LAUNCHES * STEPS; i++) {
		const struct gp_record *record =
			kernels ? (const struct gp_record *)&launches[i].kernel
				: (const struct gp_record *)&launches[i].call;

		if (gp_encode(&encoder, record))
			continue;
		encoded_bytes += gp_encode_bytes(&encoder) + 48;
		gp_encode_begin(&encoder, payload, sizeof(payload));
		gp_encode(&encoder, record);
	}
	encoded_bytes += gp_encode_bytes(&encoder) + 48;
}

static void encode_calls(void)
{
	encode_all(false);
}

static void encode_kernels(void)
{
	encode_all(true);
}

static void print_bytes(void)
{
	double calls, kernels;

	encoded_bytes = 0;
	encode_calls();
	calls = (double)encoded_bytes / (LAUNCHES * STEPS);
	encoded_bytes = 0;
	encode_kernels();
	kernels = (double)encoded_bytes / (LAUNCHES * STEPS);
	printf("\nbytes in the file: call %.1f + kernel %.1f = %.1f per launch\n", calls, kernels,
	       calls + kernels);
}

int main(int argc, char **argv)
{
	struct gp_collector_config config = {.trace_path = "/tmp/gpuprof-bench-emit"};
	uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 21;
	int error;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		return 2;
	make_launches();
	gp_encode_init(&encoder);
	error = gp_collector_start(&config);
	if (error) {
		fprintf(stderr, "gpuprof: the collector did not start: %s\n", strerror(-error));
		return 1;
	}
	emit_calls(); /* the thread's first record takes a ring */
	printf("%-44s %8s %8s %8s\n", "ns per operation", "median", "lowest", "highest");
	measure("gp_clock_ticks()", read_clock, EMITS, rounds);
	measure("gp_emit() of 1 slot", emit_calls, EMITS, rounds);
	measure("gp_emit() of 2 slots", emit_kernels, EMITS / 2, rounds);
	measure("gp_emit() of 1 slot, just filled, with clock", emit_fresh_calls, EMITS, rounds);
	measure("encode a call", encode_calls, LAUNCHES * STEPS, rounds);
	measure("encode a kernel", encode_kernels, LAUNCHES * STEPS, rounds);
	print_bytes();
	gp_collector_stop(5000000000u);
	unlink(gp_collector_trace_path());
	return 0;
}
