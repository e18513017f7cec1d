/*
 * What looks like a rule's case and is none: what would be said of it would be false, or would not
 * help.
 */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US 1000u
#define MS 1000000u

#define THREAD 100

static void build_kernel(struct build *b, uint64_t launched_ns, uint32_t stream_id,
			 uint64_t start_ns, uint64_t length_ns, uint32_t shape)
{
	uint32_t id = b->model->call_count + 1;

	build_call(b, THREAD, BUILD_LAUNCH, launched_ns, 5 * US, id);
	build_op(b, GP_OP_KERNEL, stream_id, start_ns, start_ns + length_ns, id)->shape = shape;
}

/* The most that a rule says could be saved; 0 = it says nothing. */
static uint64_t saved(struct gp_model *const *models, size_t count, const char *rule,
		      const char *words)
{
	struct gp_advice advice = ask(models, count);
	const struct gp_finding *found = find(&advice, rule);
	uint64_t saves_ns = found ? found->saves_ns : 0;

	if (found && words)
		assert_non_null(strstr(found->found, words));
	gp_advice_free(&advice);
	for (size_t i = 0; i < count; i++)
		gp_model_free(models[i]);
	return saves_ns;
}

static uint64_t saved_of(struct build *b, const char *rule, const char *words)
{
	struct gp_model *model = build_end(b);

	return saved(&model, 1, rule, words);
}

/* ---- what is saved is not saved twice ---- */

static struct gp_model *allocate(uint32_t pid)
{
	struct build b = build_begin(pid);

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * 2 * MS;

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns, 0x1000, 64);
		b.model->calls[b.model->call_count - 1].start_ns = at_ns - MS / 2;
		b.model->calls[b.model->call_count - 1].duration_ns = MS / 2;
		build_kernel(&b, at_ns, 7, at_ns + 10 * US, MS, GP_NONE);
		build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + MS + 100 * US, 0x1000,
			     0);
	}
	return build_end(&b);
}

/*
 * A loop of 80 ms, of which the allocations take a quarter, in a run of so long: 20 ms are 0.5 % of
 * 4 s, and 0.2 % of 10 s.
 */
static uint64_t allocate_in_a_run_of(uint64_t seconds)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_name(&b, "k");
	build_name(&b, "l");
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * 2 * MS;

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns, 0x1000, 64);
		b.model->calls[b.model->call_count - 1].start_ns = at_ns - MS / 2;
		b.model->calls[b.model->call_count - 1].duration_ns = MS / 2;
		for (uint32_t k = 0; k < 2; k++) {
			build_kernel(&b, at_ns + k * 10 * US, 7, at_ns + 10 * US + k * MS / 2,
				     MS / 2 - 10 * US, GP_NONE);
			b.model->ops[b.model->op_count - 1].name = k;
		}
		build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + MS + 100 * US, 0x1000,
			     0);
	}
	build_call(&b, THREAD, BUILD_DEVICE_SYNC, seconds * 1000 * MS, 1000, 0);
	return saved_of(&b, "alloc-in-loop", NULL);
}

static void what_is_nothing_of_the_run_is_not_told(void **state)
{
	assert_in_range(allocate_in_a_run_of(4), 19 * MS, 20 * MS);
	assert_int_equal(allocate_in_a_run_of(10), 0);
}

static void processes_allocate_at_the_same_time(void **state)
{
	struct gp_model *one[] = {allocate(1)}, *two[] = {allocate(1), allocate(2)};
	uint64_t alone_ns = saved(one, 1, "alloc-in-loop", NULL);

	assert_in_range(alone_ns, 19 * MS, 20 * MS);
	assert_int_equal(saved(two, 2, "alloc-in-loop", "40 times"), alone_ns);
}

/*
 * The first call makes the context, say: its block is needed, so that no part of that would be
 * spared.
 */
/*
 * While a thread's kernels keep the GPU busy for 100 ms, another one allocates and frees, 40 times
 * for half a millisecond each: nothing would be faster without.  Where the GPU is idle
 * for 5 ms behind every fifth, what these took would be saved, the last of which ends the work.
 */
static void allocations_while_the_gpu_works_cost_nothing(void **state)
{
	for (int pauses = 0; pauses <= 1; pauses++) {
		struct build b = build_begin(1);
		uint64_t at_ns = MS;

		build_device(&b, 0, "GPU");
		for (uint32_t i = 1; i <= 40; i++) {
			bool pause = pauses && i % 5 == 0;

			build_kernel(&b, at_ns, 7, at_ns + 10 * US, 2 * MS - 10 * US, GP_NONE);
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns + MS, 0x1000, 64);
			b.model->calls[b.model->call_count - 1].start_ns = at_ns + MS / 2;
			b.model->calls[b.model->call_count - 1].duration_ns = MS / 2;
			build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + MS + 100 * US,
				     0x1000, 0);
			at_ns += 2 * MS + (pause ? 5 * MS : 0);
		}
		if (pauses)
			assert_in_range(saved_of(&b, "alloc-in-loop", "40 times"), 3 * MS,
					4 * MS + 100 * US);
		else
			assert_int_equal(saved_of(&b, "alloc-in-loop", NULL), 0);
	}
}

/*
 * The GPU is busy during most of an allocation, idle for 100 us of it, and busy when the thread then
 * waits for it: without the allocation that wait is longer.  The idle time after it is not due to the
 * allocation.
 */
static void a_wait_ends_what_an_allocation_costs(void **state)
{
	for (int waits = 0; waits <= 1; waits++) {
		struct build b = build_begin(1);

		build_device(&b, 0, "GPU");
		for (uint32_t i = 1; i <= 40; i++) {
			uint64_t at_ns = i * 2 * MS;

			build_kernel(&b, at_ns, 7, at_ns + 10 * US, 290 * US, GP_NONE);
			build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns + 400 * US,
				     0x1000, 64);
			b.model->calls[b.model->call_count - 1].start_ns = at_ns + 20 * US;
			b.model->calls[b.model->call_count - 1].duration_ns = 380 * US;
			build_kernel(&b, at_ns + 400 * US, 7, at_ns + 400 * US, 200 * US, GP_NONE);
			if (waits)
				build_call(&b, THREAD, BUILD_DEVICE_SYNC, at_ns + 410 * US,
					   200 * US, 0);
			build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + 900 * US, 0x1000,
				     0);
		}
		assert_in_range(saved_of(&b, "alloc-in-loop", "40 times"),
				39 * (waits ? 100 : 380) * US, 39 * (waits ? 101 : 381) * US);
	}
}

static void the_first_allocation_is_not_spared(void **state)
{
	struct gp_model *usual = allocate(1), *slow = allocate(1);

	slow->calls[0].start_ns -= MS;
	slow->calls[0].duration_ns += MS;
	assert_int_equal(saved(&slow, 1, "alloc-in-loop", "1 block is in use"),
			 saved(&usual, 1, "alloc-in-loop", "their frees take 19.5"));
}

/*
 * Two devices by turns: what is allocated on one is free before the other has its block, and no
 * block is in use on both.
 */
static void devices_allocate_by_turns(void **state)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * 2 * MS;
		struct gp_memory_event *event = build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE,
							     at_ns, 0x1000 * (1 + i % 2), 64);

		event->device_id = i % 2;
		b.model->calls[b.model->call_count - 1].start_ns = at_ns - MS / 2;
		b.model->calls[b.model->call_count - 1].duration_ns = MS / 2;
		build_kernel(&b, at_ns, 7, at_ns + 10 * US, MS, GP_NONE);
		build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + MS + 100 * US,
			     0x1000 * (1 + i % 2), 0);
	}
	assert_in_range(
		saved_of(&b, "alloc-in-loop", "allocated 40 times, but only 1 block is in use"),
		19 * MS, 20 * MS);
}

/* What leaks is to be freed, and not one of the blocks to be kept. */
static void blocks_leak_between_those_that_are_freed(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;
	uint32_t line;

	build_device(&b, 0, "GPU");
	line = build_python(&b, BUILD_OUTERMOST, "a.py", "load", 7);
	build_stacks_end(&b);
	for (uint32_t i = 1; i <= 60; i++) {
		uint64_t at_ns = i * 2 * MS, address = 0x1000 * i;

		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_DEVICE, at_ns, address, 64);
		b.model->calls[b.model->call_count - 1].duration_ns = MS / 2;
		build_stack_of_last(&b, line);
		build_kernel(&b, at_ns, 7, at_ns + 10 * US, MS, GP_NONE);
		if (i % 3 > 0)
			build_memory(&b, GP_MEMORY_FREE, GP_MEMORY_DEVICE, at_ns + MS, address, 0);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "alloc-in-loop");
	assert_non_null(found);
	assert_non_null(strstr(
		found->found,
		"allocated 60 times, but only 1 block is in use at the same time, besides 20 never freed; "));
	assert_non_null(
		strstr(found->change, "free the leaked blocks first; allocate the block before"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Eight threads wait for the same kernel, each time; what the GPU waits then is there once. */
static void threads_wait_at_the_same_time(void **state)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * 4 * MS;

		build_kernel(&b, at_ns, 7, at_ns + 10 * US, MS, GP_NONE);
		for (uint32_t thread = 0; thread < 8; thread++)
			build_call(&b, THREAD + thread, BUILD_DEVICE_SYNC, at_ns + 8 * US,
				   MS + 4 * US, 0);
	}
	assert_in_range(saved_of(&b, "sync-in-loop", NULL), 39 * MS, 39 * 3 * MS);
}

/* ---- the GPU worked meanwhile ---- */

/*
 * From 10 to 110 ms, within a call of that class, if any, from 5 to 130 ms; after a kernel of 2 ms
 * and so long.
 */
static uint64_t compile(uint64_t kernel_ns, enum gp_api_class class, const char *words)
{
	struct build b = build_begin(1);
	uint32_t index;

	build_device(&b, 0, "GPU");
	build_kernel(&b, MS, 7, 2 * MS, kernel_ns, GP_NONE);
	build_kernel(&b, 150 * MS, 7, 150 * MS, MS, GP_NONE);
	index = BUILD_GROW(&b, jits, jit_count);
	b.model->jits[index] =
		(struct gp_record_jit){.start_ns = 10 * MS, .end_ns = 110 * MS, .op_kind = 3};
	if (class != GP_API_OTHER) {
		build_api(&b, 99, "cuSomething", class);
		build_call(&b, THREAD, 99, 5 * MS, 125 * MS, 0);
	}
	return saved_of(&b, "jit-compile", words);
}

static void the_gpu_works_while_the_driver_compiles(void **state)
{
	assert_int_equal(compile(MS, GP_API_OTHER, "1 time, for 100.0ms in all"), 100 * MS);
	assert_int_equal(compile(140 * MS, GP_API_OTHER, NULL), 0);
}

/*
 * It keeps the code in its cache, and loads it: without the compilation that would not be there
 * either.
 */
static void what_the_call_does_besides_compiling_counts(void **state)
{
	static const char words[] = "for 100.0ms in all, in calls that took 125.0ms";

	assert_int_equal(compile(MS, GP_API_MODULE, words), 125 * MS);
	assert_int_equal(compile(18 * MS, GP_API_LAUNCH, words), 110 * MS);
	assert_int_equal(compile(MS, GP_API_SYNC, NULL), 100 * MS);
}

/* ---- launches ---- */

/*
 * From one launch to the next the host does something for so long; the GPU has 100 us to wait then.
 */
static uint64_t launch(uint64_t host_ns)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 300; i++) {
		uint64_t at_ns = i * (5 * US + host_ns);

		build_kernel(&b, at_ns, 7, at_ns + 6 * US, host_ns - 95 * US, GP_NONE);
	}
	return saved_of(&b, "short-kernels", NULL);
}

static void the_host_computes_between_launches(void **state)
{
	assert_in_range(launch(120 * US), 250 * 90 * US, 300 * 100 * US);
	assert_int_equal(launch(500 * US), 0);
}

/* ---- what helps ---- */

/* Memory of that kind, in a loop. */
static void check_change(enum gp_memory_kind kind, const char *words, const char *not_these)
{
	struct gp_model *model = allocate(1);
	struct gp_advice advice;
	const struct gp_finding *found;

	for (uint32_t i = 0; i < model->memory_count; i++)
		model->memory[i].memory_kind = (uint8_t)kind;
	advice = ask(&model, 1);
	found = find(&advice, "alloc-in-loop");
	assert_non_null(found);
	assert_non_null(strstr(found->change, words));
	assert_null(strstr(found->change, not_these));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* The host's memory comes from no pool, and what does is told something else. */
static void a_pool_helps_only_a_devices_memory(void **state)
{
	check_change(GP_MEMORY_DEVICE, "cudaMallocAsync", "ReleaseThreshold");
	check_change(GP_MEMORY_ASYNC, "ReleaseThreshold", "cudaMallocAsync");
	check_change(GP_MEMORY_PINNED, "before the loop", "pool");
}

/* ---- copies ---- */

#define COPIES 40u
#define BYTES  (4u << 20)

/*
 * Copies of 4 MiB from so much page-locked memory, with a kernel after each or without; filler: a
 * thread with a range between, or 0.
 */
static uint64_t copy(uint64_t locked_bytes, bool launches, uint32_t filler)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 100, 0x1000, locked_bytes);
	for (uint32_t i = 1; i <= COPIES; i++) {
		uint64_t at_ns = i * MS;
		uint32_t id = b.model->call_count + 1;
		struct gp_op *op;

		build_call(&b, THREAD, BUILD_MEMCPY_ASYNC, at_ns, 999 * US, id);
		op = build_op(&b, GP_OP_COPY, 7, at_ns, at_ns + 80 * US, id);
		op->copy_kind = GP_COPY_HTOD;
		op->source_kind = GP_COPY_PINNED;
		op->bytes = BYTES;
		if (launches)
			build_kernel(&b, at_ns + 990 * US, 7, at_ns + 100 * US, 800 * US, GP_NONE);
		if (filler != 0)
			build_range(&b, filler, "load", at_ns + 400 * US, at_ns + 900 * US);
	}
	return saved_of(&b, "repeated-copy", NULL);
}

static void pieces_of_a_whole_are_copied(void **state)
{
	assert_true(copy(BYTES, true, 0) > 0);
	assert_int_equal(copy(BYTES, false, 0), 0);
	assert_int_equal(copy((uint64_t)BYTES * COPIES, true, 0), 0);
}

static void another_thread_fills_the_buffers(void **state)
{
	assert_int_equal(copy(BYTES, true, THREAD + 1), 0);
	assert_true(copy(BYTES, true, THREAD) > 0);
}

enum others { NO_LOOKS, AT_WORK, WAITING };

/*
 * The same of pageable memory, and what looks find another thread do: at one line all the time,
 * which writes, or waits.
 */
static uint64_t copy_beside(enum others others)
{
	struct build b = build_begin(1);
	uint32_t wait, line, index;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= COPIES; i++) {
		uint64_t at_ns = i * MS;
		uint32_t id = b.model->call_count + 1;
		struct gp_op *op;

		build_call(&b, THREAD, BUILD_MEMCPY_ASYNC, at_ns, 999 * US, id);
		op = build_op(&b, GP_OP_COPY, 7, at_ns, at_ns + 80 * US, id);
		op->copy_kind = GP_COPY_HTOD;
		op->source_kind = GP_COPY_PAGEABLE;
		op->bytes = BYTES;
		build_kernel(&b, at_ns + 990 * US, 7, at_ns + 100 * US, 800 * US, GP_NONE);
	}
	line = build_python(&b, BUILD_OUTERMOST, "/home/me/load.py", "fill", 7);
	wait = build_python(&b, line, "/usr/lib/python3.11/threading.py", "wait", 3);
	if (others != NO_LOOKS) {
		index = BUILD_GROW(&b, samples, sample_count);
		b.model->samples[index] =
			build_sample(THREAD + 1, others == AT_WORK ? line : wait, 0, COPIES);
	}
	build_stacks_end(&b);
	return saved_of(&b, "repeated-copy", NULL);
}

static void another_thread_was_seen_at_work(void **state)
{
	assert_true(copy_beside(NO_LOOKS) > 0);
	assert_true(copy_beside(WAITING) > 0);
	assert_int_equal(copy_beside(AT_WORK), 0);
}

/*
 * By turns copies of 4 MiB, from so much page-locked memory in one piece, and of 8 MiB that take
 * half as long: with room for two of the former they may be a loader's ring, and are told behind
 * the others; of another recorder's trace it is not known how much there is.
 */
static void check_ring(uint64_t locked_bytes, bool doubtful, bool both, const char *words)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *ring;
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	if (locked_bytes > 0)
		build_memory(&b, GP_MEMORY_ALLOC, GP_MEMORY_PINNED, 100, 0x1000, locked_bytes);
	for (uint32_t i = 1; i <= COPIES; i++)
		for (uint32_t k = 0; k < 2; k++) {
			uint64_t takes_ns = k == 0 ? MS : MS / 2;
			uint32_t id = b.model->call_count + 1;
			struct gp_op *op;

			build_call(&b, THREAD, BUILD_MEMCPY_ASYNC, at_ns, takes_ns - US, id);
			op = build_op(&b, GP_OP_COPY, 7, at_ns, at_ns + (k == 0 ? 800u : 400u) * US,
				      id);
			op->copy_kind = GP_COPY_HTOD;
			op->source_kind = GP_COPY_PINNED;
			op->bytes = (k + 1) * BYTES;
			build_kernel(&b, at_ns + takes_ns - 10 * US, 7, at_ns + takes_ns / 2 + US,
				     takes_ns / 4, GP_NONE);
			at_ns += takes_ns;
		}
	model = build_end(&b);
	advice = ask(&model, 1);
	ring = NULL;
	for (uint32_t i = 0; i < advice.count; i++)
		if (strstr(advice.findings[i].found, "copies of 4.000MiB"))
			ring = &advice.findings[i];
	assert_non_null(ring);
	assert_int_equal(ring->is_doubtful, doubtful);
	assert_non_null(strstr(ring->found, words));
	assert_true((strstr(ring->change, "if a data loader fills") != NULL) == doubtful);
	if (both)
		assert_true(ring == &advice.findings[advice.count - 1] && advice.count > 1);
	gp_advice_free(&advice);
	gp_model_free(model);
}

static void what_may_be_a_loaders_ring_is_told_last(void **state)
{
	check_ring(BYTES, false, false, "seem to transfer the same bytes");
	check_ring(
		3 * BYTES, true, true,
		"may transfer the same bytes as before: the thread had no time to write others; another thread may have written them, into alternating buffers: page-locked memory has room for 3");
	check_ring(0, true, false, "this trace does not record page-locked memory");
}

/*
 * In calls of 1 ms of pageable memory, for 300 us of which a kernel runs; the copy is the last 100
 * us.  With the same every time all but the first are spared.
 */
static void what_is_not_copied_holds_nobody_up(void **state)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_api(&b, 31, "cudaMemcpy", GP_API_COPY);
	for (uint32_t i = 0; i <= COPIES; i++) {
		uint64_t at_ns = (2 + 2 * i) * MS;
		struct gp_op *op;

		build_call(&b, THREAD, 31, at_ns, MS, 1000 + i);
		op = build_op(&b, GP_OP_COPY, 7, at_ns + 900 * US, at_ns + MS, 1000 + i);
		op->copy_kind = GP_COPY_HTOD;
		op->source_kind = GP_COPY_PAGEABLE;
		op->bytes = BYTES;
		build_kernel(&b, at_ns + 1950 * US, 7, at_ns + 1960 * US, 340 * US, GP_NONE);
		b.model->calls[b.model->call_count - 1].duration_ns = 45 * US;
		build_call(&b, THREAD, BUILD_DEVICE_SYNC, at_ns + MS, 940 * US, 0);
	}
	assert_int_equal(saved_of(&b, "repeated-copy", NULL), COPIES * 700u * US);
}

/* In pageable memory, for which the host waits. */
static void build_result(struct build *b, uint32_t thread, uint32_t stream_id, uint64_t called_ns,
			 uint64_t start_ns)
{
	uint32_t id = b->model->call_count + 1;
	struct gp_op *op;

	build_call(b, thread, BUILD_MEMCPY_ASYNC, called_ns, start_ns + 10 * US - called_ns, id);
	op = build_op(b, GP_OP_COPY, stream_id, start_ns, start_ns + 5 * US, id);
	op->copy_kind = GP_COPY_DTOH;
	op->source_kind = GP_COPY_DEVICE;
	op->destination_kind = GP_COPY_PAGEABLE;
	op->bytes = 4096;
}

/* Copies wait for kernels of the second device, which the contexts of their calls do not tell. */
static uint64_t copy_on_second(uint64_t first_works_ns, uint64_t second_works_ns)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * 4 * MS;

		build_kernel(&b, at_ns, 7, at_ns + 10 * US, first_works_ns, GP_NONE);
		build_kernel(&b, at_ns, 17, at_ns + 10 * US, MS, GP_NONE);
		b.model->ops[b.model->op_count - 1].device_id = 1;
		build_kernel(&b, at_ns, 18, at_ns + 10 * US, second_works_ns, GP_NONE);
		b.model->ops[b.model->op_count - 1].device_id = 1;
		build_result(&b, THREAD, 17, at_ns + 30 * US, at_ns + 11 * US + MS);
		b.model->ops[b.model->op_count - 1].device_id = 1;
	}
	return saved_of(&b, "hidden-wait", NULL);
}

static void another_device_has_nothing_to_do(void **state)
{
	assert_int_equal(copy_on_second(MS, 3 * MS), 0);
	assert_in_range(copy_on_second(2 * MS, MS), 38 * MS, 39 * MS);
}

/* Eight threads copy what the same kernel made: the GPU waits once for them, 3 ms less 16 us. */
static void threads_copy_at_the_same_time(void **state)
{
	struct build b = build_begin(1);
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * 4 * MS;

		build_kernel(&b, at_ns, 7, at_ns + 10 * US, MS, GP_NONE);
		for (uint32_t thread = 0; thread < 8; thread++)
			build_result(&b, THREAD + thread, 8 + thread, at_ns + 30 * US,
				     at_ns + 11 * US + MS);
	}
	model = build_end(&b);
	advice = ask(&model, 1);
	found = find(&advice, "hidden-wait");
	assert_non_null(found);
	assert_in_range(found->saves_ns, 39 * MS, 39 * 3 * MS);
	assert_in_range(value_of(found, "idle_ns"), 39 * (3 * MS - 16 * US), 39 * 3 * MS);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* ---- the default stream ---- */

/*
 * Kernels of two streams, one of the default stream between them; so many blocks, launched ahead or
 * when the one before is done.
 */
static struct gp_model *take_turns(uint32_t blocks, bool ahead)
{
	struct build b = build_begin(1);
	uint32_t shape = build_shape(&b, blocks, 256);

	build_device(&b, 0, "GPU");
	build_context_made_by(&b, 1, 7, 0);
	for (uint32_t i = 8; i <= 9; i++)
		b.model->streams[BUILD_GROW(&b, streams, stream_count)] =
			(struct gp_record_stream){.id = i, .context_id = 1};
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t at_ns = i * MS;

		build_kernel(&b, ahead ? at_ns - MS / 2 : at_ns - 10 * US, 8 + i % 2, at_ns,
			     900 * US, shape);
		build_kernel(&b, at_ns - 10 * US, 7, at_ns + 901 * US, 10 * US, shape);
	}
	return build_end(&b);
}

static uint64_t saved_by_turns(uint32_t blocks, bool ahead)
{
	struct gp_model *model = take_turns(blocks, ahead);

	return saved(&model, 1, "default-stream", NULL);
}

static void nothing_is_kept_back(void **state)
{
	assert_in_range(saved_by_turns(16, true), 17 * MS, 18 * MS);
	assert_int_equal(saved_by_turns(16, false), 0);
	assert_int_equal(saved_by_turns(132 * 32, true), 0);
}

/* What waits for what by events is not in the trace. */
static void events_may_order_them(void **state)
{
	struct gp_model *model = take_turns(16, true);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "default-stream");

	assert_non_null(found);
	assert_true(strncmp(found->change, "unless events order them", 24) == 0);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* ---- ranks ---- */

static uint64_t compare_ranks(const char *kernel, const char *words)
{
	struct gp_model *models[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct build b = build_begin(i + 1);
		uint32_t name = build_name(&b, kernel);

		build_info(&b, GP_INFO_RANK, i ? "1" : "0");
		build_device(&b, (uint16_t)i, "GPU");
		build_kernel(&b, MS, 7, 2 * MS, (10 + i * 50) * MS, GP_NONE);
		build_kernel(&b, 62 * MS, 8, 70 * MS, MS, GP_NONE);
		b.model->ops[b.model->op_count - 1].name = name;
		models[i] = build_end(&b);
	}
	return saved(models, 2, "rank-imbalance", words);
}

static void ranks_that_do_not_communicate(void **state)
{
	assert_int_equal(compare_ranks("ncclDevKernel_AllReduce", "in each collective operation"),
			 25 * MS);
	assert_int_equal(compare_ranks("mine", "wherever ranks wait for each other"), 25 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_allocate_at_the_same_time),
		cmocka_unit_test(what_is_nothing_of_the_run_is_not_told),
		cmocka_unit_test(allocations_while_the_gpu_works_cost_nothing),
		cmocka_unit_test(a_wait_ends_what_an_allocation_costs),
		cmocka_unit_test(the_first_allocation_is_not_spared),
		cmocka_unit_test(devices_allocate_by_turns),
		cmocka_unit_test(blocks_leak_between_those_that_are_freed),
		cmocka_unit_test(threads_wait_at_the_same_time),
		cmocka_unit_test(the_gpu_works_while_the_driver_compiles),
		cmocka_unit_test(what_the_call_does_besides_compiling_counts),
		cmocka_unit_test(the_host_computes_between_launches),
		cmocka_unit_test(a_pool_helps_only_a_devices_memory),
		cmocka_unit_test(pieces_of_a_whole_are_copied),
		cmocka_unit_test(another_thread_fills_the_buffers),
		cmocka_unit_test(another_thread_was_seen_at_work),
		cmocka_unit_test(what_may_be_a_loaders_ring_is_told_last),
		cmocka_unit_test(what_is_not_copied_holds_nobody_up),
		cmocka_unit_test(another_device_has_nothing_to_do),
		cmocka_unit_test(threads_copy_at_the_same_time),
		cmocka_unit_test(nothing_is_kept_back),
		cmocka_unit_test(events_may_order_them),
		cmocka_unit_test(ranks_that_do_not_communicate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
